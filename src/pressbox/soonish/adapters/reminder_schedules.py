"""Reminder schedules in Temporal: each fires once, at an exact second in UTC."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from temporalio.api.workflowservice.v1 import UpdateScheduleRequest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleHandle,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.clock import utc_now
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.soonish.contracts import ReminderWorkflowInput, SoonishPolicy
from pressbox.soonish.domain.reminders import CATCH_UP_WINDOW, EVERYBODY, WantedReminder
from pressbox.soonish.ids import REMINDER_WORKFLOW, reminder_schedule_id

CALLS_AT_ONCE = 32
# A schedule only fires at times after it was created or changed. One whose time comes during the call would never
# fire, so it is triggered at once; if it fires again at its time, the ledger already knows the message.
TOO_SOON = timedelta(seconds=5)


class TemporalReminderSchedules:
    def __init__(self, client: Client, task_queue: str, policy: SoonishPolicy) -> None:
        self._client = client
        self._policy = policy
        self._task_queue = task_queue
        self._slots = asyncio.Semaphore(CALLS_AT_ONCE)

    async def create(self, event_id: int, reminder: WantedReminder) -> None:
        """Move a schedule that exists already: a crash left it unrecorded, perhaps with another start."""
        async with self._calling():
            try:
                await self._create(event_id, reminder, trigger=_fires_soon(reminder))
            except ScheduleAlreadyRunningError:
                await self._move(event_id, reminder)

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        async with self._calling():
            try:
                await self._move(event_id, reminder)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                # It has just fired and was removed.
                await self._create(event_id, reminder, trigger=_fires_soon(reminder))

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None:
        async with self._calling():
            try:
                await self._handle(event_id, subscription_id, offset_seconds).delete()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise

    async def _create(self, event_id: int, reminder: WantedReminder, *, trigger: bool) -> None:
        await self._client.create_schedule(
            reminder_schedule_id(event_id, *reminder.key),
            self._schedule(event_id, reminder),
            trigger_immediately=trigger,
        )

    async def _move(self, event_id: int, reminder: WantedReminder) -> None:
        """Replace the whole schedule, with its one action: it may have just fired for the old start.

        The SDK's own update asks for a description first. That is a query of the schedule's workflow, slower than
        everything else together when many move at once, and we know the answer.
        """
        handle = self._handle(event_id, *reminder.key)
        await self._client.workflow_service.update_schedule(
            UpdateScheduleRequest(
                namespace=self._client.namespace,
                schedule_id=handle.id,
                schedule=await self._schedule(event_id, reminder)._to_proto(self._client),
                identity=self._client.identity,
                request_id=str(uuid4()),
            ),
            retry=True,
        )
        if _fires_soon(reminder):
            # The run for the old start may not have ended: this one waits for it.
            await handle.trigger(overlap=ScheduleOverlapPolicy.BUFFER_ONE)

    def _handle(self, event_id: int, subscription_id: int, offset_seconds: int) -> ScheduleHandle:
        return self._client.get_schedule_handle(reminder_schedule_id(event_id, subscription_id, offset_seconds))

    def _schedule(self, event_id: int, reminder: WantedReminder) -> Schedule:
        subscription_id, offset_seconds = reminder.key
        return Schedule(
            action=ScheduleActionStartWorkflow(
                REMINDER_WORKFLOW,
                ReminderWorkflowInput(
                    event_id=event_id,
                    subscription_id=subscription_id,
                    offset_seconds=offset_seconds,
                    start_date=reminder.start_date,
                    policy=self._policy if subscription_id == EVERYBODY else None,
                ),
                id=reminder_schedule_id(event_id, subscription_id, offset_seconds),
                task_queue=self._task_queue,
            ),
            spec=ScheduleSpec(calendars=[_exact_time(reminder.fire_at)]),
            # Two at once would be two messages: while one reminder is being sent, another start is skipped.
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP_WINDOW),
            state=ScheduleState(limited_actions=True, remaining_actions=1),
        )

    @asynccontextmanager
    async def _calling(self) -> AsyncIterator[None]:
        async with self._slots:
            with translate_rpc_errors():
                yield


def _fires_soon(reminder: WantedReminder) -> bool:
    return reminder.fire_at <= utc_now() + TOO_SOON


def _exact_time(moment: datetime) -> ScheduleCalendarSpec:
    utc = moment.astimezone(UTC)
    return ScheduleCalendarSpec(
        second=[ScheduleRange(utc.second)],
        minute=[ScheduleRange(utc.minute)],
        hour=[ScheduleRange(utc.hour)],
        day_of_month=[ScheduleRange(utc.day)],
        month=[ScheduleRange(utc.month)],
        year=[ScheduleRange(utc.year)],
    )
