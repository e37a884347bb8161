"""One writer of the graph at a time: bulk writes are short, and nobody stands in another's way."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.curator.graph.rows import GraphGenerationRow

_LOCK = 0x47_52_41_50  # "GRAP"
# There is one graph: all of its changes have this key.
CHANGES_KEY = "graph"
BUILDING, CURRENT, OLD = "building", "current", "old"


async def lock(session: AsyncSession) -> None:
    await session.execute(select(func.pg_advisory_xact_lock(_LOCK)))


async def current_generation(session: AsyncSession) -> int | None:
    current: int | None = await session.scalar(select(GraphGenerationRow.id).where(GraphGenerationRow.state == CURRENT))
    return current
