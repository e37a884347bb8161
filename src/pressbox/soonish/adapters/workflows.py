"""Starts, signals and cancels the workflows of soonish."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.soonish.contracts import EventSignal, EventWorkflowInput, ReminderWorkflowInput, SoonishPolicy
from pressbox.soonish.ids import (
    EVENT_WORKFLOW,
    REMINDER_WORKFLOW,
    adhoc_workflow_id,
    broadcast_workflow_id,
    event_workflow_id,
)
from pressbox.soonish.ports import RequestedReminder

# Somebody may be waiting for an answer that does not depend on this: the sweep sends what could not be sent.
RPC_TIMEOUT = timedelta(seconds=5)


class TemporalWorkflows:
    def __init__(self, client: Client, task_queue: str, policy: SoonishPolicy) -> None:
        self._client = client
        self._task_queue = task_queue
        self._policy = policy

    async def signal_event(self, event_id: int, signals: Sequence[EventSignal]) -> None:
        """Send the signals in order. After an event's end a signal starts a short run of its own."""
        with translate_rpc_errors():
            for signal in signals:
                await self._client.start_workflow(
                    EVENT_WORKFLOW,
                    EventWorkflowInput(event_id=event_id, policy=self._policy),
                    id=event_workflow_id(event_id),
                    task_queue=self._task_queue,
                    start_signal=signal.kind,
                    start_signal_args=[signal],
                    id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    rpc_timeout=RPC_TIMEOUT,
                )

    async def start_reminder(self, reminder: RequestedReminder) -> None:
        input = ReminderWorkflowInput(
            event_id=reminder.event_id,
            subscription_id=reminder.subscription_id,
            offset_seconds=0,
            start_date=reminder.fire_at,
            reminder_id=reminder.reminder_id,
            fire_at=reminder.fire_at,
        )
        with translate_rpc_errors():
            try:
                await self._client.start_workflow(
                    REMINDER_WORKFLOW,
                    input,
                    id=adhoc_workflow_id(reminder.subscription_id, reminder.reminder_id),
                    task_queue=self._task_queue,
                    id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                    rpc_timeout=RPC_TIMEOUT,
                )
            except WorkflowAlreadyStartedError:
                # It has already run: one request, one reminder.
                return

    async def cancel_reminder(self, subscription_id: int, reminder_id: int) -> None:
        await self._cancel(adhoc_workflow_id(subscription_id, reminder_id))

    async def cancel_broadcast(self, event_id: int, notification_id: int) -> bool:
        return await self._cancel(broadcast_workflow_id(event_id, notification_id))

    async def _cancel(self, workflow_id: str) -> bool:
        """Return False when there is nothing to cancel: it has ended, or never began."""
        with translate_rpc_errors():
            try:
                await self._client.get_workflow_handle(workflow_id).cancel(rpc_timeout=RPC_TIMEOUT)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                return False
        return True
