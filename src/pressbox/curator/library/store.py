"""What the stores of several slices share."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, delete, exists, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.core.db.database import Database
from pressbox.curator.library.rows import EntryBodyRow, EntryRow, EntryStateRow, FeedRow, StoryRow, SubscriptionRow
from pressbox.curator.library.visibility import kept_by

_SEPARATOR = literal("\x1f")


class SqlStore:
    def __init__(self, database: Database) -> None:
        self._database = database


async def refresh_shown_hash(session: AsyncSession, entry_ids: Sequence[int]) -> None:
    """Hash what readers and the search index see of entries, as `shown_hash` does: what differs is indexed again."""
    parts = (EntryRow.title, EntryRow.author, EntryRow.summary, EntryBodyRow.filtered_content)
    shown = EntryBodyRow.feed_content.expression
    for part in reversed(parts):
        shown = part + _SEPARATOR + shown
    await session.execute(
        update(EntryRow)
        .where(EntryRow.id == EntryBodyRow.entry_id, EntryRow.id.in_(entry_ids))
        .values(shown_hash=func.md5(shown))
        .execution_options(synchronize_session=False)
    )


async def inherit_read_state(session: AsyncSession, copies: ColumnElement[bool], user_id: int | None = None) -> None:
    """Mark these entries as read for subscribers (or one of them) who read another copy of the same story."""
    known = aliased(EntryRow, name="known")
    read = (
        select(EntryStateRow.user_id, EntryRow.id, func.min(EntryStateRow.read_at))
        .select_from(EntryRow)
        .join(known, and_(known.story_id == EntryRow.story_id, known.id != EntryRow.id))
        .join(EntryStateRow, EntryStateRow.entry_id == known.id)
        .join(
            SubscriptionRow,
            and_(SubscriptionRow.user_id == EntryStateRow.user_id, SubscriptionRow.feed_id == EntryRow.feed_id),
        )
        .where(copies, EntryStateRow.read_at.is_not(None))
        .group_by(EntryStateRow.user_id, EntryRow.id)
        .order_by(EntryStateRow.user_id, EntryRow.id)
    )
    if user_id is not None:
        read = read.where(EntryStateRow.user_id == user_id)
    statement = insert(EntryStateRow).from_select(["user_id", "entry_id", "read_at"], read)
    await session.execute(statement.on_conflict_do_nothing())


_MARK_BACKLOG = text("""
    INSERT INTO curator.entry_states (user_id, entry_id, read_at)
    SELECT subscription.user_id, entry.id, subscription.created_at
    FROM curator.subscriptions AS subscription
    JOIN (
        SELECT id, feed_id, row_number() OVER (PARTITION BY feed_id ORDER BY published_at DESC, id DESC) AS place
        FROM curator.entries WHERE feed_id = ANY(:feeds)
    ) AS entry ON entry.feed_id = subscription.feed_id
    WHERE entry.place > :unread AND (:user_id = 0 OR subscription.user_id = :user_id)
    ORDER BY subscription.user_id, entry.id
    ON CONFLICT DO NOTHING
""").bindparams(bindparam("feeds", type_=ARRAY(BigInteger)))


async def mark_backlog_read(
    session: AsyncSession, feed_ids: Sequence[int], unread: int, user_id: int | None = None
) -> None:
    """Mark all but the newest entries of feeds as read for their subscribers, or for one who is new to them."""
    await session.execute(_MARK_BACKLOG, {"feeds": list(feed_ids), "unread": unread, "user_id": user_id or 0})


async def abandon_feed(session: AsyncSession, feed_id: int, now: datetime) -> bool:
    """Nobody reads the feed: what nobody kept goes. With something kept the feed stays, paused."""
    unkept = delete(EntryRow).where(EntryRow.feed_id == feed_id, ~kept_by(None)).returning(EntryRow.story_id)
    stories = {story_id for story_id in await session.scalars(unkept) if story_id is not None}
    if stories:
        told = exists().where(EntryRow.story_id == StoryRow.id)
        await session.execute(delete(StoryRow).where(StoryRow.id.in_(stories), ~told))
    if await session.scalar(select(exists().where(EntryRow.feed_id == feed_id))):
        await session.execute(update(FeedRow).where(FeedRow.id == feed_id).values(paused_at=now))
        return False
    await session.execute(delete(FeedRow).where(FeedRow.id == feed_id))
    return True
