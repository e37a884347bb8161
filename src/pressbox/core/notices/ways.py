"""By which ways a person wants notices beside the inbox: their mail, and channels of theirs."""

from collections.abc import Collection

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.arrays import one_of_texts
from pressbox.core.notices.outgoing import drop_ways
from pressbox.core.notices.rows import NoticeWayRow

CHANNEL = "channel:"


def account_way(user_id: int) -> str:
    """The mail of the account itself."""
    return f"account:{user_id}"


def channel_way(channel_id: int) -> str:
    return f"{CHANNEL}{channel_id}"


async def load_ways(session: AsyncSession, user_id: int) -> frozenset[str]:
    return frozenset(await session.scalars(select(NoticeWayRow.channel_key).where(NoticeWayRow.user_id == user_id)))


async def add_ways(session: AsyncSession, user_id: int, channel_keys: Collection[str]) -> None:
    if channel_keys:
        rows = [{"user_id": user_id, "channel_key": key} for key in sorted(channel_keys)]
        await session.execute(insert(NoticeWayRow).values(rows).on_conflict_do_nothing())


async def leave_ways(session: AsyncSession, user_id: int, channel_keys: Collection[str]) -> None:
    """Send nothing by these any more, also nothing that waits."""
    if channel_keys:
        own = (NoticeWayRow.user_id == user_id, NoticeWayRow.channel_key == one_of_texts(channel_keys))
        await session.execute(delete(NoticeWayRow).where(*own))
        await drop_ways(session, user_id, channel_keys)
