"""How an event's workflow starts a broadcast, and how long it waits for it."""

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from pressbox.core.temporal.calls import call
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.contracts import BroadcastWorkflowInput, NotificationReference, SoonishPolicy
from pressbox.soonish.ids import broadcast_workflow_id
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow


async def run_broadcast(event_id: int, notification_id: int, policy: SoonishPolicy) -> bool:
    """Send one message; False when its workflow failed.

    Messages are sent in order, so the event waits for each, but not for ever: a broadcast that takes longer (a target
    asked us to come back in an hour) goes on by itself, even after the event has ended.
    """
    try:
        child = await workflow.start_child_workflow(
            BroadcastWorkflow.run,
            BroadcastWorkflowInput(event_id=event_id, notification_id=notification_id, policy=policy),
            id=broadcast_workflow_id(event_id, notification_id),
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            parent_close_policy=ParentClosePolicy.ABANDON,
        )
    except WorkflowAlreadyStartedError:
        # An earlier run of this event sent it, or is sending it.
        return True
    done, _ = await workflow.wait([child], timeout=policy.order_patience.total_seconds())
    try:
        for ended in done:
            await ended
    except ChildWorkflowError as error:
        workflow.logger.warning("Broadcast of notification %s failed: %s", notification_id, error.cause)
        return False
    return True


async def cancel_unsent(notification_id: int) -> None:
    """Close the message about the creation of an event that ended before its workflow began."""
    reference = NotificationReference(notification_id=notification_id)
    await call(DeliveryActivities.cancel_notification, reference)
