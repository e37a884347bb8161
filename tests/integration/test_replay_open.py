"""The check before an upgrade: open workflows are replayed on the code that is about to run them."""

import secrets
from datetime import timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from tests.waiting import look_until

ROOT = Path(__file__).parents[2]
WAIT = timedelta(days=1)
# Started, and a task that was scheduled, started, completed and set the timer.
EVENTS_UNTIL_TIMER = 5


@workflow.defn(name="Upgraded")
class BeforeUpgrade:
    @workflow.run
    async def run(self) -> None:
        await workflow.sleep(WAIT)


@workflow.defn(name="Upgraded")
class AfterUpgrade:
    @workflow.run
    async def run(self) -> None:
        await workflow.wait_condition(lambda: False)


@workflow.defn
class AnotherWorkflow:
    @workflow.run
    async def run(self) -> None:
        await workflow.sleep(WAIT)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = spec_from_file_location("replay_open", ROOT / "deploy" / "replay_open.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def open_run(temporal: Client) -> WorkflowHandle[BeforeUpgrade, None]:
    queue = f"replay-{secrets.token_hex(4)}"
    async with Worker(temporal, task_queue=queue, workflows=[BeforeUpgrade]):
        handle = await temporal.start_workflow(BeforeUpgrade.run, id=queue, task_queue=queue)
        await look_until(handle.fetch_history, lambda history: len(history.events) >= EVENTS_UNTIL_TIMER)
    return handle


async def test_an_open_workflow_passes_on_its_own_code_and_is_named_when_the_new_code_would_break_it(
    temporal: Client, script: ModuleType
) -> None:
    handle = await open_run(temporal)
    try:
        # The list of open workflows follows a moment later.
        found = await look_until(
            lambda: script.replay_open(temporal, [BeforeUpgrade]), lambda found: handle.id in found
        )
        assert found[handle.id] is None
        assert "Nondeterminism" in (await script.replay_open(temporal, [AfterUpgrade]))[handle.id]
        assert "not registered" in (await script.replay_open(temporal, [AnotherWorkflow]))[handle.id]
    finally:
        await handle.terminate()
