"""Old rows in PostgreSQL, and old scratch objects."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, literal, select

from pressbox.core.accounts.factor_rows import CeremonyRow
from pressbox.core.accounts.rows import (
    AccountLinkRow,
    AuditRow,
    DeviceRow,
    PaceRow,
    RateLimitRow,
    SessionRow,
    TokenRow,
    UserRow,
)
from pressbox.core.accounts.tokens import KEEP_ENDED
from pressbox.core.db.base import Base
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.notices.rows import NoticeRow
from pressbox.core.objects.store import ObjectStore
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow
from pressbox.maintenance.contracts import Kind

# As long as a browser keeps a cookie.
KEEP_DEVICES = timedelta(days=400)
# While messages about what they organised are on their way.
KEEP_DELETED = timedelta(days=1)
SCRATCH_PREFIX = "scratch/"
# The newest change stays whatever its age: it tells a cursor that is still good from one that is too old.
NEWEST_CHANGE = select(func.max(ChangeRow.id)).scalar_subquery()

# Kinds that are rows of one table, and which of them go.
ROWS: Mapping[Kind, tuple[type[Base], Callable[[datetime], Sequence[ColumnElement[bool]]]]] = {
    Kind.SESSIONS: (SessionRow, lambda before: [SessionRow.expires_at < before]),
    Kind.TOKENS: (TokenRow, lambda before: [TokenRow.expires_at < before - KEEP_ENDED]),
    Kind.RATE_LIMITS: (RateLimitRow, lambda before: [RateLimitRow.expires_at < before]),
    Kind.CHANGES: (ChangeRow, lambda before: [ChangeRow.created_at < before, ChangeRow.id < NEWEST_CHANGE]),
    Kind.AUDIT_LOG: (AuditRow, lambda before: [AuditRow.at < before]),
    Kind.NOTICES: (NoticeRow, lambda before: [NoticeRow.changed_at < before]),
}


class MaintenanceStore:
    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def delete_rows(self, kind: Kind, before: datetime) -> int:
        if kind is Kind.ACCOUNTS:
            return await self._delete_accounts(before)
        if kind is Kind.PROGRESS:
            return await self._delete_progress(before)
        if kind not in ROWS:
            raise ValueError(f"{kind} are not rows of one table.")
        if kind is Kind.SESSIONS:
            await self._delete_ceremonies(before)
        table, ended = ROWS[kind]
        async with self._database.unit_of_work() as work:
            return len((await work.session.execute(delete(table).where(*ended(before)).returning(literal(1)))).all())

    async def _delete_ceremonies(self, before: datetime) -> None:
        """Sign-ins that were begun and never finished go with the sessions that they did not become."""
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(CeremonyRow).where(CeremonyRow.expires_at < before))

    async def _delete_accounts(self, before: datetime) -> int:
        """Used-up links and paces, browsers that nobody used for long, and accounts that were deleted a day ago."""
        statements = (
            delete(AccountLinkRow).where(AccountLinkRow.expires_at < before).returning(AccountLinkRow.user_id),
            delete(PaceRow).where(PaceRow.expires_at < before).returning(PaceRow.count),
            delete(DeviceRow).where(DeviceRow.last_seen_at < before - KEEP_DEVICES).returning(DeviceRow.user_id),
            delete(UserRow).where(UserRow.deleted_at < before - KEEP_DELETED).returning(UserRow.id),
        )
        async with self._database.unit_of_work() as work:
            return sum([len((await work.session.execute(statement)).all()) for statement in statements])

    async def _delete_progress(self, before: datetime) -> int:
        old = delete(ProgressRow).where(ProgressRow.closed_at < before).returning(ProgressRow.workflow_id)
        async with self._database.unit_of_work() as work:
            deleted = (await work.session.scalars(old)).all()
            for workflow_id in deleted:
                work.changed(WORKFLOW_CHANGED, workflow_id)
        return len(deleted)

    async def list_scratch(self, before: datetime) -> AsyncIterator[str]:
        async for item in self._objects.list(SCRATCH_PREFIX):
            if item.modified_at < before:
                yield item.key

    async def delete_scratch(self, key: str) -> None:
        await self._objects.delete(key)

    async def delete_unfinished(self, before: datetime) -> int:
        return await self._objects.remove_unfinished(before)
