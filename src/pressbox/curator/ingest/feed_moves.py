"""Moves a feed to its new address, or merges it into the feed that already has that address."""

from sqlalchemy import delete, exists, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import UnitOfWork
from pressbox.core.logs import get_logger
from pressbox.curator.library.domain.changes import FEED_CHANGED, PERSON_CHANGED
from pressbox.curator.library.rows import FeedRow, SubscriptionRow
from pressbox.curator.text.plain_text import make_storable

log = get_logger(__name__)

# What people did with an entry of both feeds is combined, so that nothing that they kept is lost.
_MERGE_STATES = text("""
    INSERT INTO curator.entry_states AS kept (user_id, entry_id, read_at, starred_at, preference, note)
    SELECT s.user_id, twin.id, s.read_at, s.starred_at, s.preference, s.note
    FROM curator.entry_states s
    JOIN curator.entries old ON old.id = s.entry_id AND old.feed_id = :old
    JOIN curator.entries twin ON twin.guid = old.guid AND twin.feed_id = :new
    ON CONFLICT (user_id, entry_id) DO UPDATE SET
        read_at = coalesce(kept.read_at, excluded.read_at),
        starred_at = coalesce(kept.starred_at, excluded.starred_at),
        preference = CASE WHEN kept.preference = 0 THEN excluded.preference ELSE kept.preference END,
        note = CASE WHEN kept.note = '' THEN excluded.note ELSE kept.note END
""")
_MERGE_LABELS = text("""
    INSERT INTO curator.entry_labels (label_id, entry_id)
    SELECT l.label_id, twin.id
    FROM curator.entry_labels l
    JOIN curator.entries old ON old.id = l.entry_id AND old.feed_id = :old
    JOIN curator.entries twin ON twin.guid = old.guid AND twin.feed_id = :new
    ON CONFLICT DO NOTHING
""")
_DELETE_TWINS = text("""
    DELETE FROM curator.entries old USING curator.entries twin
    WHERE old.feed_id = :old AND twin.feed_id = :new AND twin.guid = old.guid
""")
# The search index filters by feed, so they are indexed again.
_MOVE_ENTRIES = text("UPDATE curator.entries SET feed_id = :new, indexed_hash = NULL WHERE feed_id = :old")
_MOVE_SEEN_GUIDS = text("""
    INSERT INTO curator.seen_guids (feed_id, guid, removed_at)
    SELECT :new, guid, removed_at FROM curator.seen_guids WHERE feed_id = :old
    ON CONFLICT DO NOTHING
""")
_MOVE_COSTS = text("UPDATE curator.model_calls SET feed_id = :new WHERE feed_id = :old")
_DELETE_DOUBLE_SUBSCRIPTIONS = text("""
    DELETE FROM curator.subscriptions old USING curator.subscriptions twin
    WHERE old.feed_id = :old AND twin.feed_id = :new AND twin.user_id = old.user_id
""")
_MOVE_ERRORS = text("UPDATE curator.feed_errors SET feed_id = :new WHERE feed_id = :old")
# Also for those who had both: the trigger of a subscription counts its feed anew.
_MOVE_SUBSCRIPTIONS = text("UPDATE curator.subscriptions SET feed_id = :new WHERE feed_id IN (:old, :new)")


async def move_feed(work: UnitOfWork, feed: FeedRow, url: str) -> FeedRow:
    """Return the feed that has the new address from now on, which may be another one."""
    address = make_storable(url)
    if address == feed.url:
        return feed
    other = await work.session.scalar(select(FeedRow).where(FeedRow.url == address).with_for_update())
    if other is None:
        log.info("feed_moved", msg=f"Feed moved from {feed.url} to {address}", feed_id=feed.id)
        feed.url = address
        return feed
    has_no_readers = ~exists().where(SubscriptionRow.feed_id == other.id)
    if await work.session.scalar(select(has_no_readers)):
        other.paused_at = feed.paused_at
    await _merge(work.session, feed.id, other.id)
    log.info("feed_merged", msg=f"Feed moved to {address}, which was there already", feed_id=feed.id, into=other.id)
    work.changed(FEED_CHANGED, str(feed.id))
    for user_id in await work.session.scalars(select(SubscriptionRow.user_id).filter_by(feed_id=other.id)):
        work.changed(PERSON_CHANGED, str(user_id))
    await work.session.execute(delete(FeedRow).where(FeedRow.id == feed.id))
    return other


async def _merge(session: AsyncSession, old: int, new: int) -> None:
    for statement in (
        _MERGE_STATES,
        _MERGE_LABELS,
        _DELETE_TWINS,
        _MOVE_ENTRIES,
        _MOVE_SEEN_GUIDS,
        _MOVE_COSTS,
        _MOVE_ERRORS,
        _DELETE_DOUBLE_SUBSCRIPTIONS,
        _MOVE_SUBSCRIPTIONS,
    ):
        names = {name: value for name, value in (("old", old), ("new", new)) if f":{name}" in statement.text}
        await session.execute(statement, names)
