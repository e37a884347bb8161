"""Writes what one crawl brought, inside its transaction: its entries, and the move of its readers to a new address.

A redirect is the word of the old site. It sends the readers of that site elsewhere and does nothing to a feed that
other people read: no entry, no state and no validator of the old feed reaches the new one. What the readers kept or
have not read yet stays in the old feed, for them alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import bindparam, case, delete, exists, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger

from pressbox.core.db.database import UnitOfWork
from pressbox.core.logs import get_logger
from pressbox.core.notices.follows import rename_subject
from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.ingest.domain import (
    StoredEntry,
    all_guids,
    feed_hash,
    find_renamed,
    has_page,
    is_removed,
    match_entries,
    shorten_guid,
)
from pressbox.curator.ingest.edits import Change, Edit, Version, is_due_for_figures
from pressbox.curator.library.domain import (
    FEED_CHANGED,
    MOVED,
    PERSON_CHANGED,
    DistilState,
    FetchState,
    content_hash,
    shown_hash,
)
from pressbox.curator.library.rows import (
    EntryBodyRow,
    EntryRow,
    FeedRow,
    FeedStateRow,
    SeenGuidRow,
    StoryRow,
    SubscriptionRow,
)
from pressbox.curator.library.store import abandon_feed, inherit_read_state, kept_by, refresh_shown_hash
from pressbox.curator.library.subjects import FollowedKind
from pressbox.curator.library.urls import article_address, host_of
from pressbox.curator.text.plain_text import count_words, make_storable, to_plain_text

_UNDATED = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class WrittenEntries:
    """With `postponed` some changed too soon after the last time: they have to be looked at again."""

    created: int = 0
    updated: tuple[int, ...] = ()
    postponed: bool = False


# An entry as it was when its texts were compared: its id and its hash.
Edits = Mapping[tuple[int, str], Edit]


async def find_changes(
    session: AsyncSession, feed_id: int, found: Sequence[FeedEntry], limit: int
) -> Mapping[tuple[int, str], Change]:
    """Find the entries that are stored otherwise, with both texts, to be compared before they are written."""
    wanted = _keep_newest(found, limit)
    known = match_entries(wanted, await _load_stored(session, feed_id, wanted))
    changed = {known[guid].id: entry for guid, entry in wanted.items() if _is_edited(known.get(guid), entry)}
    if not changed:
        return {}
    statement = select(EntryRow.id, EntryRow.feed_hash, EntryRow.title, EntryBodyRow.feed_content)
    statement = statement.join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id).where(EntryRow.id.in_(changed))
    return {
        (entry_id, before): Change(
            Version(title, content), Version(make_storable(changed[entry_id].title), _feed_html(changed[entry_id]))
        )
        for entry_id, before, title, content in (await session.execute(statement)).tuples()
    }


async def write_entries(
    session: AsyncSession,
    feed: FeedRow,
    found: Sequence[FeedEntry],
    limit: int,
    now: datetime,
    full_texts: int,
    edits: Edits,
) -> WrittenEntries:
    """Insert new entries and update edited ones, in a few statements; a single read when nothing is new.

    The pages of at most the newest `full_texts` of the new ones are fetched; for the others the feed's words do.
    One whose texts were not compared, as another crawl wrote it meanwhile, counts as edited.
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
    updated = await _update(session, feed, changed, now, edits) if changed else []
    return WrittenEntries(len(missing), tuple(updated), postponed=len(updated) < len(changed))


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
        "host": make_storable(host_of(entry.url)),
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


async def _update(
    session: AsyncSession, feed: FeedRow, changed: dict[int, FeedEntry], now: datetime, edits: Edits
) -> list[int]:
    """Write those that are due, and return them."""
    statement = select(EntryRow, EntryBodyRow).join(EntryBodyRow, EntryBodyRow.entry_id == EntryRow.id)
    rows = await session.execute(statement.where(EntryRow.id.in_(changed)).order_by(EntryRow.id).with_for_update())
    updated: list[int] = []
    for row, body in rows.tuples():
        edit = edits.get((row.id, row.feed_hash), Edit.WORDS)
        if edit is not Edit.FIGURES or is_due_for_figures(row.first_seen_at, row.updated_at, now):
            _edit(row, body, changed[row.id], edit, now, full_text=feed.full_text)
            updated.append(row.id)
    await session.flush()
    await refresh_shown_hash(session, updated)
    return updated


def _edit(row: EntryRow, body: EntryBodyRow, entry: FeedEntry, edit: Edit, now: datetime, *, full_text: bool) -> None:
    text = to_plain_text(_feed_html(entry))
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


log = get_logger(__name__)

_SUBSCRIBE = text("""
    INSERT INTO curator.subscriptions (user_id, feed_id, category_id, title, created_at)
    SELECT user_id, :new, category_id, title, created_at FROM curator.subscriptions WHERE feed_id = :old
    ON CONFLICT DO NOTHING RETURNING user_id
""")
# The same guid with the same text, address and enclosures is the same entry: only then a star or note may change over.
_MOVE_STATES = text("""
    INSERT INTO curator.entry_states AS kept (user_id, entry_id, read_at, starred_at, preference, note)
    SELECT s.user_id, twin.id, s.read_at, s.starred_at, s.preference, s.note
    FROM curator.entry_states s
    JOIN curator.entries old ON old.id = s.entry_id AND old.feed_id = :old
    JOIN curator.entries twin ON twin.guid = old.guid AND twin.feed_hash = old.feed_hash AND twin.feed_id = :new
    ON CONFLICT (user_id, entry_id) DO UPDATE SET
        read_at = greatest(kept.read_at, excluded.read_at),
        starred_at = coalesce(kept.starred_at, excluded.starred_at),
        preference = CASE WHEN kept.preference = 0 THEN excluded.preference ELSE kept.preference END,
        note = CASE WHEN kept.note = '' THEN excluded.note ELSE kept.note END
""")
_MOVE_LABELS = text("""
    INSERT INTO curator.entry_labels (label_id, entry_id)
    SELECT l.label_id, twin.id
    FROM curator.entry_labels l
    JOIN curator.entries old ON old.id = l.entry_id AND old.feed_id = :old
    JOIN curator.entries twin ON twin.guid = old.guid AND twin.feed_hash = old.feed_hash AND twin.feed_id = :new
    ON CONFLICT DO NOTHING
""")
_DELETE_TWINS = text("""
    DELETE FROM curator.entries old USING curator.entries twin
    WHERE old.feed_id = :old AND twin.feed_id = :new AND twin.guid = old.guid AND twin.feed_hash = old.feed_hash
""")
# For people who did not read the new feed before: what they had read, or what was cleaned up since, is not new to them.
_CARRY_READ_MARKS = text("""
    INSERT INTO curator.entry_states AS kept (user_id, entry_id, read_at)
    SELECT s.user_id, twin.id, s.read_at
    FROM curator.entry_states s
    JOIN curator.entries old ON old.id = s.entry_id AND old.feed_id = :old
    JOIN curator.entries twin ON twin.guid = old.guid AND twin.feed_id = :new
    WHERE s.user_id = ANY(:users) AND s.read_at IS NOT NULL
    ON CONFLICT (user_id, entry_id) DO UPDATE SET read_at = greatest(kept.read_at, excluded.read_at)
""").bindparams(bindparam("users", type_=ARRAY(BigInteger)))
_MARK_CLEANED_UP = text("""
    INSERT INTO curator.entry_states AS kept (user_id, entry_id, read_at)
    SELECT reader, twin.id, seen.removed_at
    FROM unnest(:users) AS reader, curator.seen_guids seen
    JOIN curator.entries twin ON twin.guid = seen.guid AND twin.feed_id = :new
    WHERE seen.feed_id = :old
    ON CONFLICT (user_id, entry_id) DO UPDATE SET read_at = greatest(kept.read_at, excluded.read_at)
""").bindparams(bindparam("users", type_=ARRAY(BigInteger)))


async def create_successor(session: AsyncSession, feed: FeedRow, url: str) -> FeedRow:
    """Make the feed of an address that nobody reads yet, with the settings that the readers chose."""
    successor = FeedRow(
        url=url,
        full_text=feed.full_text,
        extraction_rules=feed.extraction_rules,
        interval_seconds=feed.interval_seconds,
        entry_limit=feed.entry_limit,
    )
    session.add(successor)
    await session.flush()
    return successor


async def move_readers(work: UnitOfWork, old: FeedRow, new: FeedRow, now: datetime) -> None:
    session, ids = work.session, {"old": old.id, "new": new.id}
    await _wake_up(session, new, old.paused_at, now)
    readers = list(await session.scalars(select(SubscriptionRow.user_id).where(SubscriptionRow.feed_id == old.id)))
    newcomers = sorted(await session.scalars(_SUBSCRIBE, ids))
    for statement in (_MOVE_STATES, _MOVE_LABELS, _DELETE_TWINS):
        await session.execute(statement, ids)
    await _carry_read_marks(session, old, new, newcomers)
    await _delete_replaced(session, old.id, new.id)
    followed, moved = FollowedKind.FEED.subject(old.id), FollowedKind.FEED.subject(new.id)
    await rename_subject(session, followed, moved, FollowedKind.FEED.path(new.id))
    await _leave(session, old, new, now)
    log.info("feed_moved", msg="The readers of a feed moved to its new address", feed_id=old.id, into=new.id)
    for feed in (old, new):
        work.changed(FEED_CHANGED, str(feed.id))
    for user_id in readers:
        work.changed(PERSON_CHANGED, str(user_id))


async def _wake_up(session: AsyncSession, feed: FeedRow, paused_at: datetime | None, now: datetime) -> None:
    """Read a feed again that was only kept for what people starred in it."""
    if await session.scalar(select(exists().where(SubscriptionRow.feed_id == feed.id))):
        return
    feed.paused_at, feed.moved_to_id = paused_at, None
    state = await session.get(FeedStateRow, feed.id)
    if state is None:
        session.add(FeedStateRow(feed_id=feed.id, next_crawl_at=now))
    elif state.last_crawl_at != now:
        state.next_crawl_at = now
    await session.flush()


async def _carry_read_marks(session: AsyncSession, old: FeedRow, new: FeedRow, users: Sequence[int]) -> None:
    if not users:
        return
    for statement in (_CARRY_READ_MARKS, _MARK_CLEANED_UP):
        await session.execute(statement, {"old": old.id, "new": new.id, "users": list(users)})
    for user_id in users:
        await inherit_read_state(session, EntryRow.feed_id == new.id, user_id)


async def _delete_replaced(session: AsyncSession, old: int, new: int) -> None:
    """Delete what nobody kept and the new feed has under the same guid."""
    successors = select(EntryRow.guid).where(EntryRow.feed_id == new)
    replaced = delete(EntryRow).where(EntryRow.feed_id == old, EntryRow.guid.in_(successors), ~kept_by(None))
    await session.execute(replaced.execution_options(synchronize_session=False))


async def _leave(session: AsyncSession, old: FeedRow, new: FeedRow, now: datetime) -> None:
    """End the subscriptions in which nothing waits to be read; the last one takes the feed along."""
    finished = delete(SubscriptionRow).where(SubscriptionRow.feed_id == old.id, SubscriptionRow.unread == 0)
    await session.execute(finished.execution_options(synchronize_session=False))
    old.paused_at, old.moved_to_id = now, new.id
    state = await session.get(FeedStateRow, old.id)
    if state is not None:
        state.reason, state.failures = MOVED, 0
    await session.flush()
    if not await session.scalar(select(exists().where(SubscriptionRow.feed_id == old.id))):
        await abandon_feed(session, old.id, now)
