"""The named cases of judging: played on fakes, they give the runs whose histories are kept."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client

from pressbox.core.errors import RateLimitedError
from pressbox.curator.distil.contracts import (
    ContentDistillationInput,
    SummarizationEvaluationInput,
    SummarizationEvaluationItem,
)
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.evaluate.contracts import EvaluationInput, EvaluationMode
from pressbox.curator.evaluate.workflows import EvaluationWorkflow, SummarizationEvaluationWorkflow
from tests.fakes.curator import FakeWorld
from tests.fakes.evaluating import FakeBench
from tests.replay.curator_cases import POLICY, Handle, Play, working

TRACE = "0123456789abcdef" * 2
# The ids of its children are made from its own, which a replay takes from the name of the case.
JUDGED = "recorded-judged"


async def answer_judged(play: Play, bench: FakeBench) -> Handle:
    input = EvaluationInput(trace_id=TRACE, mode=EvaluationMode.DIALOGUE, subject_id=5)
    return await play.ended(EvaluationWorkflow, input)


async def answer_judged_after_waiting(play: Play, bench: FakeBench) -> Handle:
    pause = timedelta(seconds=1)
    bench.evaluator.trouble = [RateLimitedError("The token budget of the day is used up.", retry_after=pause)]
    return await play.ended(
        EvaluationWorkflow, EvaluationInput(trace_id=TRACE, mode=EvaluationMode.RESEARCH, subject_id=5)
    )


async def summaries_judged(play: Play, bench: FakeBench) -> Handle:
    items = tuple(SummarizationEvaluationItem(entry_id=number, trace_id=TRACE) for number in range(1, 8))
    return await play.ended(SummarizationEvaluationWorkflow, SummarizationEvaluationInput(trace_id=TRACE, items=items))


async def distilled_and_judged(play: Play, bench: FakeBench) -> Handle:
    """Two batches, and the judging of each that nobody waits for."""
    play.world.fetched(play.world.feed(), 7)
    return await play.ended(ContentDistillationWorkflow, ContentDistillationInput(policy=POLICY), JUDGED)


CASES: tuple[tuple[type, str, Callable[[Play, FakeBench], Awaitable[Handle]]], ...] = (
    (EvaluationWorkflow, "completed", answer_judged),
    (EvaluationWorkflow, "waited-for-the-budget", answer_judged_after_waiting),
    (SummarizationEvaluationWorkflow, "completed", summaries_judged),
    (ContentDistillationWorkflow, "judged", distilled_and_judged),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[tuple[Play, FakeBench]]:
    """A fresh world with a judge, and workers on it."""
    world, bench = FakeWorld(paid=True), FakeBench()
    world.judged = True
    async with working(client, world, bench.activities()) as play:
        yield play, bench
