"""Events in PostgreSQL, as the workflows read and complete them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Integer, cast, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.core.db.transaction import load_time
from pressbox.delivery.adapters.rows import ContactRow, SendLaneRow
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters import messages
from pressbox.soonish.adapters.event_rows import ends_at, facts_from_json, read_facts
from pressbox.soonish.adapters.recipients import one_of
from pressbox.soonish.adapters.rows import (
    DeliveryRow,
    EventRow,
    EventVersionRow,
    NotificationRow,
    OutboxRow,
    SubscriptionRow,
)
from pressbox.soonish.contracts import EventDetails
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventFacts, EventStatus, list_changes
from pressbox.soonish.domain.messages import write_update
from pressbox.soonish.domain.reminders import SubscriptionState


class SqlEvents:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_details(self, event_id: int) -> EventDetails | None:
        row = await self._load_row(event_id)
        if row is None:
            return None
        return EventDetails(
            event_id=row.id,
            status=EventStatus(row.status),
            start_date=row.start_date,
            ends_at=read_facts(row).ends_at,
            version=row.version,
        )

    async def load_facts(self, event_id: int) -> EventFacts | None:
        row = await self._load_row(event_id)
        return read_facts(row) if row else None

    async def accept_update(self, event_id: int, from_version: int) -> tuple[int | None, int]:
        async with self._database.unit_of_work() as work:
            row = await work.session.get(EventRow, event_id, with_for_update=True)
            if row is None or row.status != EventStatus.ACTIVE:
                return None, row.version if row else from_version
            await _drop_unsent_updates(work.session, row, from_version)
            before = await work.session.get(EventVersionRow, (event_id, from_version))
            changed = list_changes(facts_from_json(before.facts), read_facts(row)) if before else ()
            if not changed:
                return None, row.version
            notification_id = await messages.accept_message(
                work.session,
                event_id,
                Cause.UPDATED,
                str(row.version),
                Level.WARNING,
                write_update(read_facts(row), changed),
                messages.everybody(),
                occasion={"from_version": from_version},
                changes=[{"label": item.label, "old": item.old, "new": item.new} for item in changed],
            )
            work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))
            work.changed(messages.EVENT_CHANGED, row.slug)
            return notification_id, row.version

    async def choose_live(self, event_ids: Sequence[int]) -> Sequence[int]:
        row = EventRow
        live = (row.status == EventStatus.ACTIVE, row.deleted_at.is_(None))
        found = select(row).where(row.id == one_of(event_ids), *live).order_by(row.id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(found)).all()
            now = await load_time(work.session)
        return [event.id for event in rows if read_facts(event).ends_at > now]

    async def mark_completed(self, event_id: int) -> None:
        statement = (
            update(EventRow)
            .where(EventRow.id == event_id, EventRow.status == EventStatus.ACTIVE)
            .values(status=EventStatus.COMPLETED, updated_at=func.now())
            .returning(EventRow.slug)
        )
        async with self._database.unit_of_work() as work:
            slug = await work.session.scalar(statement)
            if slug is not None:
                work.changed(messages.EVENT_CHANGED, slug)

    async def find_creation_message(self, event_id: int) -> int | None:
        statement = select(NotificationRow.id).where(
            NotificationRow.event_id == event_id,
            NotificationRow.cause == Cause.CREATED,
            NotificationRow.finished_at.is_(None),
        )
        async with self._database.unit_of_work() as work:
            found: int | None = await work.session.scalar(statement)
            return found

    async def purge_deleted(self, before: datetime) -> int:
        open_message = exists().where(NotificationRow.event_id == EventRow.id, NotificationRow.finished_at.is_(None))
        statement = delete(EventRow).where(EventRow.deleted_at < before, ~open_message).returning(EventRow.id)
        async with self._database.unit_of_work() as work:
            # Signals that were sent so long ago are never sent again.
            await work.session.execute(delete(OutboxRow).where(OutboxRow.told_at < before))
            lane = SendLaneRow
            await work.session.execute(delete(lane).where(lane.free_at < before, lane.blocked_until < before))
            return len((await work.session.scalars(statement)).all())

    async def purge_strangers(self, unconfirmed_before: datetime, gone_before: datetime) -> int:
        row, contact, event = SubscriptionRow, ContactRow, EventRow
        unconfirmed = (row.state == SubscriptionState.PENDING) & (
            func.coalesce(row.confirm_until, row.created_at) < unconfirmed_before
        )
        left = (row.state == SubscriptionState.LEFT) & (row.changed_at < gone_before)
        # Its organiser may have ended it long before its time. A cancelled one may be reopened until then.
        ended_early = (event.status == EventStatus.COMPLETED) & (event.updated_at < gone_before)
        over = exists().where(event.id == row.event_id, or_(ends_at() < gone_before, ended_early))
        unused = ~exists().where(row.contact_id == contact.id)
        async with self._database.unit_of_work() as work:
            await work.session.execute(delete(row).where(row.contact_id.is_not(None), or_(unconfirmed, left, over)))
            gone = delete(contact).where(unused, contact.created_at < unconfirmed_before).returning(contact.id)
            return len((await work.session.scalars(gone)).all())

    async def _load_row(self, event_id: int) -> EventRow | None:
        async with self._database.unit_of_work() as work:
            return await work.session.get(EventRow, event_id)


async def _drop_unsent_updates(session: AsyncSession, row: EventRow, from_version: int) -> None:
    """Drop messages that an earlier attempt wrote and nobody got, because another edit came meanwhile."""
    version = cast(NotificationRow.version, Integer)
    begun = exists().where(DeliveryRow.notification_id == NotificationRow.id)
    await session.execute(
        delete(NotificationRow).where(
            NotificationRow.event_id == row.id,
            NotificationRow.cause == Cause.UPDATED,
            version > from_version,
            version < row.version,
            ~begun,
        )
    )
