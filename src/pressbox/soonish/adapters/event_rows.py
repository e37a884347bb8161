"""Event rows inside a unit of work: who may see and change them, what they state, and how people see them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Select, exists, func, or_, select, true
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.opaque import fingerprint, well_formed
from pressbox.core.accounts.rows import UserRow
from pressbox.core.errors import ForbiddenError, NotFoundError
from pressbox.soonish.adapters.rows import EventRow, EventVersionRow, InvitationRow, SubscriptionRow
from pressbox.soonish.domain.events import DEFAULT_LENGTH, OPEN_VISIBILITIES, EventFacts, EventStatus, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import EventView, Viewer

_FACTS = TypeAdapter(EventFacts)
_REQUEST = "uq_events_organiser_id_request_key"


def ends_at() -> ColumnElement[datetime]:
    """As `EventFacts.ends_at`, for statements."""
    return func.coalesce(EventRow.end_date, EventRow.start_date + DEFAULT_LENGTH)


async def load_visible(
    session: AsyncSession, viewer: Viewer, slug: str, *, lock: bool = False, share: bool = False
) -> EventRow:
    """Load an event; one that is hidden from this viewer gives the same error as one that does not exist.

    `lock` is for changing it. `share` keeps others from changing it until the commit; any number may share it.
    """
    return await _load(session, viewer, EventRow.deleted_at.is_(None), slug, lock=lock, share=share)


async def load_for_calendar(session: AsyncSession, viewer: Viewer, slug: str) -> EventRow:
    """Load an event, also one that was deleted a few days ago: calendars must hear that it is cancelled."""
    # A draft has no subscriptions; nobody has it in a calendar.
    was_published = exists().where(SubscriptionRow.event_id == EventRow.id)
    return await _load(session, viewer, or_(EventRow.deleted_at.is_(None), was_published), slug)


async def _load(
    session: AsyncSession,
    viewer: Viewer,
    condition: ColumnElement[bool],
    slug: str,
    *,
    lock: bool = False,
    share: bool = False,
) -> EventRow:
    statement = select(EventRow).where(EventRow.slug == slug, condition)
    if lock or share:
        statement = statement.with_for_update(read=share)
    row = await session.scalar(statement)
    if row is None or not await _may_see(session, viewer, row):
        raise NotFoundError("There is no such event.")
    return row


async def load_organised(session: AsyncSession, organiser_id: int, slug: str, *, lock: bool = False) -> EventRow:
    """Load an event for its organiser; anybody else gets an error."""
    row = await load_visible(session, Viewer(organiser_id), slug, lock=lock)
    if row.organiser_id != organiser_id:
        raise ForbiddenError("Only the organiser of this event may do this.")
    return row


async def load_view(session: AsyncSession, row: EventRow, user_id: int | None) -> EventView:
    """The event as this person sees it."""
    subscription_id: int | None = None
    if user_id is not None:
        subscription_id = await session.scalar(
            select(SubscriptionRow.id).where(
                SubscriptionRow.event_id == row.id,
                SubscriptionRow.user_id == user_id,
                SubscriptionRow.state != SubscriptionState.LEFT,
                SubscriptionRow.organiser_only.is_(False),
            )
        )
    organiser = await session.scalar(select(UserRow.name).where(UserRow.id == row.organiser_id))
    return _to_view(row, organiser or "", organises=_is_organiser(row, user_id), subscription_id=subscription_id)


def select_events(user_id: int | None, *, with_deleted: bool = False) -> Select[tuple[EventRow, str, int]]:
    """Events with the organiser's name and the subscription of this person, if any."""
    own = (
        (SubscriptionRow.event_id == EventRow.id)
        & (SubscriptionRow.user_id == user_id)
        & SubscriptionRow.organiser_only.is_(False)
        & (SubscriptionRow.state != SubscriptionState.LEFT)
    )
    return (
        select(EventRow, UserRow.name, SubscriptionRow.id)
        .outerjoin(UserRow, UserRow.id == EventRow.organiser_id)
        .outerjoin(SubscriptionRow, own)
        .where(true() if with_deleted else EventRow.deleted_at.is_(None))
    )


async def load_views(
    session: AsyncSession, statement: Select[tuple[EventRow, str, int]], user_id: int | None
) -> Sequence[EventView]:
    """The events of a statement that `select_events` began, as this person sees them."""
    return [
        _to_view(row, organiser or "", organises=_is_organiser(row, user_id), subscription_id=subscription_id)
        for row, organiser, subscription_id in (await session.execute(statement)).tuples()
    ]


async def insert_event(session: AsyncSession, facts: EventFacts, **values: Any) -> tuple[EventRow, bool]:
    """Insert an event; one with the same organiser and request key is found instead. Says whether it is new."""
    statement = insert(EventRow).values(**asdict(facts), **values).on_conflict_do_nothing(constraint=_REQUEST)
    event_id = await session.scalar(statement.returning(EventRow.id))
    if event_id is not None:
        return await session.get_one(EventRow, event_id), True
    same = (EventRow.organiser_id == values["organiser_id"]) & (EventRow.request_key == values["request_key"])
    return (await session.execute(select(EventRow).where(same))).scalar_one(), False


def read_facts(row: EventRow) -> EventFacts:
    return EventFacts(
        name=row.name,
        start_date=row.start_date,
        timezone=row.timezone,
        description=row.description,
        end_date=row.end_date,
        location=row.location,
    )


def write_facts(row: EventRow, facts: EventFacts) -> None:
    row.name, row.description, row.location = facts.name, facts.description, facts.location
    row.start_date, row.end_date, row.timezone = facts.start_date, facts.end_date, facts.timezone


def facts_to_json(facts: EventFacts) -> dict[str, Any]:
    stored: dict[str, Any] = _FACTS.dump_python(facts, mode="json")
    return stored


def facts_from_json(stored: dict[str, Any]) -> EventFacts:
    return _FACTS.validate_python(stored)


async def save_version(session: AsyncSession, row: EventRow) -> None:
    """Keep what the event states at its present version."""
    facts = facts_to_json(read_facts(row))
    statement = insert(EventVersionRow).values(event_id=row.id, version=row.version, facts=facts)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["event_id", "version"], set_={"facts": facts})
    )


def _to_view(row: EventRow, organiser: str, *, organises: bool, subscription_id: int | None) -> EventView:
    return EventView(
        id=row.id,
        slug=row.slug,
        name=row.name,
        description=row.description,
        start_date=row.start_date,
        end_date=row.end_date,
        ends_at=read_facts(row).ends_at,
        location=row.location,
        timezone=row.timezone,
        visibility=Visibility(row.visibility),
        # A deleted one is seen by calendars only.
        status=EventStatus.CANCELLED if row.deleted_at else EventStatus(row.status),
        version=row.version,
        organiser=organiser,
        created_at=row.created_at,
        updated_at=row.updated_at,
        organises=organises,
        subscription_id=subscription_id,
        subject_path=row.subject_path,
    )


def _is_organiser(row: EventRow, user_id: int | None) -> bool:
    """What the instance keeps has no organiser, and nobody without an account is one."""
    return user_id is not None and row.organiser_id == user_id


async def _may_see(session: AsyncSession, viewer: Viewer, row: EventRow) -> bool:
    if _is_organiser(row, viewer.user_id):
        return True
    if row.status == EventStatus.DRAFT:
        return False
    return (
        row.visibility in OPEN_VISIBILITIES
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
