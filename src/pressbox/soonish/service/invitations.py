"""Invitations to private events: only a hash of each token is kept."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint, new_secret
from pressbox.core.db.database import Database
from pressbox.core.errors import NotFoundError
from pressbox.core.quotas.store import demand
from pressbox.soonish.adapters.event_rows import load_organised
from pressbox.soonish.adapters.messages import EVENT_CHANGED
from pressbox.soonish.adapters.rows import InvitationRow, SubscriptionRow
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import InvitationView, NewInvitation
from pressbox.soonish.service.quotas import INVITATIONS

LIFETIME = timedelta(days=7)


class InvitationService:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, organiser_id: int, slug: str) -> NewInvitation:
        """Make an invitation that is valid for a week. Its token is shown only now."""
        token = new_secret()
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug)
            values = {"event_id": event.id, "token_hash": fingerprint(token), "expires_at": func.now() + LIFETIME}
            row = (await work.session.scalars(insert(InvitationRow).values(**values).returning(InvitationRow))).one()
            await demand(work.session, INVITATIONS, organiser_id)
            work.changed(EVENT_CHANGED, slug)
        return NewInvitation(**asdict(_to_view(row)), token=token)

    async def list(self, organiser_id: int, slug: str) -> Sequence[InvitationView]:
        async with self._database.unit_of_work() as work:
            event = await load_organised(work.session, organiser_id, slug)
            statement = select(InvitationRow).where(InvitationRow.event_id == event.id)
            return [_to_view(row) for row in await work.session.scalars(statement.order_by(InvitationRow.id.desc()))]

    async def revoke(self, organiser_id: int, slug: str, invitation_id: int) -> None:
        """End an invitation, and with it the links of those who have asked to join and not confirmed yet.

        Nobody notes by which invitation somebody came: whoever has another one can ask again with it.
        """
        async with self._database.unit_of_work() as work:
            # Whoever asks to join at this moment has asked before this, or finds the invitation revoked.
            event = await load_organised(work.session, organiser_id, slug, lock=True)
            row = InvitationRow
            statement = update(row).where(row.id == invitation_id, row.event_id == event.id)
            now = func.coalesce(row.revoked_at, func.now())
            if await work.session.scalar(statement.values(revoked_at=now).returning(row.id)) is None:
                raise NotFoundError("There is no such invitation.")
            if event.visibility == Visibility.PRIVATE:
                await _end_waiting(work.session, event.id)
            work.changed(EVENT_CHANGED, slug)


async def _end_waiting(session: AsyncSession, event_id: int) -> None:
    waiting = (SubscriptionRow.event_id == event_id, SubscriptionRow.state == SubscriptionState.PENDING)
    await session.execute(update(SubscriptionRow).where(*waiting).values(confirm_until=None))


def _to_view(row: InvitationRow) -> InvitationView:
    return InvitationView(row.id, row.created_at, row.expires_at, row.revoked_at)
