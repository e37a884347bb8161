"""Planted faults, and maintenance under each of them: killed, failed or refused before and after every effect."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.errors import InvalidInputError
from pressbox.core.temporal.calls import activity_methods
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.core.temporal.faults import Action, Fault, FaultInterceptor, every_fault, list_planted, plant
from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import Kind, MaintenancePolicy, MaintenanceWorkflowInput, MaintenanceWorkflowResult
from pressbox.maintenance.workflow import MaintenanceWorkflow
from tests.architecture.test_registration import ACTIVITIES
from tests.fakes.maintenance import FakeStore

INPUT = MaintenanceWorkflowInput(
    policy=MaintenancePolicy(
        keep_changes=timedelta(hours=1),
        keep_progress=timedelta(days=7),
        keep_scratch=timedelta(hours=24),
        keep_audit_log=timedelta(days=365),
        keep_notices=timedelta(days=90),
    )
)


@asynccontextmanager
async def maintenance_with(client: Client, faults: Path, store: FakeStore) -> AsyncIterator[str]:
    queue = f"test-{secrets.token_hex(4)}"
    async with Worker(
        client,
        task_queue=queue,
        workflows=[MaintenanceWorkflow],
        activities=activity_methods(MaintenanceActivities(store)),
        interceptors=[ErrorInterceptor(), FaultInterceptor(faults)],
    ):
        yield queue


async def run(client: Client, queue: str) -> MaintenanceWorkflowResult:
    return await client.execute_workflow(
        MaintenanceWorkflow.run,
        INPUT,
        id=f"core-maintenance-{secrets.token_hex(4)}",
        task_queue=queue,
        id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
        id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
    )


async def test_failing_once_before_and_after_every_effect_changes_nothing(temporal: Client, tmp_path: Path) -> None:
    faults = every_fault(ACTIVITIES["core"], Action.FAIL)
    for fault in faults:
        plant(tmp_path, fault)
    store = FakeStore({Kind.SESSIONS: 2, Kind.CHANGES: 3, Kind.ACCOUNTS: 1, Kind.AUDIT_LOG: 4})
    async with maintenance_with(temporal, tmp_path, store) as queue:
        await run(temporal, queue)
    assert list_planted(tmp_path) == (), "every planted fault has struck"
    assert store.rows == {}, "everything was pruned"
    asked = [kind for kind, _ in store.asked]
    assert asked.count(Kind.SESSIONS) == 2, "one failure after the effect repeats the effect once"


async def test_a_refusal_is_not_retried(temporal: Client, tmp_path: Path) -> None:
    plant(tmp_path, Fault.parse("prune_tokens.before.refuse"))
    store = FakeStore()
    async with maintenance_with(temporal, tmp_path, store) as queue:
        with pytest.raises(WorkflowFailureError):
            await run(temporal, queue)
    assert Kind.TOKENS not in [kind for kind, _ in store.asked]


async def test_a_planted_fault_strikes_once_although_many_look(tmp_path: Path) -> None:
    plant(tmp_path, Fault.parse("x.before.fail"))
    interceptor = FaultInterceptor(tmp_path).intercept_activity(None)  # type: ignore[arg-type]
    fault = Fault.parse("x.before.fail")
    taken = await asyncio.gather(*(asyncio.to_thread(interceptor._take, fault) for _ in range(20)))  # type: ignore[attr-defined]
    assert taken.count(True) == 1


@pytest.mark.parametrize("text", ["", "x", "x.before", "x.during.kill", "x.before.explode", "a.b.before.kill"])
def test_a_fault_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a fault"):
        Fault.parse(text)


def test_no_folder_means_no_faults(tmp_path: Path) -> None:
    assert list_planted(tmp_path / "missing") == ()
