"""Judging on a real server: fired and forgotten, tried twice, failed when it fails, and waiting when it must."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.distil.contracts import ContentDistillationInput
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.evaluate.activities import JUDGED
from pressbox.curator.evaluate.contracts import EvaluationInput, EvaluationMode, evaluation_workflow_id
from pressbox.curator.evaluate.workflows import EvaluationWorkflow, SummarizationEvaluationWorkflow
from pressbox.curator.library.contracts import heavy_queue, index_queue
from pressbox.curator.library.domain import EXTRACTIVE, CuratorPolicy, DistilState
from tests.fakes.curator import FakeDistiller, FakeWorld
from tests.fakes.evaluating import FakeBench
from tests.waiting import look_until, progress_when_waiting, until
from tests.workflows.curator.conftest import children_started

WORKFLOWS: list[type] = [ContentDistillationWorkflow, EvaluationWorkflow, SummarizationEvaluationWorkflow]
POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=200))
DOWN = TransientError("The model does not answer.")


class Desk:
    """Articles to sum up, a judge, and workers on both."""

    def __init__(self, client: Client) -> None:
        self.client, self.queue = client, f"test-{secrets.token_hex(4)}"
        self.world, self.bench = FakeWorld(paid=True), FakeBench()
        self.world.judged = True

    @asynccontextmanager
    async def workers(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for queue, activities, workflows in (
                (self.queue, self.world.plain_activities(), WORKFLOWS),
                (heavy_queue(self.queue), [*self.world.heavy_activities(), *self.bench.activities()], []),
                (index_queue(self.queue), self.world.index_activities(), []),
            ):
                worker = Worker(
                    self.client,
                    task_queue=queue,
                    workflows=workflows,
                    activities=activities,
                    interceptors=[ErrorInterceptor()],
                    workflow_failure_exception_types=[PressboxError],
                )
                await stack.enter_async_context(worker)
            yield

    async def start(self, workflow: type, input: Contract, workflow_id: str = "") -> WorkflowHandle[Any, Any]:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=workflow_id or f"{workflow.__name__}-{self.queue}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def judge(self, trace_id: str = "") -> WorkflowHandle[Any, Any]:
        trace = trace_id or secrets.token_hex(16)
        input = EvaluationInput(trace_id=trace, mode=EvaluationMode.DIALOGUE, subject_id=5)
        return await self.start(EvaluationWorkflow, input, evaluation_workflow_id(trace))

    async def distil(self) -> WorkflowHandle[Any, Any]:
        handle = await self.start(ContentDistillationWorkflow, ContentDistillationInput(policy=POLICY))
        await handle.result()
        return handle

    async def children(self) -> list[Any]:
        wanted = f"TaskQueue = '{self.queue}' AND WorkflowType = 'SummarizationEvaluationWorkflow'"
        return [found async for found in self.client.list_workflows(wanted)]

    async def ended(self, number: int) -> list[Any]:
        """The children, when there are so many, and none of them runs."""
        return await look_until(self.children, lambda found: len(found) >= number and not _running(found))

    async def until_judged(self, number: int) -> None:
        await until(lambda: len(self.bench.board.sent) >= number)


def _running(found: list[Any]) -> bool:
    return any(child.status is WorkflowExecutionStatus.RUNNING for child in found)


@pytest.fixture
async def desk(temporal: Client) -> AsyncIterator[Desk]:
    desk = Desk(temporal)
    async with desk.workers():
        yield desk


@pytest.fixture
def soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The document's five seconds are checked in the history; waiting for them teaches nothing more."""
    again = RetryPolicy(initial_interval=timedelta(milliseconds=50), maximum_attempts=2)
    monkeypatch.setitem(JUDGED, "retry_policy", again)


async def test_an_answer_is_judged_within_the_limits_of_the_document(desk: Desk) -> None:
    handle = await desk.judge()
    result = await handle.result()
    assert [score["metric"] for score in result["scores"]] == ["faithfulness", "answer_relevancy"]
    (limits,) = [
        event.activity_task_scheduled_event_attributes.retry_policy
        for event in (await handle.fetch_history()).events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert (limits.maximum_attempts, limits.initial_interval.seconds) == (2, 5)


async def test_one_failure_is_tried_again(desk: Desk, soon_again: None) -> None:
    desk.bench.evaluator.trouble = [DOWN]
    assert len((await (await desk.judge()).result())["scores"]) == 2


async def test_two_failures_fail_the_workflow(desk: Desk, soon_again: None) -> None:
    desk.bench.evaluator.trouble = [DOWN, DOWN]
    with pytest.raises(WorkflowFailureError) as raised:
        await (await desk.judge()).result()
    assert "does not answer" in str(raised.value.cause.__cause__)
    assert (desk.bench.evaluator.trouble, desk.bench.evaluations.rows) == ([], {})


async def test_a_wrong_setting_fails_at_once(desk: Desk, soon_again: None) -> None:
    desk.bench.evaluator.trouble = [ConfigurationError("Install the extra."), DOWN]
    with pytest.raises(WorkflowFailureError):
        await (await desk.judge()).result()
    assert desk.bench.evaluator.trouble == [DOWN]


async def test_a_board_that_is_down_fails_the_workflow_and_our_scores_stay(desk: Desk, soon_again: None) -> None:
    desk.bench.board.trouble = [TransientError("Langfuse answers 500."), TransientError("Langfuse answers 500.")]
    handle = await desk.judge()
    with pytest.raises(WorkflowFailureError):
        await handle.result()
    assert len(desk.bench.evaluations.rows) == 2
    # Started again, it tells what it knows, and judges nothing a second time.
    again = await desk.judge(handle.id.removeprefix("evaluate-"))
    assert len((await again.result())["scores"]) == 2
    assert (desk.bench.evaluator.judged, len(desk.bench.board.sent)) == ([5], 1)


async def test_a_used_up_budget_is_waited_for_and_seen(desk: Desk) -> None:
    over = RateLimitedError("The token budget of the day is used up.", retry_after=timedelta(seconds=0.5))
    # Until it has been seen to wait.
    desk.bench.evaluator.trouble = [over] * 1000
    handle = await desk.judge()
    shown = await progress_when_waiting(handle, EvaluationWorkflow.get_progress)
    desk.bench.evaluator.trouble.clear()
    assert "budget" in shown.message
    assert len((await handle.result())["scores"]) == 2


async def test_after_distilling_the_summaries_of_a_model_are_judged_and_nobody_waits(
    desk: Desk, soon_again: None
) -> None:
    entries = desk.world.fetched(desk.world.feed(), 7)
    desk.bench.evaluator.refused = {entries[0].entry_id}
    await desk.distil()
    assert {entry.distil_state for entry in entries} == {DistilState.DISTILLED}
    # One batch has the summary that cannot be judged; the other one is judged all the same.
    await desk.until_judged(2)
    judged = {told.judged.subject_id: told.trace_id for told in desk.bench.board.sent}
    assert judged.keys() <= {entry.entry_id for entry in entries}
    assert len(set(judged.values())) == len(judged)
    states = [child.status for child in await desk.ended(2)]
    assert sorted(states) == [WorkflowExecutionStatus.COMPLETED, WorkflowExecutionStatus.FAILED]


async def test_the_same_summaries_have_the_same_traces_when_they_are_made_again(desk: Desk) -> None:
    desk.world.fetched(desk.world.feed(), 2)
    await desk.distil()
    await desk.ended(1)
    for entry in desk.world.entries.values():
        await desk.world.entry_store.distil_again([entry.entry_id])
    await desk.distil()
    await desk.until_judged(4)
    assert len({told.trace_id for told in desk.bench.board.sent}) == 2
    assert (len(desk.bench.evaluator.judged), len(desk.bench.evaluations.rows)) == (2, 4)


@pytest.mark.parametrize("reason", ["not enabled", "extracts"])
async def test_extracts_are_not_judged_and_nothing_is_when_it_is_not_enabled(temporal: Client, reason: str) -> None:
    desk = Desk(temporal)
    desk.world.fetched(desk.world.feed(), 1)
    if reason == "extracts":
        desk.world.distiller.down, desk.world.fallback = DOWN, FakeDistiller()
        desk.world.fallback.name = EXTRACTIVE
    else:
        desk.world.judged = False
    async with desk.workers():
        handle = await desk.distil()
        history = await handle.fetch_history()
    assert children_started(history) == []
    assert {entry.distil_state for entry in desk.world.entries.values()} == {DistilState.DISTILLED}
