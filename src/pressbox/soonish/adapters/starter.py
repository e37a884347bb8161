"""Starts and messages the workflows of soonish."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.temporal.client import reaching_temporal
from pressbox.soonish.contracts import EventWorkflowInput, Message, ReminderWorkflowInput, SoonishPolicy
from pressbox.soonish.ids import (
    EVENT_WORKFLOW,
    REMINDER_WORKFLOW,
    adhoc_workflow_id,
    broadcast_workflow_id,
    event_workflow_id,
)

# A person may be waiting for an answer that does not depend on this: the sweep will tell what we could not.
PATIENCE = timedelta(seconds=5)


class TemporalWorkflows:
    def __init__(self, client: Client, task_queue: str, policy: SoonishPolicy) -> None:
        self._client = client
        self._task_queue = task_queue
        self._policy = policy

    async def tell(self, event_id: int, messages: Sequence[Message]) -> None:
        """In order, one after the other. After an event's end a message starts a short run of its own."""
        with reaching_temporal():
            for message in messages:
                await self._client.start_workflow(
                    EVENT_WORKFLOW,
                    EventWorkflowInput(event_id=event_id, policy=self._policy),
                    id=event_workflow_id(event_id),
                    task_queue=self._task_queue,
                    start_signal=message.kind,
                    start_signal_args=[message],
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    rpc_timeout=PATIENCE,
                )

    async def start_asked_reminder(
        self, event_id: int, subscription_id: int, reminder_id: int, fire_at: datetime
    ) -> None:
        input = ReminderWorkflowInput(
            event_id=event_id,
            subscription_id=subscription_id,
            offset_seconds=0,
            start_date=fire_at,
            reminder_id=reminder_id,
            fire_at=fire_at,
        )
        with reaching_temporal():
            try:
                await self._client.start_workflow(
                    REMINDER_WORKFLOW,
                    input,
                    id=adhoc_workflow_id(subscription_id, reminder_id),
                    task_queue=self._task_queue,
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    rpc_timeout=PATIENCE,
                )
            except WorkflowAlreadyStartedError:
                # It has already run: asked once, reminded once.
                return

    async def cancel_asked_reminder(self, subscription_id: int, reminder_id: int) -> None:
        await self._cancel(adhoc_workflow_id(subscription_id, reminder_id))

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        return await self._cancel(broadcast_workflow_id(event_id, notification_id))

    async def _cancel(self, workflow_id: str) -> bool:
        """False when there is nothing to cancel: it has ended, or never began."""
        with reaching_temporal():
            try:
                await self._client.get_workflow_handle(workflow_id).cancel(rpc_timeout=PATIENCE)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                return False
        return True
