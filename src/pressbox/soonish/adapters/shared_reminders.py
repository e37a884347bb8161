"""Writes the reminder for everybody who chose one offset of a large event, inside a unit of work."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import UnitOfWork
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters import messages
from pressbox.soonish.adapters.rows import SubscriptionRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS

# Whoever has it already, because they had a schedule of their own, is left out.
_CHOSE = """
    FROM soonish.subscriptions AS person
    WHERE person.event_id = :event_id AND person.state = 'active'
      AND (CASE WHEN person.own_offsets THEN EXISTS (
            SELECT FROM soonish.reminder_offsets AS chosen
            WHERE chosen.subscription_id = person.id AND chosen.offset_seconds = :offset)
        ELSE :is_default END)
      AND NOT EXISTS (
        SELECT FROM soonish.deliveries AS delivery
        WHERE delivery.subscription_id = person.id AND delivery.cause = 'reminder'
          AND delivery.version = person.id || substr(:version, 4))
"""
_ANYBODY = text(f"SELECT EXISTS (SELECT {_CHOSE})")
_ADD = text(
    "INSERT INTO soonish.notification_recipients (notification_id, subscription_id)"
    f" SELECT :notification_id, person.id {_CHOSE} ON CONFLICT DO NOTHING RETURNING subscription_id"
)
_OPEN_AGAIN = text("UPDATE soonish.notifications SET finished_at = NULL WHERE id = :notification_id")


async def accept(work: UnitOfWork, event_id: int, version: str, text: MessageText, offset_seconds: int) -> int | None:
    """Write it, or add to it whoever chose this offset since; None when nobody is left who has not got it."""
    defaults = {int(offset.total_seconds()) for offset in DEFAULT_OFFSETS}
    chosen = {
        "event_id": event_id,
        "offset": offset_seconds,
        "is_default": offset_seconds in defaults,
        "version": version,
    }
    if not await work.session.scalar(_ANYBODY, chosen) and not await _exists(work.session, event_id, version):
        return None
    nobody = SubscriptionRow.id < 0
    number = await messages.accept_message(work.session, event_id, Cause.REMINDER, version, Level.WARNING, text, nobody)
    added = await work.session.execute(_ADD, {**chosen, "notification_id": number})
    if added.first() is not None:
        await work.session.execute(_OPEN_AGAIN, {"notification_id": number})
    work.changed(messages.NOTIFICATION_CHANGED, str(number))
    return number


async def _exists(session: AsyncSession, event_id: int, version: str) -> bool:
    found = text(
        "SELECT EXISTS (SELECT FROM soonish.notifications"
        " WHERE event_id = :event_id AND cause = 'reminder' AND version = :version AND finished_at IS NULL)"
    )
    return bool(await session.scalar(found, {"event_id": event_id, "version": version}))
