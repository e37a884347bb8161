"""The effects of the sweep: what a crash, or Temporal's absence, left undone."""

import asyncio
from collections import defaultdict

from temporalio import activity

from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.soonish.activities.post import Clock, utc_now
from pressbox.soonish.activities.reminder_post import UNEXPECTED, ReminderPost
from pressbox.soonish.contracts import Message, ReminderWorkflowInput, SweepInput, SweepResult
from pressbox.soonish.domain.reminders import CATCH_UP, WantedReminder, judge
from pressbox.soonish.ports import Outbox, Reminders, ReminderSchedules, Workflows


class SweepActivities:
    def __init__(
        self,
        outbox: Outbox,
        workflows: Workflows,
        reminders: Reminders,
        schedules: ReminderSchedules,
        reminder_post: ReminderPost,
        now: Clock = utc_now,
    ) -> None:
        self._outbox = outbox
        self._workflows = workflows
        self._reminders = reminders
        self._schedules = schedules
        self._reminder_post = reminder_post
        self._now = now

    @activity.defn
    async def sweep_outbox(self, input: SweepInput) -> SweepResult:
        """Tell every event's workflow what it has not heard; the workflow ignores what it heard after all."""
        by_event: dict[int, list[Message]] = defaultdict(list)
        for event_id, message in await self._outbox.untold():
            by_event[event_id].append(message)
        async with Heartbeat(every_seconds=2):
            for event_id, messages in by_event.items():
                await self._workflows.tell(event_id, messages)
                await self._outbox.told([message.outbox_id for message in messages])
        told = sum(len(messages) for messages in by_event.values())
        if told:
            activity.logger.info("Told %s messages that were left behind", told)
        return SweepResult(told=told)

    @activity.defn
    async def sweep_asked_reminders(self, input: SweepInput) -> SweepResult:
        asked = await self._reminders.asked_unstarted()
        for reminder in asked:
            await self._workflows.start_asked_reminder(
                reminder.event_id, reminder.subscription_id, reminder.reminder_id, reminder.fire_at
            )
            await self._reminders.note_asked_started([reminder.reminder_id])
        return SweepResult(started=len(asked))

    @activity.defn
    async def sweep_reminders(self, input: SweepInput) -> SweepResult:
        """Schedules that should have fired: within the catch-up window they fire now, after it they were missed."""
        now = self._now()
        overdue = await self._reminders.overdue(now - input.policy.overdue_after)
        late = [item for item in overdue if now > item[1].fire_at + CATCH_UP]
        silent = [item for item in overdue if now <= item[1].fire_at + CATCH_UP]
        async with Heartbeat(every_seconds=2):
            await asyncio.gather(*(self._schedules.fire(event_id, reminder) for event_id, reminder in silent))
            missed = [await self._clear(event_id, reminder) for event_id, reminder in late]
        return SweepResult(fired=len(silent), missed=sum(missed), deleted=len(late))

    async def _clear(self, event_id: int, reminder: WantedReminder) -> bool:
        """Record it as missed unless its person or event is gone, and remove the schedule."""
        circumstances = await self._reminders.circumstances(event_id, reminder.subscription_id)
        reason = judge(reminder.start_date, reminder.offset, circumstances, self._now())
        missed = reason in UNEXPECTED
        if missed and reason is not None:
            await self._reminder_post.skip(input_of(event_id, reminder), reason)
            activity.logger.warning("Reminder %s of event %s could not be sent in time", reminder.key, event_id)
        await self._schedules.delete(event_id, *reminder.key)
        await self._reminders.forget([reminder.key])
        return missed


def input_of(event_id: int, reminder: WantedReminder) -> ReminderWorkflowInput:
    subscription_id, offset_seconds = reminder.key
    return ReminderWorkflowInput(
        event_id=event_id,
        subscription_id=subscription_id,
        offset_seconds=offset_seconds,
        start_date=reminder.start_date,
    )
