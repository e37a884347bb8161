"""Entries that wait for their full text, in PostgreSQL."""

from datetime import datetime

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import UnitOfWork
from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.ingest.contracts import EntriesToFetch, EntryToFetch
from pressbox.curator.ingest.domain import is_video
from pressbox.curator.ingest.ports import EntrySource
from pressbox.curator.library.domain import (
    ENTRY_CHANGED,
    FEED_CHANGED,
    CuratorPolicy,
    DistilState,
    FetchState,
    content_hash,
    load_rules,
)
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, FeedRow, FeedStateRow
from pressbox.curator.library.store import SqlStore, refresh_shown_hash
from pressbox.curator.library.urls import host_of, site_name
from pressbox.curator.text.plain_text import count_words, make_storable

_LONGEST_REASON = 500


class SqlFetchStore(SqlStore):
    async def select_to_fetch(self, feed_id: int, policy: CuratorPolicy, now: datetime) -> EntriesToFetch:
        due = or_(EntryRow.next_fetch_at.is_(None), EntryRow.next_fetch_at <= now)
        waiting = (
            select(EntryRow.id, EntryRow.url, EntryRow.title)
            .where(EntryRow.feed_id == feed_id, EntryRow.fetch_state == FetchState.WAITING, due)
            .order_by(EntryRow.published_at.desc(), EntryRow.id.desc())
            .limit(policy.entries_per_fetch + 1)
        )
        async with self._database.unit_of_work() as work:
            feed = await work.session.get(FeedRow, feed_id)
            if feed is None:
                return EntriesToFetch()
            rows = (await work.session.execute(waiting)).tuples().all()
            skipped = await work.session.scalar(_count_skipped(feed_id)) or 0
        entries = tuple(
            EntryToFetch(entry_id=entry_id, domain=host_of(url), title=title)
            for entry_id, url, title in rows[: policy.entries_per_fetch]
        )
        return EntriesToFetch(
            feed_name=feed.title or site_name(feed.url),
            entries=entries,
            skipped=skipped,
            more=len(rows) > policy.entries_per_fetch,
        )

    async def load_source(self, entry_id: int) -> EntrySource | None:
        statement = (
            select(EntryRow, EntryBodyRow.feed_content, FeedRow)
            .join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
            .join(FeedRow, FeedRow.id == EntryRow.feed_id)
            .where(EntryRow.id == entry_id)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().one_or_none()
        if found is None:
            return None
        entry, feed_html, feed = found
        files = {enclosure["url"] for enclosure in entry.enclosures}
        return EntrySource(
            entry_id=entry.id,
            feed_id=feed.id,
            url=entry.url,
            feed_html=feed_html,
            rules=load_rules(feed.extraction_rules),
            full_text=feed.full_text and not is_video(entry.url) and entry.url not in files,
            title=entry.title,
            tries=entry.fetch_tries,
        )

    async def save_article(
        self, entry_id: int, article: FetchedArticle, now: datetime, *, from_feed: bool = False
    ) -> bool:
        async with self._database.unit_of_work() as work:
            found = await _lock_entry(work.session, entry_id)
            if found is None:
                return False
            entry, body = found
            changed = put_article(entry, body, article, now, from_feed=from_feed)
            await work.session.flush()
            await refresh_shown_hash(work.session, [entry_id])
            announce(work, entry)
            return changed

    async def record_failure(self, entry_id: int, reason: str, next_try: datetime | None, now: datetime) -> None:
        async with self._database.unit_of_work() as work:
            entry = await work.session.get(EntryRow, entry_id, with_for_update=True)
            if entry is None:
                return
            put_failure(entry, reason, next_try)
            announce(work, entry)


def put_article(
    entry: EntryRow, body: EntryBodyRow, article: FetchedArticle, now: datetime, *, from_feed: bool
) -> bool:
    """Put a text where it belongs; whether it differs from the one before."""
    changed = _apply_article(entry, body, article)
    skipped = from_feed and entry.fetch_state == FetchState.SKIPPED
    if not skipped:
        entry.fetch_state = FetchState.FROM_FEED if from_feed else FetchState.FETCHED
    entry.fetch_tries, entry.fetch_reason, entry.next_fetch_at = 0, "", None
    entry.updated_at = now if changed else entry.updated_at
    return changed


def put_failure(entry: EntryRow, reason: str, next_try: datetime | None) -> None:
    entry.fetch_tries += 1
    entry.fetch_reason = make_storable(reason)[:_LONGEST_REASON]
    entry.next_fetch_at = next_try
    if next_try is not None:
        entry.fetch_state = FetchState.WAITING
        return
    # What was fetched before, or the feed's own text, stays readable.
    entry.fetch_state = FetchState.FAILED
    if not entry.content_hash and entry.distil_state == DistilState.WAITING:
        entry.distil_state = DistilState.NOTHING


def _count_skipped(feed_id: int) -> Select[tuple[int]]:
    """Count skipped entries of the last crawl that brought any."""
    since = select(FeedStateRow.last_new_at).where(FeedStateRow.feed_id == feed_id).scalar_subquery()
    skipped = and_(EntryRow.feed_id == feed_id, EntryRow.fetch_state == FetchState.SKIPPED)
    return select(func.count()).where(skipped, EntryRow.first_seen_at >= since)


async def _lock_entry(session: AsyncSession, entry_id: int) -> tuple[EntryRow, EntryBodyRow] | None:
    statement = select(EntryRow, EntryBodyRow).join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
    found = await session.execute(statement.where(EntryRow.id == entry_id).with_for_update())
    return found.tuples().one_or_none()


def _apply_article(entry: EntryRow, body: EntryBodyRow, article: FetchedArticle) -> bool:
    text = make_storable(article.text)
    body.full_content = make_storable(article.html)
    entry.title = entry.title or make_storable(article.title)
    entry.author = entry.author or make_storable(article.author)
    entry.thumbnail_url = entry.thumbnail_url or make_storable(article.thumbnail_url)
    entry.language = make_storable(article.language) or entry.language
    changed = content_hash(text) != entry.content_hash
    if changed:
        entry.content_hash, entry.words = content_hash(text), count_words(text)
        body.filtered_content, body.content_text = text, ""
        entry.distil_state, entry.distil_reason = DistilState.WAITING, ""
    if not entry.content_hash and entry.distil_state == DistilState.WAITING:
        entry.distil_state = DistilState.NOTHING
    return changed


def announce(work: UnitOfWork, entry: EntryRow) -> None:
    work.changed(ENTRY_CHANGED, str(entry.id))
    work.changed(FEED_CHANGED, str(entry.feed_id))
