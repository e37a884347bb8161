"""What an instance is still busy with when a scenario has waited in vain."""

from collections import Counter

from temporalio.client import Client, WorkflowExecutionStatus, WorkflowHistoryEventFilterType
from temporalio.service import RPCError

from pressbox.core.errors import TransientError

RUNNING = "ExecutionStatus = 'Running'"
ENDED = "ExecutionStatus != 'Running'"
# Newest first: what a scenario waited for in vain is among them.
MOST_ENDED = 40
# Of those that a schedule starts again and again, the last ones say what all of them say.
MOST_OF_A_TYPE = 8
MOST_LISTED = 2000
LONGEST_RESULT = 300


async def report_standstill(temporal: Client, what: str) -> TransientError:
    """The error of a scenario that stands still: what it says is all that anybody has to find out why."""
    running, ended = await describe_running(temporal), await describe_ended(temporal)
    return TransientError(f"{what}\nStill running:\n{running}\nEnded lately:\n{ended}")


async def describe_running(temporal: Client, query: str = RUNNING) -> str:
    """List each workflow that runs and what it waits for."""
    try:
        found = [(one.id, one.run_id) async for one in temporal.list_workflows(query)]
        return "\n".join([await _describe(temporal, *one) for one in found]) or "nothing"
    except RPCError as error:
        return f"Temporal does not say: {error.message}"


async def describe_ended(temporal: Client) -> str:
    """List the workflows that ended last, with what they said at the end."""
    try:
        seen: Counter[str] = Counter()
        lines: list[str] = []
        async for one in temporal.list_workflows(ENDED, limit=MOST_LISTED):
            seen[one.workflow_type] += 1
            if seen[one.workflow_type] <= MOST_OF_A_TYPE and len(lines) < MOST_ENDED:
                lines.append(await _describe_end(temporal, one.id, one.run_id))
        return "\n".join(lines) or "nothing"
    except RPCError as error:
        return f"Temporal does not say: {error.message}"


async def _describe_end(temporal: Client, workflow_id: str, run_id: str) -> str:
    handle = temporal.get_workflow_handle(workflow_id, run_id=run_id)
    described = await handle.describe()
    status = described.status.name.lower() if described.status else "ended"
    ended = f"{described.close_time} {workflow_id} {status}"
    if described.status is not WorkflowExecutionStatus.COMPLETED:
        return ended
    last = [
        event
        async for event in handle.fetch_history_events(
            page_size=1, event_filter_type=WorkflowHistoryEventFilterType.CLOSE_EVENT
        )
    ]
    said = [
        payload.data.decode(errors="replace")
        for event in last
        for payload in event.workflow_execution_completed_event_attributes.result.payloads
    ]
    return f"{ended}: {' '.join(said)[:LONGEST_RESULT]}"


async def _describe(temporal: Client, workflow_id: str, run_id: str) -> str:
    described = (await temporal.get_workflow_handle(workflow_id, run_id=run_id).describe()).raw_description
    waits = [
        f"{one.activity_type.name}, attempt {one.attempt}"
        + (f" after: {one.last_failure.message}" if one.last_failure.message else "")
        for one in described.pending_activities
    ]
    waits += [f"child {one.workflow_id}" for one in described.pending_children]
    if described.HasField("pending_workflow_task"):
        waits.append(f"workflow task, attempt {described.pending_workflow_task.attempt}")
    return f"{workflow_id} waits for {'; '.join(waits) or 'a timer or a signal'}"
