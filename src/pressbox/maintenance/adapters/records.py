"""Old rows in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, func, select

from pressbox.core.accounts.rows import RateLimitRow, SessionRow, TokenRow
from pressbox.core.db.base import Base
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow


class SqlRecords:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def prune_sessions(self, before: datetime) -> int:
        return await self._delete(SessionRow, SessionRow.expires_at < before)

    async def prune_tokens(self, before: datetime) -> int:
        return await self._delete(TokenRow, TokenRow.expires_at < before)

    async def prune_rate_limits(self, before: datetime) -> int:
        return await self._delete(RateLimitRow, RateLimitRow.expires_at < before)

    async def prune_changes(self, before: datetime) -> int:
        # The newest row stays whatever its age: it tells a cursor that is still good from one that is too old.
        newest = select(func.max(ChangeRow.id)).scalar_subquery()
        return await self._delete(ChangeRow, and_(ChangeRow.created_at < before, ChangeRow.id < newest))

    async def prune_progress(self, before: datetime) -> int:
        async with self._database.unit_of_work() as work:
            gone: Sequence[str] = (
                await work.session.scalars(
                    delete(ProgressRow).where(ProgressRow.closed_at < before).returning(ProgressRow.workflow_id)
                )
            ).all()
            for workflow_id in gone:
                work.changed(WORKFLOW_CHANGED, workflow_id)
        return len(gone)

    async def _delete(self, row: type[Base], old: ColumnElement[bool]) -> int:
        async with self._database.unit_of_work() as work:
            result = await work.session.execute(delete(row).where(old).returning(1))
            return len(result.all())
