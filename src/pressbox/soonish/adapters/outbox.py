"""The outbox in PostgreSQL: what workflows must still be told."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.rows import OutboxRow
from pressbox.soonish.contracts import (
    EventCancelled,
    EventUpdated,
    ManualNotificationSent,
    Message,
    ParticipantAdded,
    ParticipantChanged,
    ParticipantRemoved,
    Told,
)

_KINDS: dict[str, type[Message]] = {
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
_MOST_AT_ONCE = 5_000


class SqlOutbox:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def untold(self, event_id: int | None = None) -> Sequence[tuple[int, Message]]:
        statement = select(OutboxRow).where(OutboxRow.told_at.is_(None)).order_by(OutboxRow.id).limit(_MOST_AT_ONCE)
        if event_id is not None:
            statement = statement.where(OutboxRow.event_id == event_id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(statement)).all()
        return [(row.event_id, _message(row)) for row in rows]

    async def told(self, outbox_ids: Iterable[int]) -> None:
        statement = (
            update(OutboxRow)
            .where(OutboxRow.id.in_(list(outbox_ids)), OutboxRow.told_at.is_(None))
            .values(told_at=func.now())
        )
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)


async def put(session: AsyncSession, event_id: int, kind: type[Told], **payload: Any) -> None:
    """Write what must be told, with the change itself."""
    session.add(OutboxRow(event_id=event_id, signal=kind.__name__, payload=payload))
    await session.flush()


def _message(row: OutboxRow) -> Message:
    return _KINDS[row.signal].model_validate({**row.payload, "outbox_id": row.id})
