"""Update and rebuild of the graph, on a real server."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError, PressboxError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.graph import workflow as graph_workflow
from pressbox.curator.graph.contracts import GlobalGraphUpdateInput, GraphRebuildInput
from pressbox.curator.graph.service import GraphStarter
from pressbox.curator.graph.workflow import GlobalGraphUpdateWorkflow, GraphRebuildWorkflow
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from tests.fakes.graph import FakeShelf
from tests.waiting import progress_when_waiting

POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=200))
Handle = WorkflowHandle[Any, Any]


class Desk:
    """A shelf of articles, and workers on it."""

    def __init__(self, client: Client, shelf: FakeShelf) -> None:
        self.client, self.shelf, self.queue = client, shelf, f"test-{secrets.token_hex(4)}"
        self.starter = GraphStarter(client, self.queue, POLICY)

    async def start(self, workflow: type, input: Contract) -> Handle:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=f"{workflow.__name__}-{self.queue}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        )

    async def update(self, **input: Any) -> Any:
        wanted = GlobalGraphUpdateInput(policy=POLICY, **input)
        return await (await self.start(GlobalGraphUpdateWorkflow, wanted)).result()

    async def rebuild(self, **input: Any) -> Any:
        return await (await self.start(GraphRebuildWorkflow, GraphRebuildInput(policy=POLICY, **input))).result()

    @asynccontextmanager
    async def workers(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for queue, functions, workflows in (
                (self.queue, self.shelf.plain_activities(), [GlobalGraphUpdateWorkflow, GraphRebuildWorkflow]),
                (heavy_queue(self.queue), self.shelf.heavy_activities(), []),
            ):
                worker = Worker(
                    self.client,
                    task_queue=queue,
                    workflows=workflows,
                    activities=functions,
                    interceptors=[ErrorInterceptor()],
                    workflow_failure_exception_types=[PressboxError],
                )
                await stack.enter_async_context(worker)
            yield


@pytest.fixture
async def desk(temporal: Client) -> AsyncIterator[Desk]:
    desk = Desk(temporal, FakeShelf())
    async with desk.workers():
        yield desk


async def test_an_update_adds_all_that_wait_batch_by_batch_and_marks_what_is_in(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_workflow, "ADDED_PER_RUN", 2)
    desk.shelf.put(7)
    desk.shelf.troubles = {3: PermanentError("It speaks nonsense.")}
    done = await desk.update(batch_size=2)
    assert done == {"added": 6, "failed": 1}
    assert sorted(desk.shelf.in_graph) == [1, 2, 4, 5, 6, 7]
    assert desk.shelf.failed == {3: "It speaks nonsense."}
    assert desk.shelf.graph.pruned == 1
    assert await desk.update() == {"added": 0, "failed": 0}
    desk.shelf.troubles.clear()
    assert await desk.update(retry_failed=True) == {"added": 1, "failed": 0}


async def test_an_update_waits_for_its_model_and_says_so(desk: Desk) -> None:
    desk.shelf.put(2)
    desk.shelf.away = TransientError("The model is away.")
    handle = await desk.start(GlobalGraphUpdateWorkflow, GlobalGraphUpdateInput(policy=POLICY))
    shown = await progress_when_waiting(handle, GlobalGraphUpdateWorkflow.get_progress)
    assert (shown.message, shown.entries_added) == ("The model is away.", 0)
    desk.shelf.away = None
    assert await handle.result() == {"added": 2, "failed": 0}
    assert (await handle.query(GlobalGraphUpdateWorkflow.get_progress)).entry_progress["1"].status == "completed"


async def test_a_clean_rebuild_swaps_at_its_end_and_a_second_one_joins_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_workflow, "REBUILT_PER_RUN", 2)
    desk.shelf.put(5)
    await desk.update()
    started: set[str] = set()

    def look(entry_id: int) -> None:
        started.add(f"{entry_id}: {sorted(desk.shelf.graph.kept[0])}")

    desk.shelf.before_extract = look
    desk.shelf.known.clear()
    first, second = await asyncio.gather(desk.rebuild(batch_size=1, clean=True), desk.rebuild(batch_size=1, clean=True))
    assert first == second == {"added": 5, "failed": 0}
    assert desk.shelf.graph.swapped == [1], "one rebuild, one generation, across continue-as-new"
    assert started == {f"{number}: [1, 2, 3, 4, 5]" for number in range(1, 6)}, "readers keep the old graph meanwhile"
    assert sorted(desk.shelf.graph.kept[0]) == [1, 2, 3, 4, 5]


async def test_a_rebuild_whose_worker_dies_goes_on_where_it_was(temporal: Client) -> None:
    desk = Desk(temporal, FakeShelf())
    desk.shelf.put(4)
    desk.shelf.away = TransientError("The model is away.")
    async with desk.workers():
        handle = await desk.start(GraphRebuildWorkflow, GraphRebuildInput(batch_size=2, clean=True, policy=POLICY))
        await progress_when_waiting(handle, GraphRebuildWorkflow.get_progress)
    desk.shelf.away = None
    async with desk.workers():
        assert await handle.result() == {"added": 4, "failed": 0}
    assert desk.shelf.graph.swapped == [1]
    assert desk.shelf.in_graph == {}, "only what is read counts as added; the next update finds these by state"
