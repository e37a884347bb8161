"""Events in PostgreSQL, as organisers change them and people see them."""

import secrets
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.soonish.adapters import access, messages, outbox
from pressbox.soonish.adapters.facts import facts_of, put_facts, to_stored
from pressbox.soonish.adapters.rows import EventRow, EventVersionRow, SubscriptionRow
from pressbox.soonish.contracts import EventCancelled, EventUpdated, ParticipantAdded
from pressbox.soonish.domain.delivery import Cause, Level
from pressbox.soonish.domain.events import OPEN_ENDED, EventFacts, EventStatus, Visibility, changes
from pressbox.soonish.domain.messages import cancelled, created
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import CalendarEntry, EventView, Viewer, calendar_entry

# 96 random bits: nobody finds an event by trying.
_SLUG_BYTES = 12
_MOST_IN_CALENDAR = 1_000


class SqlEventStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, organiser_id: int, facts: EventFacts, visibility: Visibility, status: EventStatus
    ) -> EventView:
        async with self._database.unit_of_work() as work:
            row = EventRow(
                slug=secrets.token_urlsafe(_SLUG_BYTES),
                organiser_id=organiser_id,
                visibility=visibility,
                status=status,
                version=1,
            )
            put_facts(row, facts)
            work.session.add(row)
            await work.session.flush()
            await _keep_version(work, row)
            if status is EventStatus.ACTIVE:
                await _begin(work, row)
            return await _seen(work, row, organiser_id)

    async def edit(self, organiser_id: int, slug: str, facts: EventFacts, visibility: Visibility) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.organised(work.session, organiser_id, slug, lock=True)
            _refuse_over(row)
            row.visibility = visibility
            if changes(facts_of(row), facts):
                put_facts(row, facts)
                if row.status == EventStatus.ACTIVE:
                    row.version += 1
                    await outbox.put(work.session, row.id, EventUpdated, version=row.version)
                await _keep_version(work, row)
            return await _seen(work, row, organiser_id)

    async def activate(self, organiser_id: int, slug: str, now: datetime) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.organised(work.session, organiser_id, slug, lock=True)
            _refuse_over(row)
            if row.status == EventStatus.DRAFT:
                if facts_of(row).ends_at <= now:
                    raise ConflictError("The event would be over already. Change its time first.")
                row.status = EventStatus.ACTIVE
                await _begin(work, row)
            return await _seen(work, row, organiser_id)

    async def cancel(self, organiser_id: int, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.COMPLETED:
                raise ConflictError("This event is over, so it cannot be cancelled.")
            await _cancel(work, row, organiser_id)
            return await _seen(work, row, organiser_id)

    async def complete(self, organiser_id: int, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.organised(work.session, organiser_id, slug, lock=True)
            if row.status == EventStatus.DRAFT:
                raise ConflictError("A draft cannot be ended. Delete it.")
            _refuse_over(row)
            row.status = EventStatus.COMPLETED
            await outbox.put(work.session, row.id, EventUpdated, version=row.version)
            return await _seen(work, row, organiser_id)

    async def delete(self, organiser_id: int, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.organised(work.session, organiser_id, slug, lock=True)
            if row.status != EventStatus.COMPLETED:
                await _cancel(work, row, organiser_id)
            row.deleted_at = (await work.session.execute(select(func.now()))).scalar_one()
            return await _seen(work, row, organiser_id)

    async def find(self, viewer: Viewer, slug: str) -> EventView:
        async with self._database.unit_of_work() as work:
            row = await access.visible(work.session, viewer, slug)
            return await access.view(work.session, row, viewer.user_id)

    async def everything(self, limit: int) -> Sequence[EventView]:
        return await self._views(_listed(None).order_by(EventRow.start_date.desc()).limit(limit), None)

    async def organiser_of(self, slug: str) -> int:
        statement = select(EventRow.organiser_id).where(EventRow.slug == slug, EventRow.deleted_at.is_(None))
        async with self._database.unit_of_work() as work:
            organiser_id = await work.session.scalar(statement)
        if organiser_id is None:
            raise NotFoundError("There is no such event.")
        return organiser_id

    async def organised(self, organiser_id: int) -> Sequence[EventView]:
        mine = EventRow.organiser_id == organiser_id
        return await self._views(_listed(organiser_id).where(mine).order_by(EventRow.start_date.desc()), organiser_id)

    async def followed(self, user_id: int) -> Sequence[EventView]:
        following = SubscriptionRow.id.is_not(None)
        return await self._views(_listed(user_id).where(following).order_by(EventRow.start_date), user_id)

    async def public(self, now: datetime, limit: int) -> Sequence[EventView]:
        over = func.coalesce(EventRow.end_date, EventRow.start_date + OPEN_ENDED) <= now
        statement = (
            _listed(None)
            .where(EventRow.visibility == Visibility.PUBLIC, EventRow.status == EventStatus.ACTIVE, ~over)
            .order_by(EventRow.start_date)
            .limit(limit)
        )
        return await self._views(statement, None)

    async def calendar(self, user_id: int) -> Sequence[CalendarEntry]:
        concerned = or_(EventRow.organiser_id == user_id, SubscriptionRow.id.is_not(None))
        statement = _listed(user_id).where(concerned, EventRow.status != EventStatus.DRAFT)
        found = await self._views(statement.order_by(EventRow.start_date.desc()).limit(_MOST_IN_CALENDAR), user_id)
        return [calendar_entry(event) for event in found]

    async def _views(self, statement: Select[tuple[EventRow, str, int]], user_id: int | None) -> Sequence[EventView]:
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).tuples().all()
        return [
            access.to_view(row, organiser, organises=row.organiser_id == user_id, subscription_id=subscription_id)
            for row, organiser, subscription_id in found
        ]


def _listed(user_id: int | None) -> Select[tuple[EventRow, str, int]]:
    """Events that are not deleted, with the subscription of this person where there is one."""
    mine = (
        (SubscriptionRow.event_id == EventRow.id)
        & (SubscriptionRow.user_id == user_id)
        & SubscriptionRow.organiser_only.is_(False)
        & (SubscriptionRow.state != SubscriptionState.LEFT)
    )
    return (
        select(EventRow, UserRow.name, SubscriptionRow.id)
        .join(UserRow, UserRow.id == EventRow.organiser_id)
        .outerjoin(SubscriptionRow, mine)
        .where(EventRow.deleted_at.is_(None))
    )


async def _begin(work: UnitOfWork, row: EventRow) -> None:
    """An event that is no draft: its organiser hears of it, and its workflow begins."""
    values = {"event_id": row.id, "user_id": row.organiser_id, "state": SubscriptionState.ACTIVE}
    own = await work.session.scalar(
        insert(SubscriptionRow).values(**values, organiser_only=True, own_offsets=True).returning(SubscriptionRow.id)
    )
    assert own is not None, "an event without a workflow has no subscriptions"
    await messages.accept(
        work.session, row.id, Cause.CREATED, "1", Level.INFO, created(facts_of(row)), messages.only([own])
    )
    await outbox.put(work.session, row.id, ParticipantAdded, subscription_id=own)


async def _cancel(work: UnitOfWork, row: EventRow, organiser_id: int) -> None:
    if row.status == EventStatus.CANCELLED:
        return
    begun = row.status == EventStatus.ACTIVE
    row.status = EventStatus.CANCELLED
    row.version += 1
    await _keep_version(work, row)
    if not begun:
        return
    notification_id = await messages.accept(
        work.session,
        row.id,
        Cause.CANCELLED,
        str(row.version),
        Level.CRITICAL,
        cancelled(facts_of(row)),
        messages.everybody(),
        created_by=organiser_id,
    )
    await outbox.put(work.session, row.id, EventCancelled, notification_id=notification_id)
    work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))


async def _keep_version(work: UnitOfWork, row: EventRow) -> None:
    facts = to_stored(facts_of(row))
    statement = insert(EventVersionRow).values(event_id=row.id, version=row.version, facts=facts)
    await work.session.execute(
        statement.on_conflict_do_update(index_elements=["event_id", "version"], set_={"facts": facts})
    )


async def _seen(work: UnitOfWork, row: EventRow, organiser_id: int) -> EventView:
    row.updated_at = (await work.session.execute(select(func.now()))).scalar_one()
    await work.session.flush()
    await work.session.refresh(row)
    work.changed(messages.EVENT_CHANGED, row.slug)
    return await access.view(work.session, row, organiser_id)


def _refuse_over(row: EventRow) -> None:
    if EventStatus(row.status).over:
        raise ConflictError(f"This event is {row.status} and can no longer be changed.")
