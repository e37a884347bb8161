"""Claims in the database: one statement decides who has a piece of work."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, or_
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.db.database import Database
from pressbox.curator.library.rows import ClaimRow


class SqlClaims:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        if not keys:
            return frozenset()
        # Sorted, because two workers that lock them in different orders would wait for each other.
        wanted = insert(ClaimRow).values([{"key": key, "owner": owner, "until": until} for key in sorted(set(keys))])
        taken = wanted.on_conflict_do_update(
            index_elements=[ClaimRow.key],
            set_={"owner": owner, "until": until},
            where=or_(ClaimRow.owner == owner, ClaimRow.until <= now),
        ).returning(ClaimRow.key)
        async with self._database.unit_of_work() as work:
            return frozenset(await work.session.scalars(taken))

    async def release(self, keys: Sequence[str], owner: str) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(ClaimRow).where(ClaimRow.key.in_(keys), ClaimRow.owner == owner))
