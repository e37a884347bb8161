"""The named cases of research: each is played on fakes and gives the run whose history is kept."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.worker import Worker

from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.evaluate.contracts import EVALUATION, EvaluationInput
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.research.contracts import research_workflow_id
from pressbox.curator.research.domain import Limits, ResearchState
from pressbox.curator.research.service import ResearchService, ResearchStarter
from pressbox.curator.research.workflow import DeepResearchWorkflow
from tests.fakes.research import READER, FakeResearchWorld
from tests.waiting import until

Handle = WorkflowHandle[Any, Any]
QUESTION = "Why does the ferry leave before sunrise?"
POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=300))


@workflow.defn(name=EVALUATION, sandboxed=False)
class Judged:
    @workflow.run
    async def run(self, input: EvaluationInput) -> None:
        return None


@dataclass(frozen=True)
class Desk:
    client: Client
    world: FakeResearchWorld
    service: ResearchService

    async def start(self) -> tuple[int, Handle]:
        run_id = await self.service.start(READER, QUESTION, Limits(rounds=2))
        return run_id, self.client.get_workflow_handle(research_workflow_id(run_id))

    async def until_run_is(self, run_id: int, state: ResearchState) -> None:
        await until(lambda: self.world.run(run_id).state is state)


async def two_rounds(desk: Desk) -> Handle:
    """To its report, which is judged."""
    _, handle = await desk.start()
    await handle.result()
    return handle


async def stopped_while_waiting(desk: Desk) -> Handle:
    desk.world.paid.away = TransientError("The model is loading.")
    run_id, handle = await desk.start()
    await desk.until_run_is(run_id, ResearchState.WAITING)
    await desk.service.stop(READER, run_id)
    await handle.result()
    return handle


async def waited_for_the_model(desk: Desk) -> Handle:
    desk.world.paid.away = TransientError("The model is loading.")
    run_id, handle = await desk.start()
    await desk.until_run_is(run_id, ResearchState.WAITING)
    desk.world.paid.away = None
    await handle.result()
    return handle


async def failed(desk: Desk) -> Handle:
    desk.world.paid.away = PermanentError("Planted for the recording.")
    _, handle = await desk.start()
    try:
        await handle.result()
    except WorkflowFailureError:
        return handle
    raise AssertionError("It had to fail.")


CASES: tuple[tuple[type, str, Callable[[Desk], Awaitable[Handle]]], ...] = (
    (DeepResearchWorkflow, "two-rounds", two_rounds),
    (DeepResearchWorkflow, "stopped-while-waiting", stopped_while_waiting),
    (DeepResearchWorkflow, "research-waited-for-the-model", waited_for_the_model),
    (DeepResearchWorkflow, "research-failed", failed),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[Desk]:
    """A fresh library, and workers on it."""
    world, queue = FakeResearchWorld(), f"record-{secrets.token_hex(4)}"
    for number in range(5):
        world.article(f"Tides {number}", f"The tide number {number} decides when a ferry may leave before sunrise.")
    made = world.activities()
    heavy: list[Callable[..., Any]] = [
        made.plan_research,
        made.search_for_research,
        made.read_for_research,
        made.check_research,
        made.write_research,
    ]
    light: list[Callable[..., Any]] = [made.open_research, made.close_research]
    starter = ResearchStarter(client, queue, POLICY, evaluate=True)
    async with AsyncExitStack() as workers:
        for name, activities, workflows in (
            (queue, light, [DeepResearchWorkflow, Judged]),
            (heavy_queue(queue), heavy, []),
        ):
            worker = Worker(
                client,
                task_queue=name,
                workflows=workflows,
                activities=activities,
                interceptors=[ErrorInterceptor()],
            )
            await workers.enter_async_context(worker)
        yield Desk(client, world, ResearchService(world.runs, starter, Limits(), has_model=True))
