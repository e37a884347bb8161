"""The effects of judging: a text is read, judged, its scores are kept with us first and then told to others.

A failure is raised, never returned, so that the run fails and is tried again as its limits say. Only who is told when
to come back (a used-up budget, too many requests) waits: that is no failure of the judging.
"""

from collections.abc import Awaitable, Callable, Sequence

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import RateLimitedError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat, ResumableHeartbeat
from pressbox.curator.evaluate.contracts import (
    EvaluationInput,
    EvaluationMode,
    EvaluationResult,
    JudgedSoFar,
    Score,
    SummarizationEvaluationInput,
    SummarizationEvaluationResult,
)
from pressbox.curator.evaluate.domain.evaluation import Judged, Measure, averages
from pressbox.curator.evaluate.ports import Evaluated, Evaluations, Evaluator, ScoreBoard, Subjects
from pressbox.curator.ids import heavy_queue
from pressbox.curator.library.call_options import JUDGED
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.models.waiting import come_back


class EvaluationActivities:
    def __init__(
        self,
        subjects: Subjects,
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
        """The name is the document's; who judges is a setting."""
        read = self._subjects.research if input.mode is EvaluationMode.RESEARCH else self._subjects.answer
        async with Heartbeat():
            try:
                measures = await self._judged(read, input.subject_id, input.trace_id)
            except RateLimitedError as error:
                retry_at, reason = come_back(error, self._policy, self._now())
                return EvaluationResult(retry_at=retry_at, reason=reason)
        return EvaluationResult(scores=_scores(measures))

    @activity.defn
    @call_with(JUDGED, queue=heavy_queue)
    async def evaluate_summarization(self, input: SummarizationEvaluationInput) -> SummarizationEvaluationResult:
        """One after the other; another attempt finds what the last one kept, and pays for none of it again."""
        found: list[Sequence[Measure]] = []
        async with ResumableHeartbeat(JudgedSoFar()) as heart:
            for item in input.items[: input.max_samples]:
                try:
                    found.append(await self._judged(self._subjects.summary, item.entry_id, item.trace_id))
                except RateLimitedError as error:
                    retry_at, reason = come_back(error, self._policy, self._now())
                    return SummarizationEvaluationResult(retry_at=retry_at, reason=reason)
                heart.advance(JudgedSoFar(done=len(found)))
        counted = [measures for measures in found if measures]
        return SummarizationEvaluationResult(scores=_scores(averages(counted)), evaluated=len(counted))

    async def _judged(
        self, read: Callable[[int], Awaitable[Judged | None]], subject_id: int, trace_id: str
    ) -> Sequence[Measure]:
        judged = await read(subject_id)
        if judged is None or not judged.can_be_judged:
            return ()
        name = self._evaluator.name
        measures = await self._evaluations.known(judged, name, trace_id) or await self._evaluator.judge(judged)
        if not measures:
            return ()
        evaluated = Evaluated(judged, name, trace_id, tuple(measures), self._now())
        await self._evaluations.keep(evaluated)
        if self._board is not None:
            await self._board.tell(evaluated)
        return measures


def _scores(measures: Sequence[Measure]) -> tuple[Score, ...]:
    return tuple(Score(metric=measure.metric, score=round(measure.score, 4)) for measure in measures)
