"""Feeds in PostgreSQL, as ingestion sees them: which are due, and what their crawls came to."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, bindparam, delete, exists, func, or_, select, text, union, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, DateTime, Integer, Text

from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import NotFoundError
from pressbox.core.logs import get_logger
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl, ParsedFeed, Validators
from pressbox.curator.ingest.contracts import FeedPage, ProbedFeed
from pressbox.curator.ingest.domain import CrawlRhythm, find_new_address, is_secure_spelling, plan_next_crawl
from pressbox.curator.ingest.entry_writer import (
    Edits,
    WrittenEntries,
    create_successor,
    find_changes,
    move_readers,
    write_entries,
)
from pressbox.curator.ingest.ports import Comparer
from pressbox.curator.library.domain import (
    ENTRY_CHANGED,
    FEED_CHANGED,
    CrawlOutcome,
    CuratorPolicy,
    DistilState,
    FetchState,
)
from pressbox.curator.library.leases import Lease
from pressbox.curator.library.rows import EntryRow, FeedErrorRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.library.store import mark_backlog_read
from pressbox.curator.library.urls import site_name
from pressbox.curator.text.plain_text import make_storable

log = get_logger(__name__)

ERRORS_KEPT = 50
_PROBLEMS_SHOWN = 3
_LONGEST_REASON = 500
# A crawl that stored something newer meanwhile keeps its validators.
_STORE_UNCHANGED = text("""
    UPDATE curator.feed_state AS s SET
        last_crawl_at = :now, last_success_at = :now, outcome = :outcome, failures = 0, reason = '',
        last_read_at = CASE WHEN n.status = 304 THEN s.last_read_at ELSE :now END,
        status = n.status, next_crawl_at = n.next_crawl_at, interval_seconds = n.interval_seconds,
        etag = CASE WHEN n.etag <> '' AND s.content_hash = n.asked_hash THEN n.etag ELSE s.etag END,
        last_modified = CASE
            WHEN n.last_modified <> '' AND s.content_hash = n.asked_hash THEN n.last_modified ELSE s.last_modified
        END
    FROM unnest(:ids, :statuses, :nexts, :intervals, :etags, :modified, :hashes)
        AS n (feed_id, status, next_crawl_at, interval_seconds, etag, last_modified, asked_hash)
    WHERE s.feed_id = n.feed_id
""").bindparams(
    bindparam("ids", type_=ARRAY(BigInteger)),
    bindparam("statuses", type_=ARRAY(Integer)),
    bindparam("nexts", type_=ARRAY(DateTime(timezone=True))),
    bindparam("intervals", type_=ARRAY(Integer)),
    bindparam("etags", type_=ARRAY(Text)),
    bindparam("modified", type_=ARRAY(Text)),
    bindparam("hashes", type_=ARRAY(Text)),
)


class SqlFeeds:
    def __init__(self, database: Database, comparer: Comparer) -> None:
        self._database = database
        self._comparer = comparer

    async def list_due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        wanted = _is_crawlable(due_at, only_due)
        page = select(FeedRow.id).outerjoin(FeedStateRow).where(wanted, FeedRow.id > after_feed_id)
        counted = select(func.count()).select_from(FeedRow).outerjoin(FeedStateRow).where(wanted)
        async with self._database.unit_of_work() as work:
            ids = (await work.session.scalars(page.order_by(FeedRow.id).limit(limit + 1))).all()
            total = (await work.session.scalar(counted) or 0) if after_feed_id == 0 else 0
        return FeedPage(feed_ids=tuple(ids[:limit]), total=total, more=len(ids) > limit)

    async def load_to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]:
        statement = select(
            FeedRow.id,
            FeedRow.url,
            FeedRow.interval_seconds,
            FeedRow.entry_limit,
            FeedStateRow.etag,
            FeedStateRow.last_modified,
            FeedStateRow.content_hash,
            FeedStateRow.last_read_at,
        )
        statement = statement.outerjoin(FeedStateRow).where(FeedRow.id.in_(feed_ids)).order_by(FeedRow.id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).tuples().all()
        return [
            FeedToCrawl(
                feed_id=feed_id,
                url=url,
                validators=Validators(etag or "", last_modified or "", content_hash or ""),
                last_read_at=last_read_at,
                interval=None if seconds is None else timedelta(seconds=seconds),
                entry_limit=entry_limit,
            )
            for feed_id, url, seconds, entry_limit, etag, last_modified, content_hash, last_read_at in rows
        ]

    async def store_crawl(
        self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime, lease: Lease | None = None
    ) -> ProbedFeed:
        moved_to = "" if crawl.outcome.failed else find_new_address(feed.url, crawl.moved_to or "")
        edits = await self._find_edits(feed, crawl, policy)
        async with self._database.unit_of_work() as work:
            row, other = await _lock_feeds(work.session, feed.feed_id, moved_to)
            if row is None or (lease is not None and row.lease_owner != lease.owner):
                # The last subscriber left while it was read, or somebody else has taken it over.
                return ProbedFeed(feed_id=feed.feed_id, outcome=crawl.outcome)
            if other is not None:
                await move_readers(work, row, other, now)
                return ProbedFeed(feed_id=other.id, outcome=crawl.outcome)
            if moved_to and is_secure_spelling(row.url, moved_to):
                row.url = moved_to
            elif moved_to and crawl.parsed is not None:
                successor = await create_successor(work.session, row, moved_to)
                stored = await _store_crawl(work, successor, feed, crawl, policy, now, {})
                await work.session.flush()
                await move_readers(work, row, successor, now)
                return stored
            stored = await _store_crawl(work, row, feed, crawl, policy, now, edits)
            if moved_to and row.url != moved_to:
                # It moves with its first entries in hand, so it is asked for all of them.
                await _forget_validators(work.session, row.id, now)
            return stored

    async def _find_edits(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy) -> Edits:
        """Compare texts before the transaction, so that no lock and no connection waits for it."""
        if crawl.outcome is not CrawlOutcome.NEW or crawl.parsed is None:
            return {}
        limit = feed.entry_limit or policy.entries_per_crawl
        async with self._database.unit_of_work() as work:
            changes = await find_changes(work.session, feed.feed_id, crawl.parsed.entries, limit)
        if not changes:
            return {}
        return dict(zip(changes, await self._comparer.compare(tuple(changes.values())), strict=True))

    async def store_unchanged(
        self,
        crawls: Sequence[tuple[FeedToCrawl, Crawl]],
        policy: CuratorPolicy,
        now: datetime,
        lease: Lease | None = None,
    ) -> None:
        if crawls:
            async with self._database.unit_of_work() as work:
                await _store_unchanged(work, crawls, policy, now, lease)

    async def find_with_work(self, feed_ids: Sequence[int], now: datetime, *, distil: bool = True) -> Sequence[int]:
        kinds = [_waits_for_fetch(now)]
        if distil:
            readable = EntryRow.fetch_state != FetchState.WAITING
            kinds.append(and_(EntryRow.distil_state == DistilState.WAITING, readable))
        # One query for each kind of work, since each has its own partial index.
        parts = [select(EntryRow.feed_id).where(EntryRow.feed_id.in_(feed_ids), kind) for kind in kinds]
        async with self._database.unit_of_work() as work:
            return sorted(await work.session.scalars(union(*parts)))

    async def find_leftovers(self, without: Sequence[int], limit: int, now: datetime) -> Sequence[int]:
        statement = (
            select(EntryRow.feed_id)
            .distinct()
            .join(FeedRow, and_(FeedRow.id == EntryRow.feed_id, FeedRow.paused_at.is_(None)))
            .where(_waits_for_fetch(now), EntryRow.feed_id.not_in(without))
            .order_by(EntryRow.feed_id)
            .limit(limit)
        )
        async with self._database.unit_of_work() as work:
            return (await work.session.scalars(statement)).all()

    async def load_name(self, feed_id: int) -> str:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(FeedRow, feed_id)
        if row is None:
            raise NotFoundError(f"There is no feed {feed_id}. `pressbox feeds list` shows all.", feed_id=feed_id)
        return row.title or site_name(row.url)


def _is_crawlable(due_at: datetime, only_due: bool) -> ColumnElement[bool]:
    subscribed = exists().where(SubscriptionRow.feed_id == FeedRow.id)
    # Without a state the feed was never crawled. A feed that is gone has no next time until somebody makes it due.
    # Who asks for all feeds does not ask for those whose sites want to be left alone for now.
    wanted = and_(FeedStateRow.next_crawl_at.is_not(None), ~_asked_for_a_pause())
    due = FeedStateRow.next_crawl_at <= due_at if only_due else or_(FeedStateRow.next_crawl_at <= due_at, wanted)
    return and_(FeedRow.paused_at.is_(None), or_(FeedStateRow.feed_id.is_(None), due), subscribed)


def _asked_for_a_pause() -> ColumnElement[bool]:
    return or_(FeedStateRow.outcome == CrawlOutcome.RATE_LIMITED, func.coalesce(FeedStateRow.status, 0) == 503)


def _waits_for_fetch(now: datetime) -> ColumnElement[bool]:
    due = or_(EntryRow.next_fetch_at.is_(None), EntryRow.next_fetch_at <= now)
    return and_(EntryRow.fetch_state == FetchState.WAITING, due)


async def _lock_feeds(session: AsyncSession, feed_id: int, address: str) -> tuple[FeedRow | None, FeedRow | None]:
    """Lock out another crawl of the same feed, and new subscribers whose count would miss the new entries.

    The second one is the feed that has this address already. Both are locked in the order of their ids, because two
    feeds may move to each other.
    """
    wanted = or_(FeedRow.id == feed_id, FeedRow.url == address) if address else FeedRow.id == feed_id
    rows = (await session.scalars(select(FeedRow).where(wanted).order_by(FeedRow.id).with_for_update())).all()
    row = next((row for row in rows if row.id == feed_id), None)
    return row, next((row for row in rows if row.id != feed_id), None)


async def _forget_validators(session: AsyncSession, feed_id: int, now: datetime) -> None:
    forgotten = update(FeedStateRow).where(FeedStateRow.feed_id == feed_id)
    await session.execute(forgotten.values(etag="", last_modified="", content_hash="", next_crawl_at=now))


async def _store_crawl(
    work: UnitOfWork, row: FeedRow, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime, edits: Edits
) -> ProbedFeed:
    state = await work.session.get(FeedStateRow, row.id)
    if state is None:
        state = FeedStateRow(feed_id=row.id, interval_seconds=3600, failures=0, outcome="")
        work.session.add(state)
    if crawl.postponed:
        state.next_crawl_at = crawl.not_before
        return ProbedFeed(feed_id=row.id, outcome=crawl.outcome)
    wanted = None if row.interval_seconds is None else timedelta(seconds=row.interval_seconds)
    known = CrawlRhythm(
        row.id, timedelta(seconds=state.interval_seconds), wanted, state.failures, last_new_at=state.last_new_at
    )
    written = WrittenEntries()
    if crawl.outcome is CrawlOutcome.NEW and crawl.parsed is not None:
        _update_description(row, crawl.parsed)
        limit = row.entry_limit or policy.entries_per_crawl
        first = state.last_success_at is None
        full_texts = policy.unread_at_start if first else limit
        written = await write_entries(work.session, row, crawl.parsed.entries, limit, now, full_texts, edits)
        if first:
            state.first_read_at = now
            await mark_backlog_read(work.session, [row.id], policy.unread_at_start)
    _record_crawl(state, feed, crawl, written, now)
    if not crawl.outcome.failed:
        row.moved_to_id = None
    plan = plan_next_crawl(known, crawl, policy, now)
    state.next_crawl_at = plan.at
    state.interval_seconds = max(1, round(plan.interval.total_seconds()))
    if crawl.outcome.failed:
        await _record_error(work.session, row.id, crawl, now)
        log.info("feed_failed", msg=f"Feed not read: {crawl.reason}", feed_id=row.id, outcome=crawl.outcome)
    _announce(work, row.id, written)
    return ProbedFeed(feed_id=row.id, outcome=crawl.outcome, created=written.created, updated=len(written.updated))


def _update_description(row: FeedRow, parsed: ParsedFeed) -> None:
    """Update what the feed says of itself, and keep what it no longer says."""
    row.title = make_storable(parsed.title) or row.title
    row.site_url = make_storable(parsed.site_url) or row.site_url
    row.description = make_storable(parsed.description) or row.description
    row.language = make_storable(parsed.language) or row.language
    row.icon_url = make_storable(parsed.icon_url) or row.icon_url


def _record_crawl(state: FeedStateRow, feed: FeedToCrawl, crawl: Crawl, written: WrittenEntries, now: datetime) -> None:
    state.last_crawl_at = now
    state.outcome = crawl.outcome
    state.status = crawl.status
    state.reason = make_storable(crawl.reason)[:_LONGEST_REASON]
    if crawl.outcome.failed:
        state.failures += 1
        return
    state.failures = 0
    state.last_success_at = now
    if crawl.parsed is not None and crawl.parsed.problems:
        state.reason = make_storable(" ".join(crawl.parsed.problems[:_PROBLEMS_SHOWN]))[:_LONGEST_REASON]
    if crawl.status != 304:
        state.last_read_at = now
    if written.created:
        state.last_new_at = now
    asked, answered = feed.validators, crawl.validators
    if written.postponed:
        # Otherwise the site would say "not modified" for ever, and what waits would never be seen again.
        state.etag, state.last_modified, state.content_hash = "", "", ""
    elif crawl.outcome is CrawlOutcome.NEW:
        state.etag, state.last_modified = make_storable(answered.etag), make_storable(answered.last_modified)
        state.content_hash = answered.content_hash
    elif state.content_hash == asked.content_hash:
        # The same content under new validators. A 304 need not repeat them, so empty ones change nothing.
        state.etag = make_storable(answered.etag) or state.etag
        state.last_modified = make_storable(answered.last_modified) or state.last_modified


async def _record_error(session: AsyncSession, feed_id: int, crawl: Crawl, now: datetime) -> None:
    reason = make_storable(crawl.reason)[:_LONGEST_REASON]
    session.add(FeedErrorRow(feed_id=feed_id, at=now, outcome=crawl.outcome, status=crawl.status, reason=reason))
    await session.flush()
    newest = select(FeedErrorRow.id).where(FeedErrorRow.feed_id == feed_id)
    newest = newest.order_by(FeedErrorRow.at.desc(), FeedErrorRow.id.desc()).limit(ERRORS_KEPT)
    await session.execute(
        delete(FeedErrorRow)
        .where(FeedErrorRow.feed_id == feed_id, FeedErrorRow.id.not_in(newest))
        .execution_options(synchronize_session=False)
    )


def _announce(work: UnitOfWork, feed_id: int, written: WrittenEntries) -> None:
    work.changed(FEED_CHANGED, str(feed_id))
    for entry_id in written.updated:
        work.changed(ENTRY_CHANGED, str(entry_id))


async def _store_unchanged(
    work: UnitOfWork,
    crawls: Sequence[tuple[FeedToCrawl, Crawl]],
    policy: CuratorPolicy,
    now: datetime,
    lease: Lease | None,
) -> None:
    known = await _load_rhythms(work, [feed.feed_id for feed, _ in crawls], lease)
    present = [(feed, crawl) for feed, crawl in crawls if feed.feed_id in known]
    if not present:
        return
    plans = [plan_next_crawl(known[feed.feed_id], crawl, policy, now) for feed, crawl in present]
    values = {
        "now": now,
        "outcome": CrawlOutcome.UNCHANGED.value,
        "ids": [feed.feed_id for feed, _ in present],
        "statuses": [crawl.status for _, crawl in present],
        "nexts": [plan.at for plan in plans],
        "intervals": [max(1, round(plan.interval.total_seconds())) for plan in plans],
        "etags": [make_storable(crawl.validators.etag) for _, crawl in present],
        "modified": [make_storable(crawl.validators.last_modified) for _, crawl in present],
        "hashes": [feed.validators.content_hash for feed, _ in present],
    }
    await work.session.execute(_STORE_UNCHANGED, values)
    for feed, _ in present:
        # Pages only change when a failing feed recovers.
        if known[feed.feed_id].failures:
            work.changed(FEED_CHANGED, str(feed.feed_id))


async def _load_rhythms(work: UnitOfWork, feed_ids: Sequence[int], lease: Lease | None) -> dict[int, CrawlRhythm]:
    statement = (
        select(
            FeedStateRow.feed_id,
            FeedStateRow.interval_seconds,
            FeedRow.interval_seconds,
            FeedStateRow.failures,
            FeedStateRow.last_new_at,
        )
        .join(FeedRow)
        .where(FeedStateRow.feed_id.in_(feed_ids))
        .order_by(FeedStateRow.feed_id)
        .with_for_update(of=FeedStateRow)
    )
    if lease is not None:
        statement = statement.where(FeedRow.lease_owner == lease.owner)
    return {
        feed_id: CrawlRhythm(
            feed_id,
            timedelta(seconds=interval),
            None if wanted is None else timedelta(seconds=wanted),
            failures,
            last_new_at,
        )
        for feed_id, interval, wanted, failures, last_new_at in (await work.session.execute(statement)).tuples()
    }
