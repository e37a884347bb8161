"""Moves the readers of a feed that has a new address for good.

A redirect is the word of the old site. It sends the readers of that site elsewhere and does nothing to a feed that
other people read: no entry, no state and no validator of the old feed reaches the new one. What the readers kept or
have not read yet stays in the old feed, for them alone.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, delete, exists, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger

from pressbox.core.db.database import UnitOfWork
from pressbox.core.logs import get_logger
from pressbox.curator.library.domain.changes import FEED_CHANGED, PERSON_CHANGED
from pressbox.curator.library.domain.feeds import MOVED
from pressbox.curator.library.rows import EntryRow, FeedRow, FeedStateRow, SubscriptionRow
from pressbox.curator.library.store import abandon_feed, inherit_read_state
from pressbox.curator.library.visibility import kept_by

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
        read_at = coalesce(kept.read_at, excluded.read_at),
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
    ON CONFLICT (user_id, entry_id) DO UPDATE SET read_at = coalesce(kept.read_at, excluded.read_at)
""").bindparams(bindparam("users", type_=ARRAY(BigInteger)))
_MARK_CLEANED_UP = text("""
    INSERT INTO curator.entry_states AS kept (user_id, entry_id, read_at)
    SELECT reader, twin.id, seen.removed_at
    FROM unnest(:users) AS reader, curator.seen_guids seen
    JOIN curator.entries twin ON twin.guid = seen.guid AND twin.feed_id = :new
    WHERE seen.feed_id = :old
    ON CONFLICT (user_id, entry_id) DO UPDATE SET read_at = coalesce(kept.read_at, excluded.read_at)
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
