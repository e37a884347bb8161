"""The named cases of the graph's workflows: each is played on fakes and gives the run whose history is kept."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.graph.contracts import GlobalGraphUpdateInput, GraphRebuildInput
from pressbox.curator.graph.workflow import GlobalGraphUpdateWorkflow, GraphRebuildWorkflow
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from tests.fakes.graph import FakeShelf
from tests.waiting import progress_when_waiting

Handle = WorkflowHandle[Any, Any]
POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=300))


@dataclass(frozen=True)
class Desk:
    client: Client
    queue: str
    shelf: FakeShelf

    async def start(self, workflow: type, input: Contract) -> Handle:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def ended(self, workflow: type, input: Contract) -> Handle:
        handle = await self.start(workflow, input)
        await handle.result()
        return handle


async def nothing_new(desk: Desk) -> Handle:
    return await desk.ended(GlobalGraphUpdateWorkflow, GlobalGraphUpdateInput(policy=POLICY, routine=True))


async def some_fail(desk: Desk) -> Handle:
    """Two batches; one entry cannot be read, another is refused."""
    desk.shelf.put(5)
    desk.shelf.troubles = {2: PermanentError("It speaks nonsense.")}
    desk.shelf.graph.refuse = {4: "It is not wanted."}
    return await desk.ended(GlobalGraphUpdateWorkflow, GlobalGraphUpdateInput(batch_size=3, policy=POLICY))


async def model_away(desk: Desk) -> Handle:
    """What is known goes in, the rest waits."""
    desk.shelf.put(1)
    await desk.ended(GlobalGraphUpdateWorkflow, GlobalGraphUpdateInput(policy=POLICY))
    desk.shelf.in_graph.clear()
    desk.shelf.put(3)
    desk.shelf.away = TransientError("The model is away.")
    handle = await desk.start(GlobalGraphUpdateWorkflow, GlobalGraphUpdateInput(policy=POLICY))
    await progress_when_waiting(handle, GlobalGraphUpdateWorkflow.get_progress)
    desk.shelf.away = None
    await handle.result()
    return handle


async def completed_graph(desk: Desk) -> Handle:
    desk.shelf.put(3)
    return await desk.ended(GraphRebuildWorkflow, GraphRebuildInput(batch_size=2, policy=POLICY))


async def built_anew(desk: Desk) -> Handle:
    desk.shelf.put(3)
    desk.shelf.troubles = {2: PermanentError("It speaks nonsense.")}
    return await desk.ended(GraphRebuildWorkflow, GraphRebuildInput(batch_size=2, clean=True, policy=POLICY))


CASES: tuple[tuple[type, str, Callable[[Desk], Awaitable[Handle]]], ...] = (
    (GlobalGraphUpdateWorkflow, "nothing-new", nothing_new),
    (GlobalGraphUpdateWorkflow, "some-fail", some_fail),
    (GlobalGraphUpdateWorkflow, "model-away", model_away),
    (GraphRebuildWorkflow, "completed-graph", completed_graph),
    (GraphRebuildWorkflow, "built-anew", built_anew),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[Desk]:
    """A fresh shelf, and workers on it."""
    desk = Desk(client, f"record-{secrets.token_hex(4)}", FakeShelf())
    async with AsyncExitStack() as workers:
        for queue, functions, workflows in (
            (desk.queue, desk.shelf.plain_activities(), [GlobalGraphUpdateWorkflow, GraphRebuildWorkflow]),
            (heavy_queue(desk.queue), desk.shelf.heavy_activities(), []),
        ):
            worker = Worker(
                client, task_queue=queue, workflows=workflows, activities=functions, interceptors=[ErrorInterceptor()]
            )
            await workers.enter_async_context(worker)
        yield desk
