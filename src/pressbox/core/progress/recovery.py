"""Adds the rows of workflows whose reports died with a worker.

A report waits in the memory of its worker until it is written. What a killed worker had not written yet is lost, and a
workflow that has ended, or waits for months, says nothing more. So each worker that starts looks at what Temporal has
seen lately, and asks every workflow without a row for its progress. It looks twice, because Temporal lists on a busy
machine only seconds later what began or ended.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from pydantic import ValidationError
from sqlalchemy import func, select
from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError, WorkflowQueryRejectedError
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.audiences.contracts import NOBODY
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.logs import get_logger
from pressbox.core.progress.closing import end_of
from pressbox.core.progress.contracts import Progress, ProgressState, ProgressUpdate, title_of
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.progress.sink import store
from pressbox.core.temporal.client import translate_rpc_errors

log = get_logger(__name__)

T = TypeVar("T")

# Longer than reports wait while the database is away for a restart.
LOOK_BACK = timedelta(minutes=10)
AGAIN_SECONDS = 5.0
SECOND_LOOK_SECONDS = 20.0
QUERY_TIMEOUT = timedelta(seconds=10)
AT_MOST = 1_000
_CANNOT_ANSWER = (RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.NOT_FOUND)


async def recover_reports(database: Database, client: Client, task_queues: Sequence[str]) -> None:
    """Add what is missing. A part that is away only delays it; a refusal ends it, for the work itself goes on."""
    since = await _when_there(lambda: find_start(database))
    try:
        added = await _when_there(lambda: add_missing(database, client, task_queues, since))
        await asyncio.sleep(SECOND_LOOK_SECONDS)
        added += await _when_there(lambda: add_missing(database, client, task_queues, since))
    except RPCError as error:
        log.error("recovery_refused", msg=f"Temporal does not list what ran lately: {error.message}")
        return
    if added:
        log.info("progress_recovered", msg=f"Added {added} workflows that a worker had not reported", added=added)


async def _when_there(look: Callable[[], Awaitable[T]]) -> T:
    while True:
        try:
            return await look()
        except TransientError as error:
            log.warning("recovery_waits", msg=str(error))
            await asyncio.sleep(AGAIN_SECONDS)


async def find_start(database: Database) -> datetime:
    """Return from when on reports may be missing."""
    async with database.unit_of_work() as work:
        last = await work.session.scalar(select(func.max(ProgressRow.updated_at))) or datetime.now(UTC)
    return last - LOOK_BACK


async def add_missing(database: Database, client: Client, task_queues: Sequence[str], since: datetime) -> int:
    """Write a row for every workflow of these queues that ran since then and has none; return how many there were."""
    with translate_rpc_errors():
        recent = await _list_recent(client, task_queues, since)
        known = await _find_known(database, [run.id for run in recent])
        found = [await _describe(client, run) for run in recent if run.id not in known]
    missing = [update for update in found if update is not None]
    if missing:
        async with database.unit_of_work() as work:
            await store(work, missing)
    return len(missing)


async def _list_recent(client: Client, task_queues: Sequence[str], since: datetime) -> Sequence[WorkflowExecution]:
    queues = ", ".join(f"'{queue}'" for queue in task_queues)
    moment = since.isoformat()
    query = f"TaskQueue IN ({queues}) AND (StartTime >= '{moment}' OR CloseTime >= '{moment}')"
    newest: dict[str, WorkflowExecution] = {}
    async for run in client.list_workflows(query, limit=AT_MOST):
        known = newest.get(run.id)
        if known is None or known.start_time < run.start_time:
            newest[run.id] = run
    return list(newest.values())


async def _find_known(database: Database, workflow_ids: Sequence[str]) -> set[str]:
    async with database.unit_of_work() as work:
        wanted = select(ProgressRow.workflow_id).where(ProgressRow.workflow_id.in_(workflow_ids))
        return set(await work.session.scalars(wanted))


async def _describe(client: Client, run: WorkflowExecution) -> ProgressUpdate | None:
    """Build the report that got lost, or None when this run would not have given one."""
    progress, detail = await _ask(client, run)
    ended, error = end_of(run.status) or (ProgressState.RUNNING, "")
    state = progress.state_of(ended)
    if progress.routine and not error:
        return None
    return ProgressUpdate(
        workflow_id=run.id,
        run_id=run.run_id,
        workflow_type=run.workflow_type,
        task_queue=run.task_queue,
        parent_workflow_id=run.parent_id or progress.starter or None,
        state=state,
        title=progress.title,
        done=progress.done,
        total=progress.total,
        message=progress.message,
        error=error or (progress.problem if state is ProgressState.INCOMPLETE else ""),
        detail=detail,
        audience=progress.audience,
        started_at=run.start_time,
        updated_at=run.close_time or run.start_time,
    )


async def _ask(client: Client, run: WorkflowExecution) -> tuple[Progress, dict[str, Any]]:
    """What it says of itself, with all its counters, or its type in words when it cannot answer."""
    handle = client.get_workflow_handle(run.id, run_id=run.run_id)
    try:
        answer: Any = await handle.query("get_progress", rpc_timeout=QUERY_TIMEOUT)
        progress = Progress.model_validate(answer)
    # A worker of another version may answer in another shape.
    except (WorkflowQueryFailedError, WorkflowQueryRejectedError, ValidationError):
        return Progress(title=title_of(run.workflow_type), audience=NOBODY), {}
    except RPCError as error:
        # Its worker is away or does not know the type any more; that it exists is still worth a line.
        if error.status not in _CANNOT_ANSWER:
            raise
        return Progress(title=title_of(run.workflow_type), audience=NOBODY), {}
    return progress, {name: value for name, value in answer.items() if name != "audience"}
