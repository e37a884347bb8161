"""BroadcastWorkflow: sends one message to all its recipients."""

import asyncio
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success
    from pressbox.soonish.activities.deliveries import DeliveryActivities
    from pressbox.soonish.contracts import (
        BroadcastProgress,
        BroadcastWorkflowInput,
        BroadcastWorkflowResult,
        NotificationReference,
        SendNotificationInput,
        SendNotificationResult,
    )
    from pressbox.soonish.domain.audiences import sender_of
    from pressbox.soonish.domain.delivery import DeliveryCounts, summarise_counts
    from pressbox.soonish.workflows.retries import PAUSES

MIN_PAUSE = timedelta(seconds=1)


@workflow.defn
class BroadcastWorkflow:
    """Sends one message to the recipients that were fixed when it was accepted.

    Id `broadcast-{event_id}-{notification_id}`; child of `EventWorkflow`, which it outlives. Goes through the
    recipients in batches, one activity each, then retries what was not accepted. Ends when every delivery is final, or
    when it is cancelled: then the rest is skipped. A retried batch sends only what the ledger still calls pending.
    """

    @workflow.init
    def __init__(self, input: BroadcastWorkflowInput) -> None:
        self._input = input
        self._progress = BroadcastProgress(
            title=f"Message {input.notification_id}", audience=sender_of(input.notification_id)
        )
        self._recipients = 0

    @workflow.query
    def get_progress(self) -> BroadcastProgress:
        return self._progress

    @workflow.run
    async def run(self, input: BroadcastWorkflowInput) -> BroadcastWorkflowResult:
        reference = NotificationReference(notification_id=input.notification_id)
        try:
            next_try_at = await self._send_to_everybody()
            while next_try_at is not None:
                await workflow.sleep(max(next_try_at - workflow.now(), MIN_PAUSE))
                next_try_at = (await self._send(retries_only=True)).next_try_at
        except (asyncio.CancelledError, ActivityError) as error:
            if not is_cancelled_exception(error):
                raise
            stopped = await call(DeliveryActivities.cancel_notification, reference)
            self._show(stopped.counts, message="Stopped")
            return BroadcastWorkflowResult(counts=stopped.counts, cancelled=True)
        await call(DeliveryActivities.finish_notification, reference)
        return BroadcastWorkflowResult(counts=self._counts())

    async def _send_to_everybody(self) -> datetime | None:
        """Send every batch once. Retries that come due meanwhile are sent with the next batch."""
        after: int | None = 0
        next_try_at = None
        while after is not None:
            result = await self._send(after=after)
            after, next_try_at = result.last_subscription_id, result.next_try_at
        return next_try_at

    async def _send(self, *, after: int = 0, retries_only: bool = False) -> SendNotificationResult:
        policy = self._input.policy
        input = SendNotificationInput(
            notification_id=self._input.notification_id,
            after_subscription_id=after,
            limit=policy.batch_size,
            concurrency=policy.concurrent_deliveries,
            retries_only=retries_only,
        )
        result = await call_until_success(DeliveryActivities.send_notification, input, pauses=PAUSES)
        self._recipients = max(self._recipients, result.recipients_total)
        self._show(result.counts)
        if workflow.cancellation_reason() is not None:
            # The batch ended before it noticed the cancellation, which must not be lost.
            raise asyncio.CancelledError
        return result

    def _counts(self) -> DeliveryCounts:
        shown = self._progress
        return DeliveryCounts(
            sent=shown.sent,
            pending=shown.waiting,
            uncertain=shown.uncertain,
            failed=shown.failed,
            skipped=shown.skipped,
        )

    def _show(self, counts: DeliveryCounts, message: str = "") -> None:
        final = counts.sent + counts.uncertain + counts.failed + counts.skipped
        self._progress = self._progress.model_copy(
            update={
                "done": final,
                # One person can have several channels, and a batch is opened before it is counted.
                "total": max(self._recipients, final + counts.pending),
                "message": message or summarise_counts(counts),
                "sent": counts.sent,
                "waiting": counts.pending,
                "uncertain": counts.uncertain,
                "failed": counts.failed,
                "skipped": counts.skipped,
            }
        )
        report(self._progress)
