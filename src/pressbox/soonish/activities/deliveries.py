"""The effects on people: sending messages and reminders."""

from temporalio import activity

from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.soonish.activities.post import Post
from pressbox.soonish.activities.reminder_post import ReminderPost
from pressbox.soonish.contracts import (
    NotificationReference,
    ReminderWorkflowInput,
    SendNotificationInput,
    SendNotificationResult,
    SendReminderResult,
)
from pressbox.soonish.ports import Ledger, Reminders


class DeliveryActivities:
    def __init__(self, ledger: Ledger, reminders: Reminders, post: Post, reminder_post: ReminderPost) -> None:
        self._ledger = ledger
        self._reminders = reminders
        self._post = post
        self._reminder_post = reminder_post

    @activity.defn
    async def send_notification(self, input: SendNotificationInput) -> SendNotificationResult:
        """A retry opens the same page and sends only what the ledger still calls pending."""
        last, total = None, 0
        async with Heartbeat(every_seconds=2):
            if not input.retries_only:
                last, total = await self._ledger.open_batch(
                    input.notification_id, input.after_subscription_id, input.limit
                )
            await self._post.send_due(input.notification_id, input.concurrency)
        counts, next_try_at = await self._ledger.counts(input.notification_id)
        return SendNotificationResult(
            last_subscription_id=last, recipients_total=total, counts=counts, next_try_at=next_try_at
        )

    @activity.defn
    async def send_reminder_notification(self, input: ReminderWorkflowInput) -> SendReminderResult:
        """Reads event and subscription again, then sends to this subscription only."""
        async with Heartbeat(every_seconds=2):
            outcome = await self._reminder_post.send(input, again=activity.info().attempt > 1)
        if input.reminder_id is not None:
            await self._reminders.note_asked_outcome(input.reminder_id, outcome)
        return SendReminderResult(outcome=outcome)

    @activity.defn
    async def finish_notification(self, input: NotificationReference) -> None:
        await self._ledger.finish(input.notification_id)

    @activity.defn
    async def cancel_notification(self, input: NotificationReference) -> SendNotificationResult:
        """Skips whoever was not written to yet; says where everything ended."""
        await self._ledger.cancel(input.notification_id)
        counts, _ = await self._ledger.counts(input.notification_id)
        return SendNotificationResult(last_subscription_id=None, recipients_total=0, counts=counts)
