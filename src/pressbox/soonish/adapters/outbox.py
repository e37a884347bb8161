"""The outbox in PostgreSQL: signals that are committed with a change and then sent to workflows."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.rows import OutboxRow
from pressbox.soonish.contracts import (
    EventCancelled,
    EventSignal,
    EventUpdated,
    ManualNotificationSent,
    OutboxMessage,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
)

_SIGNALS: dict[str, type[EventSignal]] = {
    kind.__name__: kind
    for kind in (
        ParticipantAdded,
        ParticipantRemoved,
        ParticipantChanged,
        EventUpdated,
        ManualNotificationSent,
        EventCancelled,
    )
}
_MAX_LOADED = 5_000


class SqlOutbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_unsent(self, event_id: int | None = None) -> Sequence[tuple[int, EventSignal]]:
        statement = select(OutboxRow).where(OutboxRow.told_at.is_(None)).order_by(OutboxRow.id).limit(_MAX_LOADED)
        if event_id is not None:
            statement = statement.where(OutboxRow.event_id == event_id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(statement)).all()
        return [(row.event_id, _to_signal(row)) for row in rows]

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


def _to_signal(row: OutboxRow) -> EventSignal:
    return _SIGNALS[row.signal].model_validate({**row.payload, "outbox_id": row.id})
