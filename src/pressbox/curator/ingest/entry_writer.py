"""Writes the entries of one crawl, inside the transaction that stores the crawl."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import case, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.ingest.domain import (
    Edit,
    compare_texts,
    feed_hash,
    has_page,
    is_due_for_figures,
    shorten_guid,
)
from pressbox.curator.ingest.matching import StoredEntry, all_guids, find_renamed, is_removed, match_entries
from pressbox.curator.library.domain.entries import DistilState, FetchState, content_hash, shown_hash
from pressbox.curator.library.domain.urls import article_address
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, FeedRow, SeenGuidRow, StoryRow
from pressbox.curator.library.store import inherit_read_state, refresh_shown_hash
from pressbox.curator.text.plain_text import count_words, make_storable, to_plain_text

_UNDATED = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class WrittenEntries:
    created: int = 0
    updated: tuple[int, ...] = ()


async def write_entries(
    session: AsyncSession, feed: FeedRow, found: Sequence[FeedEntry], limit: int, now: datetime, full_texts: int
) -> WrittenEntries:
    """Insert new entries and update edited ones, in a few statements; a single read when nothing is new.

    The pages of at most the newest `full_texts` of the new ones are fetched; for the others the feed's words do.
    """
    wanted = _keep_newest(found, limit)
    known = match_entries(wanted, await _load_stored(session, feed.id, wanted))
    changed = {known[guid].id: entry for guid, entry in wanted.items() if _is_edited(known.get(guid), entry)}
    missing = {guid: entry for guid, entry in wanted.items() if guid not in known}
    if missing:
        removed = await _load_removed(session, feed.id, missing)
        missing = {guid: entry for guid, entry in missing.items() if not is_removed(guid, entry, removed)}
    await _rename(session, find_renamed(known, wanted))
    if missing:
        stories = await _upsert_stories(session, feed.id, list(missing.values()), found)
        await _insert(session, feed, missing, stories, now, _keep_newest(list(missing.values()), full_texts))
    if changed:
        await _update(session, feed, changed, now)
    return WrittenEntries(len(missing), tuple(changed))


def _keep_newest(found: Sequence[FeedEntry], limit: int) -> dict[str, FeedEntry]:
    """Return the newest entries by guid. Of two with the same guid always the first counts, so that none flickers."""
    wanted: dict[str, FeedEntry] = {}
    for entry in found:
        wanted.setdefault(shorten_guid(entry.guid), entry)
    if len(wanted) <= limit:
        return wanted
    dated = sorted(wanted.items(), key=lambda item: item[1].published_at or _UNDATED, reverse=True)
    return dict(dated[:limit])


async def _load_stored(
    session: AsyncSession, feed_id: int, wanted: Mapping[str, FeedEntry]
) -> Mapping[str, StoredEntry]:
    guids = {name for guid, entry in wanted.items() for name in all_guids(guid, entry)}
    if not guids:
        return {}
    published = case((EntryRow.dated, EntryRow.published_at))
    statement = select(EntryRow.id, EntryRow.guid, EntryRow.url, EntryRow.title, EntryRow.feed_hash, published)
    rows = await session.execute(statement.where(EntryRow.feed_id == feed_id, EntryRow.guid.in_(guids)))
    return {row.guid: row for row in (StoredEntry(*values) for values in rows.tuples())}


def _is_edited(known: StoredEntry | None, entry: FeedEntry) -> bool:
    return known is not None and known.feed_hash != feed_hash(entry)


async def _load_removed(
    session: AsyncSession, feed_id: int, missing: Mapping[str, FeedEntry]
) -> Mapping[str, datetime]:
    guids = {name for guid, entry in missing.items() for name in all_guids(guid, entry)}
    statement = select(SeenGuidRow.guid, SeenGuidRow.removed_at)
    rows = await session.execute(statement.where(SeenGuidRow.feed_id == feed_id, SeenGuidRow.guid.in_(guids)))
    return dict(rows.tuples().all())


async def _rename(session: AsyncSession, guids: Mapping[int, str]) -> None:
    for entry_id, guid in guids.items():
        await session.execute(update(EntryRow).where(EntryRow.id == entry_id).values(guid=guid))


async def _insert(
    session: AsyncSession,
    feed: FeedRow,
    entries: dict[str, FeedEntry],
    stories: Mapping[str, int],
    now: datetime,
    fetched: Mapping[str, FeedEntry],
) -> None:
    texts = {guid: to_plain_text(_feed_html(entry)) for guid, entry in entries.items()}
    values = []
    for guid, entry in _order_by_age(entries, now):
        row = _entry_values(entry) | _initial_state(entry, texts[guid], full_text=feed.full_text and guid in fetched)
        address = str(row["canonical_url"])
        summary, feed_content = "", _feed_html(entry)
        row |= {
            "feed_id": feed.id,
            "guid": guid,
            "story_id": stories.get(address),
            # A date in the future would keep an announcement on top until its day.
            "published_at": min(entry.published_at or now, now),
            "dated": entry.published_at is not None,
            "first_seen_at": now,
            "updated_at": now,
            "shown_hash": shown_hash(str(row["title"]), str(row["author"]), summary, texts[guid], feed_content),
        }
        values.append(row)
    inserted = await session.execute(insert(EntryRow).returning(EntryRow.guid, EntryRow.id), values)
    ids = dict(inserted.tuples().all())
    bodies = [
        {"entry_id": ids[guid], "feed_content": _feed_html(entry), "filtered_content": texts[guid]}
        for guid, entry in entries.items()
    ]
    await session.execute(insert(EntryBodyRow), bodies)
    await inherit_read_state(session, EntryRow.id.in_(ids.values()))


def _order_by_age(entries: dict[str, FeedEntry], now: datetime) -> list[tuple[str, FeedEntry]]:
    """Oldest first, as reader apps take the highest id for the newest. Feeds without dates begin with the newest."""
    return sorted(reversed(entries.items()), key=lambda item: item[1].published_at or now)


def _entry_values(entry: FeedEntry) -> dict[str, object]:
    return {
        "url": make_storable(entry.url),
        "canonical_url": make_storable(article_address(entry.url)),
        "title": make_storable(entry.title),
        "author": make_storable(entry.author),
        "language": make_storable(entry.language),
        "thumbnail_url": make_storable(entry.thumbnail_url),
        "enclosures": [
            {"url": make_storable(enclosure.url), "type": make_storable(enclosure.type), "length": enclosure.length}
            for enclosure in entry.enclosures
        ],
        "feed_hash": feed_hash(entry),
    }


def _feed_html(entry: FeedEntry) -> str:
    return make_storable(entry.content or entry.summary)


def _initial_state(entry: FeedEntry, text: str, *, full_text: bool) -> dict[str, object]:
    """The states of a new entry, with the feed's own text until there is a better one."""
    if full_text and has_page(entry):
        fetch, distil = FetchState.WAITING, DistilState.WAITING
    else:
        skipped = not has_page(entry) and bool(entry.url or entry.enclosures)
        fetch = FetchState.SKIPPED if skipped else FetchState.FROM_FEED
        distil = DistilState.WAITING if text else DistilState.NOTHING
    return {
        "fetch_state": fetch,
        "fetch_tries": 0,
        "fetch_reason": "",
        "next_fetch_at": None,
        "distil_state": distil,
        "distil_reason": "",
        "content_hash": content_hash(text),
        "words": count_words(text),
    }


async def _upsert_stories(
    session: AsyncSession, feed_id: int, new: Sequence[FeedEntry], found: Sequence[FeedEntry]
) -> dict[str, int]:
    """Return the stories by address. An address that several entries of one feed share names no article."""
    titles = {make_storable(article_address(entry.url)): make_storable(entry.title) for entry in new}
    times = Counter(make_storable(article_address(entry.url)) for entry in found)
    stored = select(EntryRow.canonical_url, EntryRow.title)
    stored = stored.where(EntryRow.feed_id == feed_id, EntryRow.canonical_url.in_(titles.keys() - {""}))
    # One with the same title is the same article, published again under another guid.
    others = {address for address, title in (await session.execute(stored)).tuples() if title != titles[address]}
    addresses = sorted(address for address in titles if address and times[address] == 1 and address not in others)
    if not addresses:
        return {}
    statement = insert(StoryRow)
    # An update that changes nothing locks the row until the commit, so that no cleanup deletes it meanwhile.
    statement = statement.on_conflict_do_update(
        index_elements=["canonical_url"], set_={"canonical_url": statement.excluded.canonical_url}
    )
    rows = await session.execute(
        statement.returning(StoryRow.canonical_url, StoryRow.id), [{"canonical_url": address} for address in addresses]
    )
    return dict(rows.tuples().all())


async def _update(session: AsyncSession, feed: FeedRow, changed: dict[int, FeedEntry], now: datetime) -> None:
    statement = select(EntryRow, EntryBodyRow).join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
    rows = await session.execute(statement.where(EntryRow.id.in_(changed)).order_by(EntryRow.id).with_for_update())
    for row, body in rows.tuples():
        _edit(row, body, changed[row.id], now, full_text=feed.full_text)
    await session.flush()
    await refresh_shown_hash(session, list(changed))


def _edit(row: EntryRow, body: EntryBodyRow, entry: FeedEntry, now: datetime, *, full_text: bool) -> None:
    text = to_plain_text(_feed_html(entry))
    edit = compare_texts(f"{row.title}\n{to_plain_text(body.feed_content)}", f"{entry.title}\n{text}")
    if edit is Edit.FIGURES and not is_due_for_figures(row.first_seen_at, row.updated_at, now):
        return
    row.updated_at = now
    values = _entry_values(entry)
    # What the page told meanwhile is better than nothing.
    kept = {name for name in ("author", "language", "thumbnail_url") if not values[name]}
    for name, value in values.items():
        if name not in kept:
            setattr(row, name, value)
    body.feed_content = _feed_html(entry)
    if edit is Edit.NONE:
        return
    state = _initial_state(entry, text, full_text=full_text)
    if row.fetch_state == FetchState.FETCHED and state["fetch_state"] == FetchState.WAITING:
        # The article stays as it is until its page is read again; then its hash decides about the rest.
        state = {name: state[name] for name in ("fetch_state", "fetch_tries", "fetch_reason", "next_fetch_at")}
    elif state["content_hash"] == row.content_hash:
        state = {name: value for name, value in state.items() if not name.startswith("distil_")}
    else:
        body.full_content, body.filtered_content, body.content_text = "", text, ""
    for name, value in state.items():
        setattr(row, name, value)
