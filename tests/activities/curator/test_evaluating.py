"""Judging on fakes: kept once, told once, raised when it fails, and put off when it has to wait."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from pressbox.core.errors import RateLimitedError, TransientError
from pressbox.curator.distil.contracts import SummarizationEvaluationInput, SummarizationEvaluationItem
from pressbox.curator.evaluate.contracts import EvaluationInput, EvaluationMode
from pressbox.curator.evaluate.domain import SubjectKind
from tests.fakes.evaluating import FakeBench

ANSWER = EvaluationInput(trace_id="a" * 32, mode=EvaluationMode.DIALOGUE, subject_id=5)


@pytest.fixture
def bench() -> FakeBench:
    return FakeBench()


async def run(function: Callable[..., Any], input: object) -> Any:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, heartbeat_details=[])
    return await environment.run(function, input)


def summaries(*entry_ids: int, **changes: Any) -> SummarizationEvaluationInput:
    items = tuple(SummarizationEvaluationItem(entry_id=number, trace_id=f"{number:032x}") for number in entry_ids)
    return SummarizationEvaluationInput(trace_id="b" * 32, items=items, **changes)


async def test_an_answer_is_judged_kept_and_told(bench: FakeBench) -> None:
    result = await run(bench.judging.evaluate_ragas, ANSWER)
    assert [(score.metric, score.score) for score in result.scores] == [
        ("faithfulness", 0.75),
        ("answer_relevancy", 0.5),
    ]
    assert len(bench.evaluations.rows) == 2
    assert [told.trace_id for told in bench.board.sent] == [ANSWER.trace_id]


async def test_in_research_mode_the_report_is_judged(bench: FakeBench) -> None:
    await run(bench.judging.evaluate_ragas, ANSWER.model_copy(update={"mode": EvaluationMode.RESEARCH}))
    assert bench.subjects[SubjectKind.RESEARCH].loaded == [5]


async def test_a_second_attempt_judges_nothing_again_and_tells_what_was_not_told(bench: FakeBench) -> None:
    bench.board.trouble = [TransientError("Langfuse answers 500.")]
    with pytest.raises(TransientError, match="Langfuse"):
        await run(bench.judging.evaluate_ragas, ANSWER)
    assert len(bench.evaluations.rows) == 2
    result = await run(bench.judging.evaluate_ragas, ANSWER)
    assert (len(result.scores), bench.evaluator.judged, len(bench.board.sent)) == (2, [5], 1)
    assert len(bench.evaluations.rows) == 2


async def test_a_judge_that_fails_is_raised_and_never_a_result(bench: FakeBench) -> None:
    bench.evaluator.trouble = [TransientError("The model does not answer.")]
    with pytest.raises(TransientError, match="does not answer"):
        await run(bench.judging.evaluate_ragas, ANSWER)
    assert bench.evaluations.rows == {}


async def test_a_used_up_budget_says_when_to_come_back(bench: FakeBench) -> None:
    bench.evaluator.trouble = [RateLimitedError("The budget is used up.", retry_after=timedelta(hours=2))]
    result = await run(bench.judging.evaluate_ragas, ANSWER)
    assert result.scores == ()
    assert result.reason == "The budget is used up."
    assert timedelta(hours=1) < result.retry_at - datetime.now(UTC) <= timedelta(hours=2)


async def test_an_answer_that_is_gone_has_no_scores(bench: FakeBench) -> None:
    bench.subjects[SubjectKind.ANSWER].gone = {5}
    assert (await run(bench.judging.evaluate_ragas, ANSWER)).scores == ()
    assert bench.evaluator.judged == []


async def test_at_most_five_summaries_of_a_batch_are_judged_each_under_its_own_trace(bench: FakeBench) -> None:
    result = await run(bench.judging.evaluate_summarization, summaries(*range(1, 9)))
    assert (result.evaluated, bench.evaluator.judged) == (5, [1, 2, 3, 4, 5])
    assert {told.trace_id for told in bench.board.sent} == {f"{number:032x}" for number in range(1, 6)}
    assert [(score.metric, score.score) for score in result.scores] == [
        ("faithfulness", 0.75),
        ("answer_relevancy", 0.5),
    ]


async def test_summaries_that_are_gone_do_not_count(bench: FakeBench) -> None:
    bench.subjects[SubjectKind.SUMMARY].gone = {1}
    assert (await run(bench.judging.evaluate_summarization, summaries(1, 2, max_samples=2))).evaluated == 1


async def test_what_was_judged_before_a_failure_is_not_judged_again(bench: FakeBench) -> None:
    bench.board.trouble = []
    await run(bench.judging.evaluate_summarization, summaries(1))
    bench.evaluator.trouble = [RateLimitedError("Too many requests.")]
    waiting = await run(bench.judging.evaluate_summarization, summaries(1, 2))
    assert waiting.retry_at is not None
    done = await run(bench.judging.evaluate_summarization, summaries(1, 2))
    assert (done.evaluated, bench.evaluator.judged) == (2, [1, 2])
