"""The effects on reminder schedules: only what must change is changed, many at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import activity

from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.soonish.activities.post import Clock, utc_now
from pressbox.soonish.activities.reminder_post import reminder_of
from pressbox.soonish.contracts import ReminderWorkflowInput, ScheduleChange, ScheduleInput
from pressbox.soonish.domain.reminders import Difference, Plan, WantedReminder, difference, plan
from pressbox.soonish.ports import Events, Reminders, ReminderSchedules

NOTED_TOGETHER = 200
# A change is planned a moment after it was made: whoever's reminder came due in between still gets it, at once. One
# that was already sent for this start is known to the ledger, and not sent again.
PLANNED_WITHIN = timedelta(minutes=1)
ItemT = TypeVar("ItemT")


class ScheduleActivities:
    def __init__(
        self, events: Events, reminders: Reminders, schedules: ReminderSchedules, now: Clock = utc_now
    ) -> None:
        self._events = events
        self._reminders = reminders
        self._schedules = schedules
        self._now = now

    @activity.defn
    async def create_reminder_schedules(self, input: ScheduleInput) -> ScheduleChange:
        return await self._reconcile(input.event_id, None)

    @activity.defn
    async def create_reminder_schedules_for_subscription(self, input: ScheduleInput) -> ScheduleChange:
        return await self._reconcile(input.event_id, input.subscription_id)

    @activity.defn
    async def delete_reminder_schedules(self, input: ScheduleInput) -> ScheduleChange:
        existing = await self._reminders.existing(input.event_id, input.subscription_id)
        gone = Difference(create=(), move=(), delete=tuple(existing))
        await self._apply(input.event_id, gone)
        return ScheduleChange(deleted=len(gone.delete))

    @activity.defn
    async def remove_fired_schedule(self, input: ReminderWorkflowInput) -> None:
        """A schedule is gone after it fired, unless the event has moved: then it waits for its new moment.

        Deleting and moving can cross. Whoever moves has committed the new start before, so looking once more after the
        delete shows it, and the schedule is made again.
        """
        made_for = input.start_date
        if await self._moved(input.event_id, made_for) is not None:
            return
        await self._schedules.delete(input.event_id, input.subscription_id, input.offset_seconds)
        await self._reminders.forget([reminder_of(input).key])
        while (start := await self._moved(input.event_id, made_for)) is not None:
            made_for = start
            await self._make_again(input)

    async def _moved(self, event_id: int, start: datetime) -> datetime | None:
        """The event's start when it is not this one."""
        details = await self._events.details(event_id)
        return details.start_date if details and details.start_date != start else None

    async def _make_again(self, input: ReminderWorkflowInput) -> None:
        wanted = await self._plan(input.event_id, input.subscription_id)
        again = [reminder for reminder in wanted.wanted if reminder.key == reminder_of(input).key]
        await self._apply(input.event_id, Difference(create=tuple(again), move=(), delete=()))

    async def _reconcile(self, event_id: int, subscription_id: int | None) -> ScheduleChange:
        wanted = await self._plan(event_id, subscription_id)
        change = difference(wanted.wanted, await self._reminders.existing(event_id, subscription_id))
        await self._apply(event_id, change)
        if wanted.too_late:
            await self._reminders.note_too_late(event_id, wanted.too_late)
        return ScheduleChange(
            created=len(change.create),
            moved=len(change.move),
            deleted=len(change.delete),
            # Each wording once: an event with ten thousand subscribers has the same few offsets ten thousand times.
            too_late=tuple(sorted({str(item) for item in wanted.too_late})),
        )

    async def _plan(self, event_id: int, subscription_id: int | None) -> Plan:
        details = await self._events.details(event_id)
        if details is None:
            return Plan((), ())
        subscribers = await self._reminders.subscribers(event_id, subscription_id)
        return plan(details.status, details.start_date, subscribers, self._now() - PLANNED_WITHIN)

    async def _apply(self, event_id: int, change: Difference) -> None:
        """First Temporal, then the note: what a crash leaves unnoted is done again, and doing it again is harmless."""

        async def note(done: Sequence[WantedReminder]) -> None:
            await self._reminders.note(event_id, done)

        async def delete(key: tuple[int, int]) -> None:
            await self._schedules.delete(event_id, *key)

        async with Heartbeat(every_seconds=2):
            await _in_groups(change.create, lambda item: self._schedules.create(event_id, item), note)
            await _in_groups(change.move, lambda item: self._schedules.move(event_id, item), note)
            await _in_groups(change.delete, delete, self._reminders.forget)


async def _in_groups(
    items: Sequence[ItemT],
    act: Callable[[ItemT], Awaitable[None]],
    note: Callable[[Sequence[ItemT]], Awaitable[None]],
) -> None:
    """Act on a group at once and note those that worked, also when one of them failed."""
    for begin in range(0, len(items), NOTED_TOGETHER):
        group = items[begin : begin + NOTED_TOGETHER]
        outcomes = await asyncio.gather(*(act(item) for item in group), return_exceptions=True)
        done = [item for item, outcome in zip(group, outcomes, strict=True) if outcome is None]
        if done:
            await note(done)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
