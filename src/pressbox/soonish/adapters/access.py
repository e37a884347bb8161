"""Who may see an event and who may change it: statements inside a unit of work."""

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint, well_formed
from pressbox.core.accounts.rows import UserRow
from pressbox.core.errors import ForbiddenError, NotFoundError
from pressbox.soonish.adapters.facts import facts_of
from pressbox.soonish.adapters.rows import EventRow, InvitationRow, SubscriptionRow
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import EventView, Viewer


async def visible(
    session: AsyncSession, viewer: Viewer, slug: str, *, lock: bool = False, hold: bool = False
) -> EventRow:
    """The event, or the same error for one that does not exist and for one that is hidden from this viewer.

    `lock` is for changing it. `hold` keeps others from changing it until the commit, and any number may hold it.
    """
    statement = select(EventRow).where(EventRow.slug == slug, EventRow.deleted_at.is_(None))
    if lock or hold:
        statement = statement.with_for_update(read=hold)
    row = await session.scalar(statement)
    if row is None or not await _may_see(session, viewer, row):
        raise NotFoundError("There is no such event.")
    return row


async def organised(session: AsyncSession, organiser_id: int, slug: str, *, lock: bool = False) -> EventRow:
    """The event, for its organiser only."""
    row = await visible(session, Viewer(organiser_id), slug, lock=lock)
    if row.organiser_id != organiser_id:
        raise ForbiddenError("Only the organiser of this event may do this.")
    return row


async def view(session: AsyncSession, row: EventRow, user_id: int | None) -> EventView:
    """The event as this person sees it."""
    mine: int | None = None
    if user_id is not None:
        mine = await session.scalar(
            select(SubscriptionRow.id).where(
                SubscriptionRow.event_id == row.id,
                SubscriptionRow.user_id == user_id,
                SubscriptionRow.state != SubscriptionState.LEFT,
                SubscriptionRow.organiser_only.is_(False),
            )
        )
    organiser = await session.scalar(select(UserRow.name).where(UserRow.id == row.organiser_id))
    return to_view(row, organiser or "", organises=row.organiser_id == user_id, subscription_id=mine)


def to_view(row: EventRow, organiser: str, *, organises: bool, subscription_id: int | None) -> EventView:
    return EventView(
        id=row.id,
        slug=row.slug,
        name=row.name,
        description=row.description,
        start_date=row.start_date,
        end_date=row.end_date,
        ends_at=facts_of(row).ends_at,
        location=row.location,
        timezone=row.timezone,
        visibility=Visibility(row.visibility),
        status=EventStatus(row.status),
        version=row.version,
        organiser=organiser,
        created_at=row.created_at,
        updated_at=row.updated_at,
        organises=organises,
        subscription_id=subscription_id,
    )


async def _may_see(session: AsyncSession, viewer: Viewer, row: EventRow) -> bool:
    if viewer.user_id == row.organiser_id:
        return True
    if row.status == EventStatus.DRAFT:
        return False
    return (
        row.visibility == Visibility.PUBLIC
        or await _follows(session, viewer, row)
        or await _is_invited(session, viewer, row)
    )


async def _follows(session: AsyncSession, viewer: Viewer, row: EventRow) -> bool:
    if viewer.user_id is None:
        return False
    statement = select(SubscriptionRow.id).where(
        SubscriptionRow.event_id == row.id,
        SubscriptionRow.user_id == viewer.user_id,
        SubscriptionRow.state.in_((SubscriptionState.ACTIVE, SubscriptionState.MUTED)),
    )
    return await session.scalar(statement) is not None


async def _is_invited(session: AsyncSession, viewer: Viewer, row: EventRow) -> bool:
    if viewer.invitation is None or not well_formed(viewer.invitation):
        return False
    statement = select(InvitationRow.id).where(
        InvitationRow.event_id == row.id,
        InvitationRow.token_hash == fingerprint(viewer.invitation),
        InvitationRow.expires_at > func.now(),
        InvitationRow.revoked_at.is_(None),
    )
    return await session.scalar(statement) is not None
