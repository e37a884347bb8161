"""The outbox in PostgreSQL: signals that are committed with a change and then sent to workflows."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import func, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.rows import OutboxRow
from pressbox.soonish.contracts import (
    EventCancelled,
    EventUpdated,
    ManualNotificationSent,
    MessageResent,
    OutboxEntry,
    OutboxMessage,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
)
from pressbox.soonish.domain.reminders import DEFAULT_OFFSETS

_SIGNALS: dict[str, type[OutboxEntry]] = {
    kind.__name__: kind
    for kind in (
        ParticipantAdded,
        ParticipantRemoved,
        ParticipantChanged,
        EventUpdated,
        ManualNotificationSent,
        EventCancelled,
        MessageResent,
    )
}
# One teller for each event: two would tell its rows out of order.
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('soonish.outbox', :event_id))")
_CLAIM = text("""
    WITH next AS MATERIALIZED (
        SELECT id FROM soonish.outbox
        WHERE told_at IS NULL AND event_id = :event_id AND NOT EXISTS (
            SELECT FROM soonish.outbox AS busy
            WHERE busy.told_at IS NULL AND busy.event_id = :event_id AND busy.claimed_until > clock_timestamp())
        -- Nothing that people are told waits behind sign-ups.
        ORDER BY signal LIKE 'Participant%', id LIMIT :limit
    )
    UPDATE soonish.outbox AS row SET claimed_until = clock_timestamp() + CAST(:lease AS interval)
    FROM next WHERE row.id = next.id
    RETURNING row.id, row.signal, row.payload
""")
# In a large event somebody who joins shares schedules that are there, and somebody who leaves has none of their own.
_SETTLE = text("""
    UPDATE soonish.outbox AS row SET told_at = now()
    FROM soonish.subscriptions AS person, soonish.events AS event
    WHERE row.told_at IS NULL AND row.claimed_until IS NULL AND row.event_id = :event_id
      AND row.signal IN ('ParticipantAdded', 'ParticipantChanged', 'ParticipantRemoved')
      AND person.id = CAST(row.payload ->> 'subscription_id' AS bigint) AND event.id = row.event_id
      AND EXISTS (SELECT FROM soonish.reminder_groups AS shared WHERE shared.event_id = event.id)
      AND NOT EXISTS (SELECT FROM soonish.reminder_schedules AS own WHERE own.subscription_id = person.id)
      AND (person.state <> 'active' OR NOT EXISTS (
        SELECT FROM unnest(CASE WHEN person.own_offsets THEN ARRAY(
                SELECT chosen.offset_seconds FROM soonish.reminder_offsets AS chosen
                WHERE chosen.subscription_id = person.id)
            ELSE CAST(:defaults AS integer[]) END) AS wanted (seconds)
        WHERE NOT EXISTS (
            SELECT FROM soonish.reminder_groups AS shared
            WHERE shared.event_id = event.id AND shared.offset_seconds = wanted.seconds
              AND shared.start_date = event.start_date
              -- What is due soon may be fired already, and what has passed is said to be too late.
              AND shared.start_date - make_interval(secs => wanted.seconds) > now() + interval '2 minutes')))
""")
_WAITING = text("""
    SELECT event_id FROM soonish.outbox
    WHERE told_at IS NULL AND (claimed_until IS NULL OR claimed_until <= clock_timestamp())
      AND created_at < clock_timestamp() - interval '2 seconds'
    GROUP BY event_id ORDER BY min(id) LIMIT :limit
""")
# Participants are left out: a workflow that starts compares the schedules of everybody.
_TELL_AGAIN = text("""
    UPDATE soonish.outbox AS row SET told_at = NULL, claimed_until = NULL
    FROM soonish.notifications AS message
    WHERE row.event_id = :event_id AND row.told_at IS NOT NULL AND message.finished_at IS NULL
      AND message.id = CAST(row.payload ->> 'notification_id' AS bigint)
""")


class SqlOutbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, event_id: int, lease: timedelta, limit: int) -> Sequence[OutboxEntry]:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_LOCK, {"event_id": event_id})
            found = await work.session.execute(_CLAIM, {"event_id": event_id, "lease": lease, "limit": limit})
            return [_to_signal(*row) for row in sorted(found.tuples(), key=lambda row: row[0])]

    async def settle(self, event_id: int) -> None:
        defaults = [int(offset.total_seconds()) for offset in DEFAULT_OFFSETS]
        async with self._database.unit_of_work() as work:
            await work.session.execute(_SETTLE, {"event_id": event_id, "defaults": defaults})

    async def release(self, outbox_ids: Iterable[int]) -> None:
        mine = OutboxRow.id.in_(list(outbox_ids)) & OutboxRow.told_at.is_(None)
        async with self._database.unit_of_work() as work:
            await work.session.execute(update(OutboxRow).where(mine).values(claimed_until=None))

    async def load_waiting(self, limit: int) -> Sequence[int]:
        async with self._database.unit_of_work() as work:
            return list(await work.session.scalars(_WAITING, {"limit": limit}))

    async def tell_again(self, event_id: int) -> None:
        async with self._database.unit_of_work() as work:
            await work.session.execute(_TELL_AGAIN, {"event_id": event_id})

    async def mark_sent(self, outbox_ids: Iterable[int]) -> None:
        statement = (
            update(OutboxRow)
            .where(OutboxRow.id.in_(list(outbox_ids)), OutboxRow.told_at.is_(None))
            .values(told_at=func.now())
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)


async def add_signal(session: AsyncSession, event_id: int, kind: type[OutboxMessage], **payload: Any) -> None:
    """Write a signal in the transaction of the change itself."""
    session.add(OutboxRow(event_id=event_id, signal=kind.__name__, payload=payload))
    await session.flush()


def _to_signal(number: int, signal: str, payload: dict[str, Any]) -> OutboxEntry:
    return _SIGNALS[signal].model_validate({**payload, "outbox_id": number})
