"""Research on a real server: bounded, stopped and resumed, waiting for a model, and unhurt by failing steps."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.exceptions import CancelledError
from temporalio.worker import Interceptor, Worker

from pressbox.core.errors import PressboxError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.core.temporal.faults import Action, FaultInterceptor, every_fault, list_planted, plant
from pressbox.core.temporal.options import BOUNDED, QUICK
from pressbox.curator.evaluate.contracts import EVALUATION, EvaluationInput, EvaluationMode, evaluation_workflow_id
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.models.domain import trace_id
from pressbox.curator.research.contracts import DeepResearchOutput, research_workflow_id
from pressbox.curator.research.domain import EndedBy, Limits, ResearchState, StepKind
from pressbox.curator.research.service import ResearchService, ResearchStarter
from pressbox.curator.research.workflow import DeepResearchWorkflow
from tests.fakes.research import READER, FakeResearchWorld
from tests.waiting import until

QUESTION = "Why does the ferry leave before sunrise?"
POLICY = CuratorPolicy(model_pause=timedelta(milliseconds=300))
LIGHT = ("open_research", "close_research")
HEAVY = ("plan_research", "search_for_research", "read_for_research", "check_research", "write_research")


@workflow.defn(name=EVALUATION, sandboxed=False)
class Judged:
    @workflow.run
    async def run(self, input: EvaluationInput) -> str:
        return f"{input.mode} {input.subject_id}"


@dataclass
class Stage:
    client: Client
    world: FakeResearchWorld
    service: ResearchService

    def handle(self, run_id: int) -> WorkflowHandle[Any, DeepResearchOutput]:
        return self.client.get_workflow_handle(research_workflow_id(run_id), result_type=DeepResearchOutput)


def library() -> FakeResearchWorld:
    world = FakeResearchWorld()
    world.article("The ferry", "The ferry leaves at six. Nobody knows why the ferry leaves before sunrise.")
    for number in range(7):
        world.article(f"Tides {number}", f"The tide number {number} decides when a ferry may leave before sunrise.")
    return world


@asynccontextmanager
async def staged(
    client: Client, world: FakeResearchWorld, *interceptors: Interceptor, evaluate: bool = False
) -> AsyncIterator[Stage]:
    queue, activities = f"test-{secrets.token_hex(4)}", world.activities()
    starter = ResearchStarter(client, queue, POLICY, evaluate=evaluate)
    async with AsyncExitStack() as workers:
        for name, methods, workflows in (
            (queue, LIGHT, [DeepResearchWorkflow, Judged]),
            (heavy_queue(queue), HEAVY, []),
        ):
            made = Worker(
                client,
                task_queue=name,
                workflows=workflows,
                activities=[getattr(activities, method) for method in methods],
                interceptors=[ErrorInterceptor(), *interceptors],
                workflow_failure_exception_types=[PressboxError],
            )
            await workers.enter_async_context(made)
        yield Stage(client, world, ResearchService(world.runs, starter, Limits(rounds=2), has_model=True))


async def test_research_survives_steps_that_fail_before_and_after_their_effect_and_pays_for_nothing_twice(
    temporal: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in (BOUNDED, QUICK):
        monkeypatch.setitem(options, "retry_policy", RetryPolicy(initial_interval=timedelta(milliseconds=50)))
    for fault in every_fault((*LIGHT, *HEAVY), Action.FAIL):
        plant(tmp_path, fault)
    world = library()
    async with staged(temporal, world, FaultInterceptor(tmp_path), evaluate=True) as stage:
        run_id = await stage.service.start(READER, QUESTION)
        done = await stage.handle(run_id).result()
        judged = await temporal.get_workflow_handle(evaluation_workflow_id(trace_id("research", run_id))).result()
    assert {fault.activity for fault in list_planted(tmp_path)} == {"close_research"}, "all others struck"
    assert (done.state, done.ended_by, done.rounds, done.sources) == (ResearchState.DONE, EndedBy.ROUNDS, 2, 8)
    run = world.run(run_id)
    assert "[8]" in run.report
    asked = [(question.content_hash, question.prompt_version) for question in world.paid.asked]
    assert len(asked) == len(set(asked)) == 11, "a plan, eight articles, a check, a report"
    assert judged == f"{EvaluationMode.RESEARCH} {run_id}"
    history = await stage.handle(run_id).fetch_history()
    assert max(event.ByteSize() for event in history.events) < 10_000
    assert "The tide number" not in history.to_json(), "texts stay in the database"


async def test_research_is_stopped_after_its_step_and_goes_on_where_it_stood(temporal: Client) -> None:
    world = library()
    async with staged(temporal, world) as stage:
        world.paid.hold = asyncio.Event()
        run_id = await stage.service.start(READER, QUESTION)
        await until(lambda: world.paid.asked)
        await stage.service.stop(READER, run_id)
        assert world.run(run_id).state is ResearchState.STOPPING
        world.paid.hold.set()
        stopped = await stage.handle(run_id).result()
        assert stopped.state is ResearchState.STOPPED
        kept = world.run(run_id)
        assert (kept.state, [step.kind for step in kept.steps]) == (ResearchState.STOPPED, [StepKind.PLAN])
        await stage.service.resume(READER, run_id)
        done = await stage.handle(run_id).result()
    assert done.state is ResearchState.DONE
    assert world.run(run_id).steps[0] == kept.steps[0], "the plan was not made again"
    assert world.run(run_id).tokens == sum(step.tokens for step in world.run(run_id).steps)


async def test_research_waits_for_a_model_that_is_away_and_can_be_stopped_meanwhile(temporal: Client) -> None:
    world = library()
    world.paid.away = TransientError("The model is loading.")
    async with staged(temporal, world) as stage:
        waiting = await stage.service.start(READER, QUESTION)
        await until(lambda: world.run(waiting).state is ResearchState.WAITING)
        assert world.run(waiting).reason == "The model is loading."
        await stage.service.stop(READER, waiting)
        assert (await stage.handle(waiting).result()).state is ResearchState.STOPPED
        await stage.service.resume(READER, waiting)
        await until(lambda: world.run(waiting).state is ResearchState.WAITING)
        world.paid.away = None
        assert (await stage.handle(waiting).result()).state is ResearchState.DONE


@pytest.mark.parametrize(
    ("limits", "ended"),
    [({"rounds": 1}, EndedBy.ROUNDS), ({"tokens": 1_000}, EndedBy.TOKENS), ({"minutes": 0.0001}, EndedBy.TIME)],
)
async def test_whichever_bound_ends_research_a_report_is_written_of_what_is_there(
    temporal: Client, limits: dict[str, Any], ended: EndedBy
) -> None:
    world = library()
    async with staged(temporal, world) as stage:
        run_id = await stage.service.start(READER, QUESTION, Limits(**limits))
        done = await stage.handle(run_id).result()
    assert (done.state, done.ended_by) == (ResearchState.DONE, ended)
    written = world.run(run_id).of(StepKind.WRITE)[0]
    assert written.outcome.ended_by is ended
    assert bool(world.run(run_id).report) == bool(done.sources)


async def test_research_that_was_deleted_while_it_ran_ends(temporal: Client) -> None:
    world = library()
    async with staged(temporal, world) as stage:
        world.paid.away = TransientError("The model is loading.")
        run_id = await stage.service.start(READER, QUESTION)
        await until(lambda: world.run(run_id).state is ResearchState.WAITING)
        await stage.service.delete(READER, run_id)
        with pytest.raises(WorkflowFailureError) as ended:
            await stage.handle(run_id).result()
    assert isinstance(ended.value.cause, CancelledError)
    assert run_id not in world.runs.runs
