"""Activities that make Temporal's reminder schedules match the plan, many at once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import activity
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

from pressbox.core.clock import Clock, utc_now
from pressbox.core.temporal.calls import call_with
from pressbox.delivery.activities.heartbeats import HEARTBEAT_TIMEOUT, heartbeat
from pressbox.soonish.activities.reminder_dispatch import wanted_reminder
from pressbox.soonish.contracts import ReminderWorkflowInput, ScheduleChange, ScheduleInput
from pressbox.soonish.domain.reminders import (
    EVERYBODY,
    ReminderPlan,
    ScheduleDifference,
    WantedReminder,
    compare_schedules,
    plan_reminders,
    share_schedules,
)
from pressbox.soonish.ports import Events
from pressbox.soonish.reminder_ports import Reminders, ReminderSchedules

CHANGE_SCHEDULES = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=HEARTBEAT_TIMEOUT,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=2
    ),
)

GROUP_SIZE = 200
# An event with more reminders than this is large: everybody who chose one offset shares a schedule.
MOST_OWN_SCHEDULES = 200
# A change is planned a moment after it was made: a reminder that came due in between is still sent, at once. One that
# was already sent for this start is known to the ledger and not sent again.
PLANNING_DELAY = timedelta(minutes=1)
ItemT = TypeVar("ItemT")


class ScheduleActivities:
    def __init__(
        self,
        events: Events,
        reminders: Reminders,
        schedules: ReminderSchedules,
        now: Clock = utc_now,
        most_own: int = MOST_OWN_SCHEDULES,
    ) -> None:
        self._events = events
        self._reminders = reminders
        self._schedules = schedules
        self._now = now
        self._most_own = most_own

    @activity.defn
    @call_with(CHANGE_SCHEDULES)
    async def create_reminder_schedules(self, input: ScheduleInput) -> ScheduleChange:
        return await self._reconcile(input.event_id, None)

    @activity.defn
    @call_with(CHANGE_SCHEDULES)
    async def create_reminder_schedules_for_subscription(self, input: ScheduleInput) -> ScheduleChange:
        return await self._reconcile(input.event_id, input.subscription_id)

    @activity.defn
    @call_with(CHANGE_SCHEDULES)
    async def delete_reminder_schedules(self, input: ScheduleInput) -> ScheduleChange:
        existing = await self._reminders.load_schedules(input.event_id, input.subscription_id)
        mine = [key for key in existing if input.subscription_id in (None, key[0])]
        difference = ScheduleDifference(create=(), move=(), delete=tuple(mine))
        await self._apply(input.event_id, difference)
        return ScheduleChange(deleted=len(difference.delete))

    @activity.defn
    @call_with(CHANGE_SCHEDULES)
    async def remove_fired_schedule(self, input: ReminderWorkflowInput) -> None:
        """Delete a schedule that fired, unless the event has moved: then the schedule waits for its new time.

        Deleting and moving can overlap. Whoever moves the event has committed the new start before, so reading it once
        more after the delete shows it, and the schedule is created again.
        """
        start = input.start_date
        if await self._find_new_start(input.event_id, start) is not None:
            return
        fired = [wanted_reminder(input).key, *await self._find_own_schedules(input)]
        await self._apply(input.event_id, ScheduleDifference(create=(), move=(), delete=tuple(fired)))
        while (new_start := await self._find_new_start(input.event_id, start)) is not None:
            start = new_start
            await self._create_again(input)

    async def _find_own_schedules(self, input: ReminderWorkflowInput) -> Sequence[tuple[int, int]]:
        """Those of single people, made for the start of which everybody was reminded."""
        if input.subscription_id != EVERYBODY:
            return ()
        existing = await self._reminders.load_schedules(input.event_id)
        return [
            key
            for key, start in existing.items()
            if key[0] != EVERYBODY and key[1] == input.offset_seconds and start == input.start_date
        ]

    async def _find_new_start(self, event_id: int, start: datetime) -> datetime | None:
        """The event's start, if it is not this one any more."""
        details = await self._events.load_details(event_id)
        return details.start_date if details and details.start_date != start else None

    async def _create_again(self, input: ReminderWorkflowInput) -> None:
        if input.subscription_id == EVERYBODY:
            await self._reconcile(input.event_id, None)
            return
        plan = await self._plan(input.event_id, input.subscription_id)
        again = [reminder for reminder in plan.wanted if reminder.key == wanted_reminder(input).key]
        await self._apply(input.event_id, ScheduleDifference(create=tuple(again), move=(), delete=()))

    async def _reconcile(self, event_id: int, subscription_id: int | None) -> ScheduleChange:
        plan = await self._plan(event_id, subscription_id)
        existing = await self._reminders.load_schedules(event_id, subscription_id)
        # Once an event was large it stays so, until nobody wants a reminder: going to and fro would help nobody.
        is_large = any(key[0] == EVERYBODY for key in existing)
        if subscription_id is None:
            is_large = is_large or len(plan.wanted) > self._most_own
        elif not is_large and await self._reminders.count_schedules(event_id) + len(plan.wanted) > self._most_own:
            return await self._reconcile(event_id, None)
        if is_large:
            plan = share_schedules(plan)
        if is_large and subscription_id is not None:
            # Others share these too: what this person does not want is not deleted.
            wanted = {reminder.key for reminder in plan.wanted}
            existing = {key: start for key, start in existing.items() if key[0] != EVERYBODY or key in wanted}
        difference = compare_schedules(plan.wanted, existing)
        await self._apply(event_id, difference)
        if plan.too_late:
            await self._reminders.record_too_late(event_id, plan.too_late)
        return ScheduleChange(
            created=len(difference.create),
            moved=len(difference.move),
            deleted=len(difference.delete),
            # Each text once: an event with ten thousand subscribers has the same few offsets ten thousand times.
            too_late=tuple(sorted({str(item) for item in plan.too_late})),
        )

    async def _plan(self, event_id: int, subscription_id: int | None) -> ReminderPlan:
        details = await self._events.load_details(event_id)
        if details is None:
            return ReminderPlan((), ())
        subscribers = await self._reminders.load_subscribers(event_id, subscription_id)
        return plan_reminders(details.status, details.start_date, subscribers, self._now() - PLANNING_DELAY)

    async def _apply(self, event_id: int, difference: ScheduleDifference) -> None:
        """Change Temporal first, then the database: what a crash leaves unrecorded is done again, which is harmless."""

        async def record(done: Sequence[WantedReminder]) -> None:
            await self._reminders.record_schedules(event_id, done)

        async def delete(key: tuple[int, int]) -> None:
            await self._schedules.delete(event_id, *key)

        async def forget(done: Sequence[tuple[int, int]]) -> None:
            await self._reminders.forget_schedules(event_id, done)

        async with heartbeat():
            await _run_in_groups(difference.create, lambda item: self._schedules.create(event_id, item), record)
            await _run_in_groups(difference.move, lambda item: self._schedules.move(event_id, item), record)
            await _run_in_groups(difference.delete, delete, forget)


async def _run_in_groups(
    items: Sequence[ItemT],
    change: Callable[[ItemT], Awaitable[None]],
    record: Callable[[Sequence[ItemT]], Awaitable[None]],
) -> None:
    """Change a group at once and record those that worked, also when one of them failed."""
    for first in range(0, len(items), GROUP_SIZE):
        group = items[first : first + GROUP_SIZE]
        outcomes = await asyncio.gather(*(change(item) for item in group), return_exceptions=True)
        done = [item for item, outcome in zip(group, outcomes, strict=True) if outcome is None]
        if done:
            await record(done)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
