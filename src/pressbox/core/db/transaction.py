"""The time of a transaction, as the database sees it."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession


async def load_time(session: AsyncSession) -> datetime:
    """The same for all statements of one transaction."""
    return (await session.execute(select(func.now()))).scalar_one()
