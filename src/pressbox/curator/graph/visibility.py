"""What a person sees of the graph: what entries of their feeds say."""

from dataclasses import dataclass

from sqlalchemy import ARRAY, BigInteger, ColumnElement, any_, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.library.rows import EntryRow, SubscriptionRow


@dataclass(frozen=True)
class Sight:
    """`entry` is the condition for an entry. The feeds are looked up once: asked row by row they cost most of all."""

    user_id: int
    entry: ColumnElement[bool]


async def sight_of(session: AsyncSession, user_id: int) -> Sight:
    feeds = list(await session.scalars(select(SubscriptionRow.feed_id).where(SubscriptionRow.user_id == user_id)))
    return Sight(user_id, EntryRow.feed_id == any_(literal(feeds, ARRAY(BigInteger))))
