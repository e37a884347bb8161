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
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.core.temporal.faults import Action, Fault, FaultInterceptor, every_fault, plant, planted
from pressbox.maintenance.activities import MaintenanceActivities
from pressbox.maintenance.contracts import MaintenancePolicy, MaintenanceWorkflowInput, MaintenanceWorkflowResult
from pressbox.maintenance.workflows.maintenance import MaintenanceWorkflow
from tests.architecture.test_registration import ACTIVITIES
from tests.fakes.maintenance import FakeRecords, FakeScratch

INPUT = MaintenanceWorkflowInput(
    policy=MaintenancePolicy(
        keep_changes=timedelta(hours=1), keep_progress=timedelta(days=7), keep_scratch=timedelta(hours=24)
    )
)


@asynccontextmanager
async def maintenance_with(client: Client, faults: Path, records: FakeRecords) -> AsyncIterator[str]:
    prune = MaintenanceActivities(records, FakeScratch([]))
    queue = f"test-{secrets.token_hex(4)}"
    methods = [getattr(prune, name) for name in ACTIVITIES["core"]]
    async with Worker(
        client,
        task_queue=queue,
        workflows=[MaintenanceWorkflow],
        activities=methods,
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
    records = FakeRecords({"sessions": 2, "changes": 3})
    async with maintenance_with(temporal, tmp_path, records) as queue:
        await run(temporal, queue)
    assert planted(tmp_path) == (), "every planted fault has struck"
    assert records.old == {}, "everything was pruned"
    asked = [name for name, _ in records.asked]
    assert asked.count("sessions") == 2, "one failure after the effect repeats the effect once"


async def test_a_refusal_is_not_retried(temporal: Client, tmp_path: Path) -> None:
    plant(tmp_path, Fault.parse("prune_tokens.before.refuse"))
    records = FakeRecords({})
    async with maintenance_with(temporal, tmp_path, records) as queue:
        with pytest.raises(WorkflowFailureError):
            await run(temporal, queue)
    assert "tokens" not in [name for name, _ in records.asked]


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
    assert planted(tmp_path / "missing") == ()
