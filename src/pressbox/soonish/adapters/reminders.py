"""Subscriptions and their reminder schedules in PostgreSQL."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, ColumnElement, Text, any_, delete, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from pressbox.core.db.database import Database
from pressbox.soonish.adapters.messages import EVENT_CHANGED
from pressbox.soonish.adapters.recipients import one_of
from pressbox.soonish.adapters.rows import (
    DeliveryRow,
    EventRow,
    ReminderGroupRow,
    ReminderOffsetRow,
    ReminderScheduleRow,
    RequestedReminderRow,
    SubscriptionRow,
    TooLateRow,
)
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.reminders import (
    EVERYBODY,
    Circumstances,
    ReminderOutcome,
    Subscriber,
    SubscriptionState,
    TooLate,
    WantedReminder,
    message_version,
)
from pressbox.soonish.reminder_ports import RequestedReminder

# One array per column: the number of parameters of a statement is limited, the length of an array is not.
_RECORD_SCHEDULES = text(
    "INSERT INTO soonish.reminder_schedules (event_id, subscription_id, offset_seconds, start_date)"
    " SELECT CAST(:event_id AS bigint), wanted.* FROM unnest(CAST(:subscriptions AS bigint[]),"
    " CAST(:offsets AS integer[]), CAST(:starts AS timestamptz[])) AS wanted"
    " ON CONFLICT (subscription_id, offset_seconds)"
    " DO UPDATE SET start_date = excluded.start_date, event_id = excluded.event_id"
)
_FORGET_SCHEDULES = text(
    "DELETE FROM soonish.reminder_schedules AS found"
    " USING unnest(CAST(:subscriptions AS bigint[]), CAST(:offsets AS integer[])) AS gone (subscription_id, seconds)"
    " WHERE found.subscription_id = gone.subscription_id AND found.offset_seconds = gone.seconds"
)
_CLEAR_TOO_LATE = text(
    "DELETE FROM soonish.too_late_reminders AS found"
    " USING unnest(CAST(:subscriptions AS bigint[]), CAST(:offsets AS integer[])) AS gone (subscription_id, seconds)"
    " WHERE found.subscription_id = gone.subscription_id AND found.offset_seconds = gone.seconds"
)
_CLEAR_SHARED = text(
    "DELETE FROM soonish.too_late_reminders AS found USING soonish.subscriptions AS person"
    " WHERE person.event_id = :event_id AND found.subscription_id = person.id AND found.offset_seconds = :offset"
)
_OVERDUE = text("""
    SELECT event_id, offset_seconds, start_date FROM (
        SELECT event_id, offset_seconds, start_date FROM soonish.reminder_schedules
        UNION
        SELECT event_id, offset_seconds, start_date FROM soonish.reminder_groups
    ) AS planned
    WHERE start_date - make_interval(secs => offset_seconds) < :before
    ORDER BY start_date - make_interval(secs => offset_seconds), event_id, offset_seconds LIMIT :limit
""")


class SqlReminders:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_subscribers(self, event_id: int, subscription_id: int | None = None) -> Sequence[Subscriber]:
        offset = ReminderOffsetRow.offset_seconds
        statement = (
            select(
                SubscriptionRow.id,
                SubscriptionRow.state,
                SubscriptionRow.own_offsets,
                func.array_agg(aggregate_order_by(offset, offset.desc())).filter(offset.is_not(None)),
            )
            .outerjoin(ReminderOffsetRow, ReminderOffsetRow.subscription_id == SubscriptionRow.id)
            .where(SubscriptionRow.event_id == event_id)
            .group_by(SubscriptionRow.id)
            .order_by(SubscriptionRow.id)
        )
        if subscription_id is not None:
            statement = statement.where(SubscriptionRow.id == subscription_id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.execute(statement)).all()
        return [
            Subscriber(key, SubscriptionState(state), _to_offsets(offsets) if own else None)
            for key, state, own, offsets in rows
        ]

    async def load_schedules(
        self, event_id: int, subscription_id: int | None = None
    ) -> Mapping[tuple[int, int], datetime]:
        statement = select(ReminderScheduleRow).where(ReminderScheduleRow.event_id == event_id)
        if subscription_id is not None:
            statement = statement.where(ReminderScheduleRow.subscription_id == subscription_id)
        async with self._database.unit_of_work() as work:
            rows = (await work.session.scalars(statement)).all()
            shared = await work.session.scalars(select(ReminderGroupRow).where(ReminderGroupRow.event_id == event_id))
            found = {(row.subscription_id, row.offset_seconds): row.start_date for row in rows}
            return found | {(EVERYBODY, row.offset_seconds): row.start_date for row in shared}

    async def count_schedules(self, event_id: int) -> int:
        mine = ReminderScheduleRow.event_id == event_id
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(select(func.count()).where(mine)) or 0

    async def record_schedules(self, event_id: int, reminders: Iterable[WantedReminder]) -> None:
        every = list(reminders)
        items = [item for item in every if item.subscription_id != EVERYBODY]
        shared = [item for item in every if item.subscription_id == EVERYBODY]
        subscriptions, offsets = _columns(item.key for item in items)
        starts = [item.start_date for item in items]
        async with self._database.unit_of_work() as work:
            await work.session.execute(
                _RECORD_SCHEDULES,
                {"event_id": event_id, "subscriptions": subscriptions, "offsets": offsets, "starts": starts},
            )
            await work.session.execute(_CLEAR_TOO_LATE, {"subscriptions": subscriptions, "offsets": offsets})
            for item in shared:
                await work.session.execute(_CLEAR_SHARED, {"event_id": event_id, "offset": item.key[1]})
                values = {"event_id": event_id, "offset_seconds": item.key[1], "start_date": item.start_date}
                written = insert(ReminderGroupRow).values(**values)
                keys = [ReminderGroupRow.event_id, ReminderGroupRow.offset_seconds]
                await work.session.execute(
                    written.on_conflict_do_update(index_elements=keys, set_={"start_date": item.start_date})
                )

    async def forget_schedules(self, event_id: int, keys: Iterable[tuple[int, int]]) -> None:
        own, shared = _part(keys)
        subscriptions, offsets = _columns(own)
        async with self._database.unit_of_work() as work:
            await work.session.execute(_FORGET_SCHEDULES, {"subscriptions": subscriptions, "offsets": offsets})
            if shared:
                row = ReminderGroupRow
                gone = delete(row).where(row.event_id == event_id, row.offset_seconds.in_(shared))
                await work.session.execute(gone)

    async def record_too_late(self, event_id: int, offsets: Iterable[TooLate]) -> None:
        async with self._database.unit_of_work() as work:
            event = await work.session.get(EventRow, event_id)
            if event is None:
                return
            passed = {
                message_version(WantedReminder(item.subscription_id, item.offset, event.start_date)): item
                for item in offsets
            }
            # A reminder that has fired for this start has passed as well, but was not too late.
            row = DeliveryRow
            fired = await work.session.scalars(
                select(row.version).where(
                    row.subscription_id == one_of([item.subscription_id for item in passed.values()]),
                    row.cause == Cause.REMINDER,
                    row.version == any_(literal(list(passed), ARRAY(Text))),
                )
            )
            rows = [_to_values(passed[version]) for version in passed.keys() - set(fired)]
            if rows:
                await work.session.execute(insert(TooLateRow).on_conflict_do_nothing(), rows)
                work.changed(EVENT_CHANGED, event.slug)

    async def load_circumstances(self, event_id: int, subscription_id: int) -> Circumstances:
        mine: ColumnElement[bool] = (SubscriptionRow.event_id == EventRow.id) & (SubscriptionRow.id == subscription_id)
        statement = (
            select(EventRow.status, EventRow.start_date, SubscriptionRow.state)
            .outerjoin(SubscriptionRow, mine)
            .where(EventRow.id == event_id)
        )
        async with self._database.unit_of_work() as work:
            found = (await work.session.execute(statement)).one_or_none()
        if found is None:
            return Circumstances(None, None, None)
        status, start_date, state = found
        return Circumstances(EventStatus(status), start_date, SubscriptionState(state) if state else None)

    async def load_overdue(self, before: datetime, limit: int) -> Sequence[tuple[int, WantedReminder]]:
        async with self._database.unit_of_work() as work:
            found = await work.session.execute(_OVERDUE, {"before": before, "limit": limit})
            return [
                (event_id, WantedReminder(EVERYBODY, timedelta(seconds=seconds), start))
                for event_id, seconds, start in found.tuples()
            ]

    async def load_unstarted_requests(self) -> Sequence[RequestedReminder]:
        row = RequestedReminderRow
        statement = (
            select(SubscriptionRow.event_id, row.subscription_id, row.id, row.fire_at)
            .join(SubscriptionRow, SubscriptionRow.id == row.subscription_id)
            .where(row.started_at.is_(None), row.cancelled_at.is_(None))
            .order_by(row.id)
        )
        async with self._database.unit_of_work() as work:
            return [RequestedReminder(*found) for found in (await work.session.execute(statement)).tuples()]

    async def mark_request_started(self, reminder_id: int) -> None:
        row = RequestedReminderRow
        statement = update(row).where(row.id == reminder_id, row.started_at.is_(None))
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement.values(started_at=func.now()))

    async def is_request_withdrawn(self, reminder_id: int) -> bool:
        row = RequestedReminderRow
        statement = select(row.id).where(row.id == reminder_id, row.cancelled_at.is_(None))
        async with self._database.unit_of_work() as work:
            return await work.session.scalar(statement) is None

    async def record_request_outcome(self, reminder_id: int, outcome: ReminderOutcome) -> None:
        statement = update(RequestedReminderRow).where(RequestedReminderRow.id == reminder_id).values(outcome=outcome)
        async with self._database.unit_of_work() as work:
            await work.session.execute(statement)


def _part(keys: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[int]]:
    """Schedules of one person each, and the offsets of those that everybody shares."""
    every = list(keys)
    shared = [seconds for subscription_id, seconds in every if subscription_id == EVERYBODY]
    return [key for key in every if key[0] != EVERYBODY], shared


def _to_offsets(seconds: Sequence[int] | None) -> tuple[timedelta, ...]:
    return tuple(timedelta(seconds=item) for item in seconds or ())


def _columns(keys: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    pairs = list(keys)
    return [subscription_id for subscription_id, _ in pairs], [seconds for _, seconds in pairs]


def _to_values(item: TooLate) -> dict[str, int]:
    return {"subscription_id": item.subscription_id, "offset_seconds": int(item.offset.total_seconds())}
