"""Reminder schedules on Temporal: one action each, at one second in UTC."""

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

from pressbox.core.temporal.client import reaching_temporal
from pressbox.soonish.contracts import ReminderWorkflowInput
from pressbox.soonish.domain.reminders import CATCH_UP, WantedReminder
from pressbox.soonish.ids import REMINDER_WORKFLOW, reminder_schedule_id

CALLS_AT_ONCE = 32
# A schedule looks only forward from the moment it was made or changed. One whose moment comes while the call is under
# way would never act, so it is told to act at once; if it acts again at its moment, the ledger knows the message.
TOO_SOON = timedelta(seconds=5)


class TemporalReminderSchedules:
    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue
        self._places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def create(self, event_id: int, reminder: WantedReminder) -> None:
        """One that exists already was left by a crash before it was noted, perhaps for another start: it is moved."""
        async with self._calling():
            try:
                await self._create(event_id, reminder, at_once=_soon(reminder))
            except ScheduleAlreadyRunningError:
                await self._move(event_id, reminder)

    async def move(self, event_id: int, reminder: WantedReminder) -> None:
        async with self._calling():
            try:
                await self._move(event_id, reminder)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                # It fired and was removed in this moment.
                await self._create(event_id, reminder, at_once=_soon(reminder))

    async def fire(self, event_id: int, reminder: WantedReminder) -> None:
        async with self._calling():
            try:
                await self._handle(event_id, *reminder.key).trigger(overlap=ScheduleOverlapPolicy.SKIP)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                await self._create(event_id, reminder, at_once=True)

    async def delete(self, event_id: int, subscription_id: int, offset_seconds: int) -> None:
        async with self._calling():
            try:
                await self._handle(event_id, subscription_id, offset_seconds).delete()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise

    async def _create(self, event_id: int, reminder: WantedReminder, *, at_once: bool) -> None:
        await self._client.create_schedule(
            reminder_schedule_id(event_id, *reminder.key),
            self._schedule(event_id, reminder),
            trigger_immediately=at_once,
        )

    async def _move(self, event_id: int, reminder: WantedReminder) -> None:
        """The whole schedule, with its one action: it may have acted for the old start in this moment.

        The SDK's own update asks for a description first. That is a query of the schedule's workflow, slower than
        everything else together when many move at once, and we know what it would say.
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
        if _soon(reminder):
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
                ),
                id=reminder_schedule_id(event_id, subscription_id, offset_seconds),
                task_queue=self._task_queue,
            ),
            spec=ScheduleSpec(calendars=[_exactly(reminder.fire_at)]),
            # Two at once would be two messages: while one reminder is being sent another start is skipped.
            policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=CATCH_UP),
            state=ScheduleState(limited_actions=True, remaining_actions=1),
        )

    @asynccontextmanager
    async def _calling(self) -> AsyncIterator[None]:
        async with self._places:
            with reaching_temporal():
                yield


def _soon(reminder: WantedReminder) -> bool:
    return reminder.fire_at <= datetime.now(UTC) + TOO_SOON


def _exactly(moment: datetime) -> ScheduleCalendarSpec:
    utc = moment.astimezone(UTC)
    return ScheduleCalendarSpec(
        second=[ScheduleRange(utc.second)],
        minute=[ScheduleRange(utc.minute)],
        hour=[ScheduleRange(utc.hour)],
        day_of_month=[ScheduleRange(utc.day)],
        month=[ScheduleRange(utc.month)],
        year=[ScheduleRange(utc.year)],
    )
