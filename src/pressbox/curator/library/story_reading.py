"""Whoever has read a story has read every copy of it, also one that comes later."""

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from pressbox.curator.library.rows import EntryRow, EntryStateRow, SubscriptionRow


async def inherit_reading(session: AsyncSession, copies: ColumnElement[bool], user_id: int | None = None) -> None:
    """Mark entries that fit as read for their subscribers (or one of them) who read the same story elsewhere."""
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
