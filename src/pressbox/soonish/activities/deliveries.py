"""Activities that send messages and reminders to people."""

from datetime import timedelta

from temporalio import activity
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityCancellationType, ActivityConfig

from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.options import QUICK
from pressbox.delivery.activities.heartbeats import HEARTBEAT_TIMEOUT, heartbeat
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.activities.reminder_dispatch import ReminderDispatcher
from pressbox.soonish.activities.shared_reminders import SharedReminders
from pressbox.soonish.contracts import (
    AcceptedReminder,
    NotificationReference,
    NotificationSize,
    ReminderWorkflowInput,
    SendNotificationInput,
    SendNotificationResult,
    SendReminderPageInput,
    SendReminderResult,
)
from pressbox.soonish.ports import Ledger
from pressbox.soonish.reminder_ports import Reminders

SEND_BATCH = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=HEARTBEAT_TIMEOUT,
    # Messages that are being sent when somebody stops a broadcast are waited for and recorded.
    cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=3
    ),
)

SEND_REMINDER = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=HEARTBEAT_TIMEOUT,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=3
    ),
)


class DeliveryActivities:
    def __init__(
        self,
        ledger: Ledger,
        reminders: Reminders,
        dispatcher: Dispatcher,
        reminder_dispatcher: ReminderDispatcher,
        shared: SharedReminders,
    ) -> None:
        self._ledger = ledger
        self._reminders = reminders
        self._dispatcher = dispatcher
        self._reminder_dispatcher = reminder_dispatcher
        self._shared = shared

    @activity.defn
    @call_with(SEND_BATCH)
    async def send_notification(self, input: SendNotificationInput) -> SendNotificationResult:
        """Send one batch or page. A retry sends only what the ledger still calls pending and nobody else holds."""
        last, total, more = None, 0, False
        async with heartbeat():
            if input.shared:
                more = await self._dispatcher.send_due(
                    input.notification_id, input.concurrency, window=input.limit, opens=True
                )
            else:
                if not input.retries_only:
                    last, total = await self._ledger.open_batch(
                        input.notification_id, input.after_subscription_id, input.limit
                    )
                await self._dispatcher.send_due(input.notification_id, input.concurrency)
        counts, next_try_at = await self._ledger.count_deliveries(input.notification_id)
        return SendNotificationResult(
            last_subscription_id=last, recipients_total=total, counts=counts, next_try_at=next_try_at, more=more
        )

    @activity.defn
    @call_with(QUICK)
    async def measure_notification(self, input: NotificationReference) -> NotificationSize:
        return NotificationSize(recipients=await self._ledger.count_recipients(input.notification_id))

    @activity.defn
    @call_with(SEND_REMINDER)
    async def send_reminder_notification(self, input: ReminderWorkflowInput) -> SendReminderResult:
        """Read event and subscription again, then send to this subscription only."""
        async with heartbeat():
            outcome = await self._reminder_dispatcher.send(input)
        if input.reminder_id is not None:
            await self._reminders.record_request_outcome(input.reminder_id, outcome)
        return SendReminderResult(outcome=outcome)

    @activity.defn
    @call_with(QUICK)
    async def accept_shared_reminder(self, input: ReminderWorkflowInput) -> AcceptedReminder:
        """Write the reminder for everybody who chose this offset, unless nothing must be sent."""
        return await self._shared.accept(input)

    @activity.defn
    @call_with(SEND_BATCH)
    async def send_reminder_page(self, input: SendReminderPageInput) -> SendNotificationResult:
        """Read the event again, then send what is due of the reminder and nobody else holds."""
        async with heartbeat():
            more = await self._shared.send_page(input)
        counts, next_try_at = await self._ledger.count_deliveries(input.notification_id)
        return SendNotificationResult(
            last_subscription_id=None, recipients_total=0, counts=counts, next_try_at=next_try_at, more=more
        )

    @activity.defn
    @call_with(QUICK)
    async def finish_notification(self, input: NotificationReference) -> None:
        await self._ledger.finish(input.notification_id)

    @activity.defn
    @call_with(QUICK)
    async def cancel_notification(self, input: NotificationReference) -> SendNotificationResult:
        """Skip everybody to whom nothing was sent yet, and count how every delivery ended."""
        await self._ledger.cancel(input.notification_id)
        counts, _ = await self._ledger.count_deliveries(input.notification_id)
        return SendNotificationResult(last_subscription_id=None, recipients_total=0, counts=counts)
