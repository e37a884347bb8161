"""Starts, signals and cancels the workflows of soonish."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.clock import utc_now
from pressbox.core.errors import TransientError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.soonish.contracts import (
    BroadcastWorkflowInput,
    EventSignal,
    EventWorkflowInput,
    MessageResent,
    OutboxEntry,
    ReminderWorkflowInput,
    SoonishPolicy,
)
from pressbox.soonish.domain.reminders import WantedReminder
from pressbox.soonish.ids import (
    BROADCAST_WORKFLOW,
    EVENT_WORKFLOW,
    REMINDER_WORKFLOW,
    adhoc_workflow_id,
    broadcast_workflow_id,
    event_id_of,
    event_workflow_id,
    late_reminder_id,
    resend_workflow_id,
)
from pressbox.soonish.reminder_ports import RequestedReminder

# Somebody may be waiting for an answer that does not depend on this: the sweep sends what could not be sent.
RPC_TIMEOUT = timedelta(seconds=5)
# How far back the sweep looks for workflows of events that failed, and how many it starts again at a time.
LOOK_BACK = timedelta(days=1)
MOST_FAILED = 50


class TemporalWorkflows:
    def __init__(self, client: Client, task_queue: str, policy: SoonishPolicy) -> None:
        self._client = client
        self._task_queue = task_queue
        self._policy = policy

    async def signal_event(self, event_id: int, signals: Sequence[OutboxEntry]) -> None:
        """Send the signals in order. After an event's end a signal starts a short run of its own."""
        try:
            with translate_rpc_errors():
                for signal in signals:
                    if isinstance(signal, MessageResent):
                        await self._start_resend(event_id, signal)
                    else:
                        await self._signal(event_id, signal)
        except RPCError as error:
            # It takes only so many signals for one run; the next run, or a later sweep, takes this one.
            raise TransientError(f"Temporal refuses a signal for event {event_id}: {error.message}") from error

    async def find_failed_events(self) -> Sequence[int]:
        since = (utc_now() - LOOK_BACK).strftime("%Y-%m-%dT%H:%M:%SZ")
        # However it ended: the workflow of a live event runs, unless somebody reached for it in Temporal.
        statuses = "ExecutionStatus IN ('Failed', 'TimedOut', 'Terminated', 'Canceled')"
        query = f"WorkflowType = '{EVENT_WORKFLOW}' AND {statuses} AND CloseTime > '{since}'"
        with translate_rpc_errors():
            closed = {found.id async for found in self._client.list_workflows(query, limit=MOST_FAILED)}
            failed = [workflow_id for workflow_id in sorted(closed) if not await self._is_running(workflow_id)]
        numbers = [event_id_of(workflow_id) for workflow_id in failed]
        return [number for number in numbers if number is not None]

    async def _is_running(self, workflow_id: str) -> bool:
        found = await self._client.get_workflow_handle(workflow_id).describe(rpc_timeout=RPC_TIMEOUT)
        return found.status is WorkflowExecutionStatus.RUNNING

    async def start_event(self, event_id: int) -> None:
        with translate_rpc_errors():
            await self._client.start_workflow(
                EVENT_WORKFLOW,
                EventWorkflowInput(event_id=event_id, policy=self._policy),
                id=event_workflow_id(event_id),
                task_queue=self._task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
            )

    async def _signal(self, event_id: int, signal: EventSignal) -> None:
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

    async def _start_resend(self, event_id: int, signal: MessageResent) -> None:
        try:
            await self._client.start_workflow(
                BROADCAST_WORKFLOW,
                BroadcastWorkflowInput(event_id=event_id, notification_id=signal.notification_id, policy=self._policy),
                id=resend_workflow_id(event_id, signal.notification_id, signal.outbox_id),
                task_queue=self._task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                rpc_timeout=RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            # It has already run: one request, one broadcast.
            return

    async def start_late_reminder(self, event_id: int, reminder: WantedReminder) -> None:
        subscription_id, offset_seconds = reminder.key
        input = ReminderWorkflowInput(
            event_id=event_id,
            subscription_id=subscription_id,
            offset_seconds=offset_seconds,
            start_date=reminder.start_date,
            policy=self._policy,
        )
        with translate_rpc_errors():
            await self._client.start_workflow(
                REMINDER_WORKFLOW,
                input,
                id=late_reminder_id(event_id, offset_seconds, reminder.start_date),
                task_queue=self._task_queue,
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
