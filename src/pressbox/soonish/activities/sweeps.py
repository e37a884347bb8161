"""Activities of the sweep: they finish what a crash, or an absent Temporal, left undone."""

import asyncio
from collections import defaultdict

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import LONG
from pressbox.soonish.activities.heartbeats import heartbeat
from pressbox.soonish.activities.reminder_dispatch import UNEXPECTED, ReminderDispatcher
from pressbox.soonish.activities.schedules import ScheduleActivities
from pressbox.soonish.contracts import EventSignal, ReminderWorkflowInput, SweepInput, SweepResult
from pressbox.soonish.domain.reminders import CATCH_UP_WINDOW, WantedReminder, find_refusal
from pressbox.soonish.ports import Outbox, Reminders, ReminderSchedules, Workflows


class SweepActivities:
    def __init__(
        self,
        outbox: Outbox,
        workflows: Workflows,
        reminders: Reminders,
        schedules: ReminderSchedules,
        reminder_dispatcher: ReminderDispatcher,
        schedule_activities: ScheduleActivities,
        now: Clock = utc_now,
    ) -> None:
        self._outbox = outbox
        self._workflows = workflows
        self._reminders = reminders
        self._schedules = schedules
        self._reminder_dispatcher = reminder_dispatcher
        self._schedule_activities = schedule_activities
        self._now = now

    @activity.defn
    @call_with(LONG)
    async def sweep_outbox(self, input: SweepInput) -> SweepResult:
        """Send every signal that is still in the outbox; a workflow ignores those that it has already received."""
        by_event: dict[int, list[EventSignal]] = defaultdict(list)
        for event_id, signal in await self._outbox.load_unsent():
            by_event[event_id].append(signal)
        async with heartbeat():
            for event_id, signals in by_event.items():
                await self._workflows.signal_event(event_id, signals)
                await self._outbox.mark_sent([signal.outbox_id for signal in signals])
        sent = sum(len(signals) for signals in by_event.values())
        if sent:
            activity.logger.info("Sent %s signals that were left in the outbox", sent)
        return SweepResult(told=sent)

    @activity.defn
    @call_with(LONG)
    async def sweep_asked_reminders(self, input: SweepInput) -> SweepResult:
        """Start the reminders that people asked for and that have no workflow yet."""
        requests = await self._reminders.load_unstarted_requests()
        for request in requests:
            await self._workflows.start_reminder(request)
            await self._reminders.mark_request_started(request.reminder_id)
        return SweepResult(started=len(requests))

    @activity.defn
    @call_with(LONG)
    async def sweep_reminders(self, input: SweepInput) -> SweepResult:
        """Fire schedules that are overdue; after the catch-up window, record them as missed and delete them."""
        now = self._now()
        overdue = await self._reminders.load_overdue(now - input.policy.overdue_after)
        late = [item for item in overdue if now > item[1].fire_at + CATCH_UP_WINDOW]
        in_time = [item for item in overdue if now <= item[1].fire_at + CATCH_UP_WINDOW]
        async with heartbeat():
            await asyncio.gather(*(self._schedules.fire(event_id, reminder) for event_id, reminder in in_time))
            missed = [await self._remove_late(event_id, reminder) for event_id, reminder in late]
        return SweepResult(fired=len(in_time), missed=sum(missed), deleted=len(late))

    async def _remove_late(self, event_id: int, reminder: WantedReminder) -> bool:
        """Remove the schedule; True if it was missed, False if its person or event is gone."""
        circumstances = await self._reminders.load_circumstances(event_id, reminder.subscription_id)
        reason = find_refusal(reminder.start_date, reminder.offset, circumstances, self._now())
        missed = reason in UNEXPECTED
        if missed and reason is not None:
            await self._reminder_dispatcher.skip(_workflow_input(event_id, reminder), reason)
            activity.logger.warning("Reminder %s of event %s could not be sent in time", reminder.key, event_id)
        # Not simply deleted: the event may move at this moment, and its schedule with it.
        await self._schedule_activities.remove_fired_schedule(_workflow_input(event_id, reminder))
        return missed


def _workflow_input(event_id: int, reminder: WantedReminder) -> ReminderWorkflowInput:
    subscription_id, offset_seconds = reminder.key
    return ReminderWorkflowInput(
        event_id=event_id,
        subscription_id=subscription_id,
        offset_seconds=offset_seconds,
        start_date=reminder.start_date,
    )
