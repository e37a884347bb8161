"""Sends one reminder to one person if it is still due, or records why it was not sent."""

from datetime import datetime, timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import RateLimitedError
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.contracts import ReminderWorkflowInput
from pressbox.soonish.domain.delivery import Cause, DeliveryCounts
from pressbox.soonish.domain.messages import write_reminder, write_requested_reminder
from pressbox.soonish.domain.reminders import (
    Circumstances,
    ReminderOutcome,
    WantedReminder,
    find_refusal,
    may_go_on,
    message_version,
    summarise_outcome,
)
from pressbox.soonish.ports import Events, Ledger
from pressbox.soonish.reminder_ports import Reminders

# One person has few channels.
CONCURRENCY = 16
MIN_PAUSE = timedelta(seconds=2)
# Nobody did anything that explains why these were not sent, so the ledger does.
UNEXPECTED = (ReminderOutcome.MISSED, ReminderOutcome.STARTED)


class ReminderDispatcher:
    def __init__(
        self, events: Events, ledger: Ledger, reminders: Reminders, dispatcher: Dispatcher, now: Clock = utc_now
    ) -> None:
        self._events = events
        self._ledger = ledger
        self._reminders = reminders
        self._dispatcher = dispatcher
        self._now = now

    async def send(self, input: ReminderWorkflowInput) -> ReminderOutcome:
        """An earlier try, perhaps hours ago, may have written the message: it is sent on, or closed."""
        begun = await self._ledger.find_open_message(input.event_id, *_identify(input))
        refusal = await self._find_refusal(input)
        if refusal is not None and not (begun and may_go_on(refusal, input.start_date, self._now())):
            if begun or refusal in UNEXPECTED:
                await self.skip(input, refusal)
            return refusal
        if not begun and await self._was_shared(input):
            return ReminderOutcome.SHARED
        notification_id = await self._accept_message(input, rewrite=begun is not None)
        if notification_id is None:
            return ReminderOutcome.EVENT_GONE
        await self._ledger.open_batch(notification_id, 0, 1)
        await self._dispatcher.send_due(notification_id, CONCURRENCY)
        counts, next_try_at = await self._ledger.count_deliveries(notification_id)
        if counts.pending:
            raise RateLimitedError(
                f"{counts.pending} channels did not accept the reminder yet.",
                retry_after=_pause_until(next_try_at, self._now()),
                notification_id=notification_id,
            )
        await self._ledger.finish(notification_id)
        if counts == DeliveryCounts.from_states({}) and await self._was_shared(input):
            # Everybody's was written at the same moment.
            return ReminderOutcome.SHARED
        return summarise_outcome(sent=counts.sent, uncertain=counts.uncertain, failed=counts.failed)

    async def _was_shared(self, input: ReminderWorkflowInput) -> bool:
        """Whether it went with everybody's: the event became large, or Temporal was late with this one."""
        cause, version = _identify(input)
        return cause is Cause.REMINDER and await self._ledger.is_in_shared_reminder(input.subscription_id, version)

    async def skip(self, input: ReminderWorkflowInput, reason: ReminderOutcome) -> None:
        notification_id = await self._accept_message(input)
        if notification_id is not None:
            await self._ledger.skip(notification_id, reason)

    async def _find_refusal(self, input: ReminderWorkflowInput) -> ReminderOutcome | None:
        if input.reminder_id is not None and await self._reminders.is_request_withdrawn(input.reminder_id):
            return ReminderOutcome.WITHDRAWN
        circumstances = await self._reminders.load_circumstances(input.event_id, input.subscription_id)
        return _judge(input, circumstances, self._now())

    async def _accept_message(self, input: ReminderWorkflowInput, *, rewrite: bool = False) -> int | None:
        """With `rewrite`, the text of an earlier try becomes true again: less time is left until the start."""
        facts = await self._events.load_facts(input.event_id)
        if facts is None:
            return None
        if input.reminder_id is not None:
            text = write_requested_reminder(facts)
        else:
            text = write_reminder(facts, wanted_reminder(input).offset, self._now())
        cause, version = _identify(input)
        notification_id = await self._ledger.accept_message(
            input.event_id, cause, version, Level.WARNING, text, [input.subscription_id]
        )
        if rewrite:
            await self._ledger.rewrite_message(notification_id, text)
        return notification_id


def _identify(input: ReminderWorkflowInput) -> tuple[Cause, str]:
    """Cause and version: the same for every try of one reminder."""
    if input.reminder_id is not None:
        return Cause.ADHOC, f"asked-{input.reminder_id}"
    return Cause.REMINDER, message_version(wanted_reminder(input))


def wanted_reminder(input: ReminderWorkflowInput) -> WantedReminder:
    return WantedReminder(input.subscription_id, timedelta(seconds=input.offset_seconds), input.start_date)


def _judge(input: ReminderWorkflowInput, circumstances: Circumstances, now: datetime) -> ReminderOutcome | None:
    start = circumstances.start_date
    if input.fire_at is None or start is None:
        return find_refusal(input.start_date, timedelta(seconds=input.offset_seconds), circumstances, now)
    # Whoever asked to be reminded in two hours wants it then, wherever the start has moved.
    return find_refusal(start, start - input.fire_at, circumstances, now)


def _pause_until(next_try_at: datetime | None, now: datetime) -> timedelta | None:
    """None leaves the pause to the retry policy; when a target asks for a longer one, it gets it."""
    pause = (next_try_at or now) - now
    return pause if pause > MIN_PAUSE else None
