"""BroadcastWorkflow: sends one message to all its recipients."""

import asyncio
from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.progress.report import report
    from pressbox.core.temporal.calls import call, call_until_success
    from pressbox.soonish.activities.deliveries import DeliveryActivities
    from pressbox.soonish.contracts import (
        BroadcastProgress,
        BroadcastWentRound,
        BroadcastWorkflowInput,
        BroadcastWorkflowResult,
        NotificationReference,
        SendNotificationInput,
        SendNotificationResult,
    )
    from pressbox.soonish.domain.audiences import sender_of
    from pressbox.soonish.domain.delivery import DeliveryCounts, summarise_counts
    from pressbox.soonish.workflows.retries import PAUSES
    from pressbox.soonish.workflows.shards import MIN_PAUSE, Shards

# Runs that began before it send one batch after the other, as their histories say.
SHARDS = "2026-11-shards"
# Runs that began before it let their event wait until they end.
GONE_ROUND = "2026-11-gone-round"


@workflow.defn
class BroadcastWorkflow:
    """Sends one message to the recipients that were fixed when it was accepted.

    Id `broadcast-{event_id}-{notification_id}`; child of `EventWorkflow`, which it outlives. Failed deliveries that an
    organiser sends again have one of their own, `…-resend-{outbox_id}`. Large messages are sent in shards: page
    activities side by side, which claim deliveries from one queue, on as many workers as are free; then its event may
    send the next message, and what was not accepted is tried again. Ends when every delivery is final, or when it is
    cancelled: then the rest is skipped.
    """

    @workflow.init
    def __init__(self, input: BroadcastWorkflowInput) -> None:
        self._input = input
        self._progress = BroadcastProgress(
            title=f"Message {input.notification_id}", audience=sender_of(input.notification_id)
        )
        self._recipients = 0
        self._shards = Shards(input.notification_id, input.policy, self._send_page, self._tell_event)

    @workflow.query
    def get_progress(self) -> BroadcastProgress:
        return self._progress

    @workflow.run
    async def run(self, input: BroadcastWorkflowInput) -> BroadcastWorkflowResult:
        reference = NotificationReference(notification_id=input.notification_id)
        try:
            await (self._shards.run() if workflow.patched(SHARDS) else self._send_batches())
        except (asyncio.CancelledError, ActivityError) as error:
            if not is_cancelled_exception(error):
                raise
            stopped = await call(DeliveryActivities.cancel_notification, reference)
            self._show(stopped.counts, message="Stopped")
            return BroadcastWorkflowResult(counts=stopped.counts, cancelled=True)
        await call(DeliveryActivities.finish_notification, reference)
        counts = self._counts()
        if counts.has_failures:
            self._progress = self._progress.model_copy(update={"problem": summarise_counts(counts)})
        return BroadcastWorkflowResult(counts=counts)

    async def _send_batches(self) -> None:
        """Send every batch once, then what was not accepted."""
        after: int | None = 0
        next_try_at = None
        while after is not None:
            result = await self._send(after=after)
            after, next_try_at = result.last_subscription_id, result.next_try_at
        while next_try_at is not None:
            await workflow.sleep(max(next_try_at - workflow.now(), MIN_PAUSE))
            next_try_at = (await self._send(retries_only=True)).next_try_at

    async def _tell_event(self) -> None:
        """Let the next message of the event begin while this one tries again. An event that is over needs no word."""
        parent = workflow.info().parent
        if parent is None or not workflow.patched(GONE_ROUND):
            return
        with suppress(ApplicationError):
            await workflow.get_external_workflow_handle(parent.workflow_id).signal(
                "broadcast_went_round", BroadcastWentRound(notification_id=self._input.notification_id)
            )

    async def _send_page(self) -> SendNotificationResult:
        return await self._send(shared=True)

    async def _send(
        self, *, after: int = 0, retries_only: bool = False, shared: bool = False
    ) -> SendNotificationResult:
        policy = self._input.policy
        input = SendNotificationInput(
            notification_id=self._input.notification_id,
            after_subscription_id=after,
            limit=policy.batch_size,
            concurrency=policy.concurrent_deliveries,
            retries_only=retries_only,
            shared=shared,
        )
        result = await call_until_success(DeliveryActivities.send_notification, input, pauses=PAUSES)
        self._recipients = max(self._recipients, result.recipients_total, self._shards.recipients)
        if not result.counts.is_older_than(self._counts()):
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
        self._progress = self._progress.model_copy(
            update={
                "done": counts.final,
                # One person can have several channels, and a batch is opened before it is counted.
                "total": max(self._recipients, counts.total),
                "message": message or summarise_counts(counts),
                "sent": counts.sent,
                "waiting": counts.pending,
                "uncertain": counts.uncertain,
                "failed": counts.failed,
                "skipped": counts.skipped,
            }
        )
        report(self._progress)
