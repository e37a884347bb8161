"""One reminder for one person: judged by what is true now, then sent, or recorded as missed."""

from datetime import datetime, timedelta

from pressbox.core.errors import RateLimitedError
from pressbox.soonish.activities.post import Clock, Post, utc_now
from pressbox.soonish.contracts import ReminderWorkflowInput
from pressbox.soonish.domain import messages
from pressbox.soonish.domain.delivery import Cause, Level
from pressbox.soonish.domain.reminders import (
    Circumstances,
    ReminderOutcome,
    WantedReminder,
    judge,
    message_version,
    outcome_of,
)
from pressbox.soonish.ports import Events, Ledger, Reminders

# One person has few channels.
CONCURRENCY = 16
SHORTEST_PAUSE = timedelta(seconds=2)
# Nobody did anything that explains why these were not sent, so the ledger does.
UNEXPECTED = (ReminderOutcome.MISSED, ReminderOutcome.STARTED)


class ReminderPost:
    def __init__(self, events: Events, ledger: Ledger, reminders: Reminders, post: Post, now: Clock = utc_now) -> None:
        self._events = events
        self._ledger = ledger
        self._reminders = reminders
        self._post = post
        self._now = now

    async def send(self, input: ReminderWorkflowInput, *, again: bool) -> ReminderOutcome:
        """`again`: an earlier try may have written the message, so whatever is still open must be closed."""
        refusal = await self._refusal(input)
        if refusal is not None:
            if again or refusal in UNEXPECTED:
                await self.skip(input, refusal)
            return refusal
        notification_id = await self._accept(input)
        if notification_id is None:
            return ReminderOutcome.EVENT_GONE
        await self._ledger.open_batch(notification_id, 0, 1)
        await self._post.send_due(notification_id, CONCURRENCY)
        counts, next_try_at = await self._ledger.counts(notification_id)
        if counts.pending:
            raise RateLimitedError(
                f"{counts.pending} channels did not take the reminder yet.",
                retry_after=_pause(next_try_at, self._now()),
                notification_id=notification_id,
            )
        await self._ledger.finish(notification_id)
        return outcome_of(sent=counts.sent, uncertain=counts.uncertain, failed=counts.failed)

    async def _refusal(self, input: ReminderWorkflowInput) -> ReminderOutcome | None:
        if input.reminder_id is not None and await self._reminders.asked_withdrawn(input.reminder_id):
            return ReminderOutcome.WITHDRAWN
        circumstances = await self._reminders.circumstances(input.event_id, input.subscription_id)
        return _judged(input, circumstances, self._now())

    async def skip(self, input: ReminderWorkflowInput, reason: ReminderOutcome) -> None:
        notification_id = await self._accept(input)
        if notification_id is not None:
            await self._ledger.skip(notification_id, reason)

    async def _accept(self, input: ReminderWorkflowInput) -> int | None:
        facts = await self._events.facts(input.event_id)
        if facts is None:
            return None
        reminder = reminder_of(input)
        asked = input.reminder_id is not None
        return await self._ledger.accept(
            input.event_id,
            Cause.ADHOC if asked else Cause.REMINDER,
            f"asked-{input.reminder_id}" if asked else message_version(reminder),
            Level.WARNING,
            messages.asked_reminder(facts) if asked else messages.reminder(facts, reminder.offset),
            [input.subscription_id],
        )


def reminder_of(input: ReminderWorkflowInput) -> WantedReminder:
    return WantedReminder(input.subscription_id, timedelta(seconds=input.offset_seconds), input.start_date)


def _judged(input: ReminderWorkflowInput, circumstances: Circumstances, now: datetime) -> ReminderOutcome | None:
    start = circumstances.start_date
    if input.fire_at is None or start is None:
        return judge(input.start_date, timedelta(seconds=input.offset_seconds), circumstances, now)
    # Who asked to be reminded in two hours wants it then, wherever the start has moved.
    return judge(start, start - input.fire_at, circumstances, now)


def _pause(next_try_at: datetime | None, now: datetime) -> timedelta | None:
    """None leaves the pause to the retry policy; a longer wish of the other side is obeyed."""
    pause = (next_try_at or now) - now
    return pause if pause > SHORTEST_PAUSE else None
