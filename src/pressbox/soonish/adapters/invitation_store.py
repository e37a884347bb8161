"""Invitations to private events in PostgreSQL: only a hash of each token is kept."""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import func, insert, select, update

from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.soonish.adapters import access
from pressbox.soonish.adapters.messages import EVENT_CHANGED
from pressbox.soonish.adapters.rows import InvitationRow
from pressbox.soonish.domain.views import InvitationView


class SqlInvitationStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, organiser_id: int, slug: str, token_hash: bytes, life: timedelta) -> InvitationView:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            values = {"event_id": event.id, "token_hash": token_hash, "expires_at": func.now() + life}
            row = (await work.session.scalars(insert(InvitationRow).values(**values).returning(InvitationRow))).one()
            work.changed(EVENT_CHANGED, slug)
            return _view(row)

    async def all(self, organiser_id: int, slug: str) -> Sequence[InvitationView]:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            statement = select(InvitationRow).where(InvitationRow.event_id == event.id)
            return [_view(row) for row in await work.session.scalars(statement.order_by(InvitationRow.id.desc()))]

    async def revoke(self, organiser_id: int, slug: str, invitation_id: int) -> None:
        async with self._database.unit_of_work() as work:
            event = await access.organised(work.session, organiser_id, slug)
            row = InvitationRow
            statement = update(row).where(row.id == invitation_id, row.event_id == event.id)
            now = func.coalesce(row.revoked_at, func.now())
            if await work.session.scalar(statement.values(revoked_at=now).returning(row.id)) is None:
                raise NotFoundError("There is no such invitation.")
            work.changed(EVENT_CHANGED, slug)


def _view(row: InvitationRow) -> InvitationView:
    return InvitationView(row.id, row.created_at, row.expires_at, row.revoked_at)
