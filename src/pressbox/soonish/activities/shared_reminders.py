"""Reminds everybody who chose one offset of a large event, or whose own reminders are overdue."""

from dataclasses import replace

from pressbox.core.clock import Clock, utc_now
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.reminder_dispatch import UNEXPECTED, wanted_reminder
from pressbox.soonish.contracts import AcceptedReminder, ReminderWorkflowInput, SendReminderPageInput
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.messages import write_reminder
from pressbox.soonish.domain.reminders import (
    EVERYBODY,
    ReminderOutcome,
    SubscriptionState,
    find_refusal,
    may_go_on,
    message_version,
)
from pressbox.soonish.ports import Events, Ledger
from pressbox.soonish.reminder_ports import Reminders


class SharedReminders:
    def __init__(
        self, events: Events, ledger: Ledger, reminders: Reminders, dispatcher: Dispatcher, now: Clock = utc_now
    ) -> None:
        self._events = events
        self._ledger = ledger
        self._reminders = reminders
        self._dispatcher = dispatcher
        self._now = now

    async def accept(self, input: ReminderWorkflowInput) -> AcceptedReminder:
        """Fix who gets it. From then on nobody is skipped because sending takes long."""
        version = message_version(wanted_reminder(input))
        begun = await self._ledger.find_open_message(input.event_id, Cause.REMINDER, version)
        refusal = await self._find_refusal(input)
        if refusal is not None and not (begun and may_go_on(refusal, input.start_date, self._now())):
            if begun or refusal in UNEXPECTED:
                await self._skip(input, version, refusal)
            return AcceptedReminder(outcome=refusal)
        number = await self._write(input, version)
        return AcceptedReminder(notification_id=number, outcome=None if number else ReminderOutcome.SENT)

    async def send_page(self, input: SendReminderPageInput) -> bool:
        """Send a page of it; return whether more is due at once. Of a cancelled or moved event the rest is skipped."""
        reminder = input.reminder
        refusal = await self._find_refusal(reminder)
        if refusal is not None and not may_go_on(refusal, reminder.start_date, self._now()):
            await self._ledger.skip(input.notification_id, refusal)
            return False
        return await self._dispatcher.send_due(input.notification_id, input.concurrency, window=input.limit, opens=True)

    async def _find_refusal(self, input: ReminderWorkflowInput) -> ReminderOutcome | None:
        """As for one person; who has left or muted the event is left out one by one."""
        found = await self._reminders.load_circumstances(input.event_id, EVERYBODY)
        circumstances = replace(found, subscription=SubscriptionState.ACTIVE)
        return find_refusal(input.start_date, wanted_reminder(input).offset, circumstances, self._now())

    async def _write(self, input: ReminderWorkflowInput, version: str) -> int | None:
        facts = await self._events.load_facts(input.event_id)
        if facts is None:
            return None
        text = write_reminder(facts, wanted_reminder(input).offset, self._now())
        return await self._ledger.accept_shared_reminder(input.event_id, version, text, input.offset_seconds)

    async def _skip(self, input: ReminderWorkflowInput, version: str, reason: ReminderOutcome) -> None:
        """Nobody did anything that explains why these were not sent, so the ledger does."""
        number = await self._write(input, version)
        if number is not None:
            await self._ledger.skip(number, reason)
