"""Quotas in the database: statements inside a unit of work, so that what is counted and what is made are one.

The limits of the settings come with the session; `Database` puts them there.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import case, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import QUOTA_LIMITS, Database
from pressbox.core.errors import InvalidInputError
from pressbox.core.quotas.quota import LARGEST_LIMIT, Quota, QuotaUse, exceeded, spent
from pressbox.core.quotas.rows import QuotaLimitRow, QuotaUseRow


async def demand(session: AsyncSession, quota: Quota, user_id: int, amount: int = 1) -> None:
    """Raise when that is more than the person may have or do.

    Of a quota on what there is, call it after the insert: whoever adds at the same time waits here until the other's
    commit, and then counts it. Of a quota on what is done, it notes the use, and forgets it when the work is undone.
    """
    most = await limit_of(session, quota, user_id)
    if quota.count is not None:
        await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(quota.key, user_id))))
        if await quota.count(session, user_id) > most:
            raise exceeded(quota, most)
    elif quota.window is not None:
        used, ends_at, now = await _use(session, quota.key, quota.window, user_id, amount)
        if used > most:
            raise spent(quota, most, ends_at - now)


async def limit_of(session: AsyncSession, quota: Quota, user_id: int) -> int:
    """The person's own limit, else that of the settings, else the default."""
    own = select(QuotaLimitRow.most).where(QuotaLimitRow.user_id == user_id, QuotaLimitRow.key == quota.key)
    found = await session.scalar(own)
    return _common_limit(session, quota) if found is None else found


async def list_uses(session: AsyncSession, quotas: Sequence[Quota], user_id: int) -> tuple[QuotaUse, ...]:
    """Every quota of a person with what is used of it."""
    own_limits = select(QuotaLimitRow.key, QuotaLimitRow.most).where(QuotaLimitRow.user_id == user_id)
    own = dict((await session.execute(own_limits)).tuples().all())
    open_windows = select(QuotaUseRow.key, QuotaUseRow.used).where(
        QuotaUseRow.user_id == user_id, QuotaUseRow.ends_at > func.clock_timestamp()
    )
    used = dict((await session.execute(open_windows)).tuples().all())
    uses = []
    for quota in quotas:
        count = await _used(session, quota, user_id, used)
        most = own.get(quota.key, _common_limit(session, quota))
        uses.append(QuotaUse(quota.key, quota.title, count, most, quota.window, quota.key in own))
    return tuple(uses)


async def set_limit(session: AsyncSession, quota: Quota, user_id: int, most: int | None) -> None:
    """Give a person a limit of their own; None takes it back."""
    if most is None:
        mine = (QuotaLimitRow.user_id == user_id, QuotaLimitRow.key == quota.key)
        await session.execute(delete(QuotaLimitRow).where(*mine))
        return
    if not 0 <= most <= LARGEST_LIMIT:
        raise InvalidInputError(f"A limit is a number from 0 to {LARGEST_LIMIT:,}.", field="most")
    statement = insert(QuotaLimitRow).values(user_id=user_id, key=quota.key, most=most)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["user_id", "key"], set_={"most": statement.excluded.most})
    )


class QuotaUses:
    """For what is done without a transaction of its own, such as a preview."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def demand(self, quota: Quota, user_id: int) -> None:
        async with self._database.unit_of_work() as work:
            await demand(work.session, quota, user_id)


async def _use(
    session: AsyncSession, key: str, window: timedelta, user_id: int, amount: int
) -> tuple[int, datetime, datetime]:
    now = func.clock_timestamp()
    over = QuotaUseRow.ends_at <= now
    statement = (
        insert(QuotaUseRow)
        .values(user_id=user_id, key=key, used=amount, ends_at=now + window)
        .on_conflict_do_update(
            index_elements=["user_id", "key"],
            set_={
                "used": case((over, amount), else_=QuotaUseRow.used + amount),
                "ends_at": case((over, now + window), else_=QuotaUseRow.ends_at),
            },
        )
        .returning(QuotaUseRow.used, QuotaUseRow.ends_at, func.clock_timestamp())
    )
    found = (await session.execute(statement)).one()
    return found[0], found[1], found[2]


async def _used(session: AsyncSession, quota: Quota, user_id: int, windows: dict[str, int]) -> int | None:
    if quota.count is not None:
        return await quota.count(session, user_id)
    return None if quota.in_memory else windows.get(quota.key, 0)


def _common_limit(session: AsyncSession, quota: Quota) -> int:
    limits: dict[str, int] = session.info.get(QUOTA_LIMITS, {})
    return limits.get(quota.key, quota.default)
