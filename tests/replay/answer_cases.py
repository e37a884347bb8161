"""The named cases of answering: played on fakes, they give the runs whose histories are kept."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.errors import PermanentError, PressboxError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.ask.activities import AnswerActivities
from pressbox.curator.ask.contracts import AnswerInput
from pressbox.curator.ask.workflow import AnswerWorkflow
from pressbox.curator.evaluate.workflows import EvaluationWorkflow
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from tests.fakes.asking import FakeAnswers, FakeModel, FakeRetriever
from tests.fakes.evaluating import FakeBench

Handle = WorkflowHandle[Any, Any]
POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=300))


@dataclass
class Asking:
    """A desk, a retriever, a model or none, a judge, and workers on them."""

    client: Client
    queue: str = field(default_factory=lambda: f"ask-{secrets.token_hex(4)}")
    desk: FakeAnswers = field(default_factory=FakeAnswers)
    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    model: FakeModel | None = field(default_factory=FakeModel)
    bench: FakeBench = field(default_factory=FakeBench)

    async def start(self, *, evaluate: bool = False) -> Handle:
        return await self.client.start_workflow(
            AnswerWorkflow.__name__,
            AnswerInput(answer_id=5, evaluate=evaluate, policy=POLICY),
            id=f"answer-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def ended(self, *, evaluate: bool = False) -> Handle:
        handle = await self.start(evaluate=evaluate)
        await handle.result()
        return handle

    @asynccontextmanager
    async def working(self) -> AsyncIterator["Asking"]:
        answering = AnswerActivities(self.desk, self.retriever, self.model)
        heavy = [answering.retrieve_passages, answering.write_answer, *self.bench.activities()]
        async with AsyncExitStack() as workers:
            for queue, activities, workflows in (
                (self.queue, [answering.end_answer], [AnswerWorkflow, EvaluationWorkflow]),
                (heavy_queue(self.queue), heavy, []),
            ):
                worker = Worker(
                    self.client,
                    task_queue=queue,
                    workflows=workflows,
                    activities=activities,
                    interceptors=[ErrorInterceptor()],
                    workflow_failure_exception_types=[PressboxError],
                )
                await workers.enter_async_context(worker)
            yield self


async def answered_and_judged(asking: Asking) -> Handle:
    async with asking.working():
        return await asking.ended(evaluate=True)


async def passages_alone(asking: Asking) -> Handle:
    asking.model = None
    async with asking.working():
        return await asking.ended()


async def nothing_found(asking: Asking) -> Handle:
    asking.retriever.passages = []
    async with asking.working():
        return await asking.ended()


async def waited_for_the_model(asking: Asking) -> Handle:
    assert asking.model is not None
    asking.model.down = TransientError("The model is loading.")
    asking.model.up_after = 2
    async with asking.working():
        return await asking.ended()


async def failed(asking: Asking) -> Handle:
    assert asking.model is not None
    asking.model.down = PermanentError("Planted for the recording.")
    async with asking.working():
        handle = await asking.start()
        with suppress(WorkflowFailureError):
            await handle.result()
        return handle


CASES: tuple[tuple[type, str, Callable[[Asking], Awaitable[Handle]]], ...] = (
    (AnswerWorkflow, "answered-and-judged", answered_and_judged),
    (AnswerWorkflow, "passages-alone", passages_alone),
    (AnswerWorkflow, "nothing-found", nothing_found),
    (AnswerWorkflow, "waited-for-the-model", waited_for_the_model),
    (AnswerWorkflow, "failed", failed),
)
