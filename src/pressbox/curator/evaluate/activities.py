"""Activities of evaluation, and what they need: load a text, judge it, store its scores, send them to the score board.

A failure is raised, never returned, so that the run is retried as its options say. A used-up budget or a rate limit is
no failure of the evaluation: the workflow waits for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity
from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import RateLimitedError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.curator.distil.contracts import SummarizationEvaluationInput
from pressbox.curator.evaluate.contracts import (
    EvaluationInput,
    EvaluationMode,
    EvaluationResult,
    Score,
    SummarizationEvaluationResult,
)
from pressbox.curator.evaluate.domain import Judged, Measure, SubjectKind, averages
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.models.waiting import retry_later


class Evaluator(Protocol):
    """Judges one text. A model that is down raises a TransientError, a missing extra a ConfigurationError."""

    @property
    def name(self) -> str: ...

    async def judge(self, judged: Judged) -> Sequence[Measure]:
        """Leaves out a measure that says nothing about this text."""
        ...


class Subjects(Protocol):
    """One kind of text that can be judged. The feature that writes such texts offers them."""

    async def load(self, subject_id: int) -> Judged | None:
        """None when the text is gone, unfinished, or not written by a model."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """The scores of one text, as they are stored and sent."""

    judged: Judged
    evaluator: str
    trace_id: str
    measures: tuple[Measure, ...]
    at: datetime


class Evaluations(Protocol):
    async def find(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        """What was stored before for exactly this."""
        ...

    async def add(self, evaluation: Evaluation) -> None:
        """Each metric is stored once: the first score stays."""
        ...


class ScoreBoard(Protocol):
    """An outside service that keeps scores, such as Langfuse. The same evaluation sent twice is kept once."""

    async def send(self, evaluation: Evaluation) -> None: ...


# A score that cannot be had is no reason to go on for long. The document names these two figures.
JUDGED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=5), maximum_attempts=2),
)
_KINDS = {EvaluationMode.DIALOGUE: SubjectKind.ANSWER, EvaluationMode.RESEARCH: SubjectKind.RESEARCH}


class EvaluationActivities:
    def __init__(
        self,
        subjects: Mapping[SubjectKind, Subjects],
        evaluator: Evaluator,
        evaluations: Evaluations,
        board: ScoreBoard | None,
        policy: CuratorPolicy,
        now: Clock = utc_now,
    ) -> None:
        self._subjects = subjects
        self._evaluator = evaluator
        self._evaluations = evaluations
        self._board = board
        self._policy = policy
        self._now = now

    @activity.defn
    @call_with(JUDGED, queue=heavy_queue)
    async def evaluate_ragas(self, input: EvaluationInput) -> EvaluationResult:
        """Judge one answer or report. The name is the document's; who judges is a setting."""
        async with Heartbeat():
            try:
                measures = await self._evaluate(_KINDS[input.mode], input.subject_id, input.trace_id)
            except RateLimitedError as error:
                retry_at, reason = retry_later(error, self._policy, self._now())
                return EvaluationResult(retry_at=retry_at, reason=reason)
        return EvaluationResult(scores=_scores(measures))

    @activity.defn
    @call_with(JUDGED, queue=heavy_queue)
    async def evaluate_summarization(self, input: SummarizationEvaluationInput) -> SummarizationEvaluationResult:
        """Judge summaries one by one. Another attempt finds the stored scores and pays for none of them again."""
        found: list[Sequence[Measure]] = []
        async with Heartbeat():
            for item in input.items[: input.max_samples]:
                try:
                    found.append(await self._evaluate(SubjectKind.SUMMARY, item.entry_id, item.trace_id))
                except RateLimitedError as error:
                    retry_at, reason = retry_later(error, self._policy, self._now())
                    return SummarizationEvaluationResult(retry_at=retry_at, reason=reason)
        counted = [measures for measures in found if measures]
        return SummarizationEvaluationResult(scores=_scores(averages(counted)), evaluated=len(counted))

    async def _evaluate(self, kind: SubjectKind, subject_id: int, trace_id: str) -> Sequence[Measure]:
        judged = await self._subjects[kind].load(subject_id)
        if judged is None or not judged.can_be_judged:
            return ()
        name = self._evaluator.name
        measures = await self._evaluations.find(judged, name, trace_id) or await self._evaluator.judge(judged)
        if not measures:
            return ()
        evaluation = Evaluation(judged, name, trace_id, tuple(measures), self._now())
        await self._evaluations.add(evaluation)
        if self._board is not None:
            await self._board.send(evaluation)
        return measures


def _scores(measures: Sequence[Measure]) -> tuple[Score, ...]:
    return tuple(Score(metric=measure.metric, score=round(measure.score, 4)) for measure in measures)
