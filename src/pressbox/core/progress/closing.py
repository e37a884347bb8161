"""Closes rows whose workflow ended without a word: terminated, timed out, or reported into a dead worker."""

import asyncio
from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow
from pressbox.core.temporal.client import translate_rpc_errors

log = get_logger(__name__)

SILENT_AFTER = timedelta(seconds=30)
EVERY_SECONDS = 15.0
AT_ONCE = 100

_ENDS = {
    WorkflowExecutionStatus.COMPLETED: (ProgressState.COMPLETED, ""),
    WorkflowExecutionStatus.FAILED: (ProgressState.FAILED, "It failed; Temporal's page has the reason."),
    WorkflowExecutionStatus.CANCELED: (ProgressState.CANCELLED, ""),
    WorkflowExecutionStatus.TERMINATED: (ProgressState.CANCELLED, "It was terminated."),
    WorkflowExecutionStatus.TIMED_OUT: (ProgressState.FAILED, "It ran longer than it may."),
}


async def keep_closing(database: Database, client: Client) -> None:
    """Look for silent rows until cancelled. A part that is away only delays the next look."""
    while True:
        await asyncio.sleep(EVERY_SECONDS)
        try:
            closed = await close_silent(database, client, silent_after=SILENT_AFTER)
        except TransientError as error:
            log.warning("closing_waits", msg=str(error))
            continue
        if closed:
            log.info("progress_closed", msg=f"Closed {closed} silent workflows from visibility", closed=closed)


async def close_silent(database: Database, client: Client, *, silent_after: timedelta) -> int:
    before = datetime.now(UTC) - silent_after
    async with database.unit_of_work() as work:
        rows = await work.session.execute(
            select(ProgressRow.workflow_id, ProgressRow.updated_at)
            .where(ProgressRow.state == ProgressState.RUNNING, ProgressRow.updated_at < before)
            .order_by(ProgressRow.updated_at)
            .limit(AT_ONCE)
        )
        silent = list(rows.tuples())
    # No transaction is open while Temporal is asked.
    with translate_rpc_errors():
        ends = [(workflow_id, seen, await _end(client, workflow_id)) for workflow_id, seen in silent]
    closed = 0
    for workflow_id, seen, end in ends:
        if end is not None:
            closed += await _close(database, workflow_id, seen, *end)
    return closed


async def _close(
    database: Database, workflow_id: str, seen: datetime, state: ProgressState, error: str, closed_at: datetime
) -> int:
    async with database.unit_of_work() as work:
        changed = await work.session.execute(
            update(ProgressRow)
            # Only if nothing was heard meanwhile.
            .where(ProgressRow.workflow_id == workflow_id, ProgressRow.updated_at == seen)
            .values(state=state, error=error, closed_at=closed_at, updated_at=closed_at)
            .returning(ProgressRow.workflow_id)
        )
        if changed.first() is None:
            return 0
        work.changed(WORKFLOW_CHANGED, workflow_id)
        return 1


def end_of(status: WorkflowExecutionStatus | None) -> tuple[ProgressState, str] | None:
    """Return how a run ended and what to say of it, or None while it runs."""
    return _ENDS.get(status) if status else None


async def _end(client: Client, workflow_id: str) -> tuple[ProgressState, str, datetime] | None:
    description = await _describe(client, workflow_id)
    if description is None:
        return ProgressState.CANCELLED, "Temporal no longer knows it.", datetime.now(UTC)
    end = end_of(description.status)
    return (*end, description.close_time or datetime.now(UTC)) if end else None


async def _describe(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    try:
        return await client.get_workflow_handle(workflow_id).describe()
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
