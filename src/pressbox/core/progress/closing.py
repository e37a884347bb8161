"""Closes rows whose workflow ended without a word: terminated, timed out, or reported into a dead worker."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import literal, select, tuple_, update
from temporalio.client import Client, WorkflowExecutionDescription, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.progress.contracts import OPEN_STATES, ProgressState
from pressbox.core.progress.rows import WORKFLOW_CHANGED, ProgressRow
from pressbox.core.temporal.client import translate_rpc_errors

log = get_logger(__name__)

SILENT_AFTER = timedelta(seconds=30)
EVERY_SECONDS = 15.0
AT_ONCE = 100

# Others are asked for one by one: what quotes mean in a query is the server's affair.
_QUOTABLE = re.compile(r"[^'\"\\]+")


class SilentRow(NamedTuple):
    updated_at: datetime
    workflow_id: str


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
    """Close the rows of workflows that have ended, and return how many. All silent rows are looked at, in pages."""
    before = datetime.now(UTC) - silent_after
    closed = 0
    last: SilentRow | None = None
    while page := await _list_silent(database, before, after=last):
        # No transaction is open while Temporal is asked.
        with translate_rpc_errors():
            open_ones = await _list_open(client, page)
            silent = [row for row in page if row.workflow_id not in open_ones]
            ends = [(row, await _end(client, row.workflow_id)) for row in silent]
        for row, end in ends:
            if end is not None:
                closed += await _close(database, row.workflow_id, row.updated_at, *end)
        last = page[-1]
    return closed


async def _list_silent(database: Database, before: datetime, after: SilentRow | None) -> list[SilentRow]:
    order = (ProgressRow.updated_at, ProgressRow.workflow_id)
    statement = select(*order).where(ProgressRow.state.in_(OPEN_STATES), ProgressRow.updated_at < before)
    if after is not None:
        statement = statement.where(tuple_(*order) > tuple_(literal(after.updated_at), literal(after.workflow_id)))
    async with database.unit_of_work() as work:
        rows = await work.session.execute(statement.order_by(*order).limit(AT_ONCE))
        return [SilentRow(updated_at, workflow_id) for updated_at, workflow_id in rows.tuples()]


async def _list_open(client: Client, rows: Sequence[SilentRow]) -> set[str]:
    """Return those that run, by one request: an event waits for months, and there may be thousands."""
    ids = ", ".join(f"'{row.workflow_id}'" for row in rows if _QUOTABLE.fullmatch(row.workflow_id))
    if not ids:
        return set()
    running = client.list_workflows(f"ExecutionStatus = 'Running' AND WorkflowId IN ({ids})")
    return {run.id async for run in running}


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
