"""How an event's workflow starts a broadcast, and how long it waits for it."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from temporalio import workflow
from temporalio.common import WorkflowIDReusePolicy
from temporalio.exceptions import ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.workflow import ParentClosePolicy

from pressbox.core.temporal.calls import call
from pressbox.soonish.activities.deliveries import DeliveryActivities
from pressbox.soonish.contracts import BroadcastWorkflowInput, NotificationReference, SoonishPolicy
from pressbox.soonish.ids import broadcast_workflow_id
from pressbox.soonish.workflows.broadcast import BroadcastWorkflow


async def run_broadcast(
    event_id: int, notification_id: int, policy: SoonishPolicy, gone_round: Collection[int]
) -> bool:
    """Send one message; False when its workflow failed.

    Messages are sent in order, so the event waits until everybody's turn has come, but not for ever. What did not get
    through (a target asked us to come back in an hour) is tried again by itself, even after the event has ended; only
    its own recipients wait for it, as the ledger keeps the order of each. `gone_round` fills with those that said so.
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
    with suppress(TimeoutError):
        await workflow.wait_condition(
            lambda: child.done() or notification_id in gone_round, timeout=policy.order_patience
        )
    if not child.done():
        # Nobody waits for its end any more; the log still hears of a failure.
        child.add_done_callback(lambda ended: _has_worked(ended, notification_id))
        return True
    return _has_worked(child, notification_id)


def _has_worked(ended: asyncio.Task[Any], notification_id: int) -> bool:
    """Whether it came to its end; a failure is logged."""
    try:
        ended.result()
    except ChildWorkflowError as error:
        workflow.logger.warning("Broadcast of notification %s failed: %s", notification_id, error.cause)
        return False
    return True


async def cancel_unsent(notification_id: int) -> None:
    """Close the message about the creation of an event that ended before its workflow began."""
    reference = NotificationReference(notification_id=notification_id)
    await call(DeliveryActivities.cancel_notification, reference)
