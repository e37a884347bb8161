"""Keeps an event's reminder schedules in step beside its messages: people hear of a change first."""

import asyncio
from collections.abc import Awaitable, Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from pressbox.core.temporal.calls import call_until_success, failure_reason
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.contracts import ScheduleChange, ScheduleInput
from pressbox.soonish.domain.reminders import EVERYBODY
from pressbox.soonish.workflows.retries import PAUSES

ScheduleActivity = Callable[[ScheduleActivities, ScheduleInput], Awaitable[ScheduleChange]]
PLAN_ALL = ScheduleActivities.create_reminder_schedules
PLAN_ONE = ScheduleActivities.create_reminder_schedules_for_subscription
DELETE = ScheduleActivities.delete_reminder_schedules
# About an hour and a half. A schedule that is left over reminds nobody: its workflow reads the event again.
ROUNDS = 20
# Runs that began before it change the schedules of one person after the other, as their histories say.
COALESCED = "2026-11-coalesced"
MOST_JOBS = 10


class Housekeeping:
    """Changes schedules one job after the other, in a task of its own that no message waits for."""

    def __init__(self, event_id: int) -> None:
        self._event_id = event_id
        self._jobs: dict[tuple[ScheduleActivity, int | None], None] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        return bool(self._jobs) or (self._task is not None and not self._task.done())

    async def change(self, activity: ScheduleActivity, subscription_id: int | None, *, beside: bool) -> None:
        """Change schedules `beside` the messages, or now."""
        if beside:
            self.add(activity, subscription_id)
            return
        input = ScheduleInput(event_id=self._event_id, subscription_id=subscription_id)
        await call_until_success(activity, input, pauses=PAUSES)

    def add(self, activity: ScheduleActivity, subscription_id: int | None = None) -> None:
        if subscription_id == EVERYBODY:
            # Many signed up at once and were told as one.
            activity, subscription_id = PLAN_ALL, None
        self._jobs[(activity, subscription_id)] = None
        if len(self._jobs) > MOST_JOBS and workflow.patched(COALESCED):
            # It compares everybody's, deletes what nobody wants, and is one job however many signed up.
            self._jobs = {(PLAN_ALL, None): None}
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def finish(self) -> None:
        await workflow.wait_condition(lambda: not self.is_busy)

    async def _work(self) -> None:
        while self._jobs:
            activity, subscription_id = next(iter(self._jobs))
            del self._jobs[(activity, subscription_id)]
            input = ScheduleInput(event_id=self._event_id, subscription_id=subscription_id)
            try:
                await call_until_success(activity, input, rounds=ROUNDS, pauses=PAUSES)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                workflow.logger.warning("Schedules stay as they are: %s", failure_reason(error))
