"""What people may do to a workflow: cancel it, try a failed one again, or wait for its end."""

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import RawValue, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import FailureError, WorkflowAlreadyStartedError

from pressbox.core.errors import ConflictError, NotFoundError, PermanentError
from pressbox.core.temporal.client import translate_rpc_errors

UNKNOWN = "Temporal knows no such running workflow."
_ENDED_BADLY = {
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.CANCELED,
    WorkflowExecutionStatus.TERMINATED,
    WorkflowExecutionStatus.TIMED_OUT,
}


async def cancel(client: Client, workflow_id: str) -> None:
    """Ask the workflow to stop. It ends in its own order; children are cancelled with it."""
    with translate_rpc_errors(missing=UNKNOWN):
        await client.get_workflow_handle(workflow_id).cancel()


async def retry(client: Client, workflow_id: str) -> None:
    """Start a workflow that ended badly again: same type, same id, same input."""
    with translate_rpc_errors(missing=UNKNOWN):
        description = await client.get_workflow_handle(workflow_id).describe()
        if description.status not in _ENDED_BADLY:
            raise ConflictError("Only what failed or was cancelled can be tried again.", workflow_id=workflow_id)
        arguments = await _arguments(client.get_workflow_handle(workflow_id, run_id=description.run_id))
        try:
            await client.start_workflow(
                description.workflow_type,
                args=arguments,
                id=workflow_id,
                task_queue=description.task_queue,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )
        except WorkflowAlreadyStartedError as error:
            raise ConflictError("It is already running again.", workflow_id=workflow_id) from error


async def result(client: Client, workflow_id: str) -> object:
    """Wait until a workflow has ended, and give what it gave. One that failed is a PermanentError with its reason."""
    with translate_rpc_errors(missing=UNKNOWN):
        try:
            return await client.get_workflow_handle(workflow_id).result()
        except WorkflowFailureError as error:
            cause: BaseException = error.cause
            # An activity that failed hides its reason one step deeper.
            while isinstance(cause, FailureError) and cause.cause is not None:
                cause = cause.cause
            raise PermanentError(f"It ended badly: {cause}", workflow_id=workflow_id) from error


async def _arguments(handle: WorkflowHandle[object, object]) -> list[RawValue]:
    async for event in handle.fetch_history_events():
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            return [RawValue(payload) for payload in event.workflow_execution_started_event_attributes.input.payloads]
    raise NotFoundError("Temporal no longer keeps its history.")
