"""MaintenanceWorkflow on a real server, with real activity classes on fake ports."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from pressbox.core.audiences.contracts import ADMINISTRATORS
from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.progress.contracts import Progress, ProgressState, ProgressUpdate
from pressbox.core.progress.interceptor import ProgressInterceptor
from pressbox.core.progress.report import report
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import Kind, MaintenancePolicy, MaintenanceWorkflowInput
from pressbox.maintenance.workflow import MaintenanceWorkflow
from tests.fakes.maintenance import FakeStore

INPUT = MaintenanceWorkflowInput(
    policy=MaintenancePolicy(
        keep_changes=timedelta(hours=1), keep_progress=timedelta(days=7), keep_scratch=timedelta(hours=24)
    )
)


@workflow.defn(sandboxed=False)
class RoutineWorkflow:
    @workflow.query
    def get_progress(self) -> Progress:
        return Progress(title="Sweeping", audience=ADMINISTRATORS, routine=True)

    @workflow.run
    async def run(self, fail: bool) -> None:
        report(self.get_progress())
        if fail:
            raise ApplicationError("Something is wrong.")


@asynccontextmanager
async def maintenance_worker(client: Client, store: FakeStore, reports: list[ProgressUpdate]) -> AsyncIterator[str]:
    queue = f"test-{secrets.token_hex(4)}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[MaintenanceWorkflow],
        activities=activity_methods(MaintenanceActivities(store)),
        interceptors=[ErrorInterceptor(), ProgressInterceptor(reports.append)],
    ):
        yield queue


async def run(client: Client, queue: str) -> dict[str, int]:
    result = await client.execute_workflow(
        MaintenanceWorkflow.run,
        INPUT,
        id=f"core-maintenance-{secrets.token_hex(4)}",
        task_queue=queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
    )
    return result.removed


async def test_every_kind_is_pruned_once_and_counted(temporal: Client) -> None:
    reports: list[ProgressUpdate] = []
    store = FakeStore({Kind.SESSIONS: 3, Kind.CHANGES: 5}, ["scratch/a", "scratch/b"])
    async with maintenance_worker(temporal, store, reports) as queue:
        removed = await run(temporal, queue)
    assert removed == {
        "sessions": 3,
        "tokens": 0,
        "rate limits": 0,
        "changes": 5,
        "progress": 0,
        "scratch objects": 2,
    }
    before = dict(store.asked)
    assert before[Kind.SESSIONS] - before[Kind.CHANGES] == timedelta(hours=1)
    assert before[Kind.SESSIONS] - before[Kind.PROGRESS] == timedelta(days=7)


async def test_progress_rises_and_ends_completed(temporal: Client) -> None:
    reports: list[ProgressUpdate] = []
    async with maintenance_worker(temporal, FakeStore(), reports) as queue:
        await run(temporal, queue)
    done = [report.done for report in reports]
    assert done == sorted(done)
    assert (reports[0].done, reports[0].state) == (0, ProgressState.RUNNING)
    assert (reports[-1].done, reports[-1].total, reports[-1].state) == (6, 6, ProgressState.COMPLETED)


async def test_a_database_that_is_away_for_a_moment_is_waited_for(temporal: Client) -> None:
    class Flaky(FakeStore):
        async def delete_rows(self, kind: Kind, before: datetime) -> int:
            found = await super().delete_rows(kind, before)
            if kind is Kind.TOKENS and [asked for asked, _ in self.asked].count(kind) < 3:
                raise TransientError("The database does not answer.")
            return 4 if kind is Kind.TOKENS else found

    store = Flaky()
    async with maintenance_worker(temporal, store, []) as queue:
        removed = await run(temporal, queue)
    assert removed["tokens"] == 4
    instants = {before for kind, before in store.asked if kind is Kind.TOKENS}
    assert len(instants) == 1, "a retry must prune up to the same instant"


async def test_a_permanent_error_fails_the_workflow_with_its_reason(temporal: Client) -> None:
    class Broken(FakeStore):
        async def delete_rows(self, kind: Kind, before: datetime) -> int:
            found = await super().delete_rows(kind, before)
            if kind is Kind.CHANGES:
                raise PermanentError("The table is not ours.")
            return found

    reports: list[ProgressUpdate] = []
    store = Broken()
    async with maintenance_worker(temporal, store, reports) as queue:
        with pytest.raises(WorkflowFailureError):
            await run(temporal, queue)
    assert [kind for kind, _ in store.asked].count(Kind.CHANGES) == 1, "a permanent error is not retried"
    assert (reports[-1].state, reports[-1].error) == (ProgressState.FAILED, "The table is not ours.")
    assert reports[-1].done == 3


async def test_a_routine_run_is_reported_only_when_it_fails(temporal: Client) -> None:
    reports: list[ProgressUpdate] = []
    queue = f"test-{secrets.token_hex(4)}"
    async with Worker(
        temporal, task_queue=queue, workflows=[RoutineWorkflow], interceptors=[ProgressInterceptor(reports.append)]
    ):
        for fail in (False, True):
            handle = await temporal.start_workflow(
                RoutineWorkflow.run,
                fail,
                id=f"routine-{secrets.token_hex(4)}",
                task_queue=queue,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            )
            await asyncio.gather(handle.result(), return_exceptions=True)
    assert [(report.state, report.error) for report in reports] == [(ProgressState.FAILED, "Something is wrong.")]
