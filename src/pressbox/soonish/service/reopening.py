"""Takes back the cancellation of an event, inside a unit of work."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import UnitOfWork
from pressbox.core.quotas.store import demand
from pressbox.delivery.domain.attempts import DeliveryState, Level
from pressbox.soonish.adapters import event_rows, messages
from pressbox.soonish.adapters.ledger import end_message
from pressbox.soonish.adapters.outbox import add_signal
from pressbox.soonish.adapters.rows import DeliveryRow, EventRow, NotificationRow, SubscriptionRow
from pressbox.soonish.contracts import EventUpdated, ManualNotificationSent
from pressbox.soonish.domain.delivery import Cause, SkipReason
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.messages import write_new_date, write_reopening
from pressbox.soonish.service.quotas import MESSAGES

# Whoever was skipped has heard nothing of the cancellation.
_TOLD = (DeliveryState.SENT, DeliveryState.UNCERTAIN, DeliveryState.FAILED)


async def reopen_event(work: UnitOfWork, row: EventRow) -> None:
    """Make a cancelled event what it was before; its calendar entry gets a higher version."""
    row.version += 1
    await event_rows.save_version(work.session, row)
    if row.subject is None and await _find_message(work.session, row.id, Cause.CREATED) is None:
        # It was never published.
        row.status = EventStatus.DRAFT
        return
    row.status = EventStatus.ACTIVE
    # Plans the reminders again; nothing that people see has changed, so it makes no message of its own.
    await add_signal(work.session, row.id, EventUpdated, version=row.version)
    await _tell_people(work, row)


async def _tell_people(work: UnitOfWork, row: EventRow) -> None:
    cancellation = await _find_message(work.session, row.id, Cause.CANCELLED)
    if cancellation is None:
        return
    if cancellation.finished_at is None:
        await end_message(work, cancellation.id, SkipReason.BROADCAST_CANCELLED, cancelled=True)
    told = select(DeliveryRow.subscription_id).where(
        DeliveryRow.notification_id == cancellation.id, DeliveryRow.state.in_(_TOLD)
    )
    if await work.session.scalar(told.limit(1)) is None:
        return
    if row.organiser_id is not None:
        await demand(work.session, MESSAGES, row.organiser_id)
    facts = event_rows.read_facts(row)
    notification_id = await messages.accept_message(
        work.session,
        row.id,
        Cause.REOPENED,
        str(row.version),
        Level.CRITICAL,
        write_reopening(facts) if row.subject is None else write_new_date(facts),
        messages.everybody() & SubscriptionRow.id.in_(told),
        created_by=row.organiser_id,
    )
    await add_signal(work.session, row.id, ManualNotificationSent, notification_id=notification_id)
    work.changed(messages.NOTIFICATION_CHANGED, str(notification_id))


async def _find_message(session: AsyncSession, event_id: int, cause: Cause) -> NotificationRow | None:
    """The latest message of this cause."""
    row = NotificationRow
    statement = select(row).where(row.event_id == event_id, row.cause == cause).order_by(row.id.desc()).limit(1)
    found: NotificationRow | None = await session.scalar(statement)
    return found
