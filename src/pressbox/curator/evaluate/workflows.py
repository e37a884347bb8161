"""EvaluationWorkflow judges answers and reports, SummarizationEvaluationWorkflow summaries."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import NOBODY
    from pressbox.curator.distil.contracts import SummarizationEvaluationInput
    from pressbox.curator.evaluate.activities import EvaluationActivities
    from pressbox.curator.evaluate.contracts import (
        EvaluationInput,
        EvaluationMode,
        EvaluationOutput,
        EvaluationProgress,
        SummarizationEvaluationOutput,
    )
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.models.waiting import call_until_available

TITLES = {EvaluationMode.DIALOGUE: "Judging an answer", EvaluationMode.RESEARCH: "Judging a report"}


@workflow.defn
class EvaluationWorkflow:
    """Judges one answer, or in research mode one report, against the passages that it stands on.

    Id `evaluate-…` with the trace id; started after an answer, by who answered, and not waited for. It fails when the
    judging fails, after two attempts; another start of the same id judges again and keeps each score once.
    """

    @workflow.init
    def __init__(self, input: EvaluationInput) -> None:
        first = EvaluationProgress(title=TITLES[input.mode], audience=NOBODY, total=1, routine=True)
        self._progress = ProgressReporter(first)

    @workflow.query
    def get_progress(self) -> EvaluationProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: EvaluationInput) -> EvaluationOutput:
        self._progress.update(current_step="judge")
        result = await call_until_available(
            EvaluationActivities.evaluate_ragas, input, self._progress.update, keep_waiting=_has_room
        )
        if result.retry_at is not None:
            # Days without a budget.
            workflow.continue_as_new(input)
        self._progress.complete(done=1, message="", scores=result.scores)
        return EvaluationOutput(trace_id=input.trace_id, scores=result.scores)


@workflow.defn
class SummarizationEvaluationWorkflow:
    """Judges some summaries of one batch, each against the text that it sums up.

    Id `evaluate-summaries-…` with the batch's trace id; a child of ContentDistillationWorkflow that outlives it. It
    fails when the judging fails, after two attempts; scores that were kept before stay.
    """

    @workflow.init
    def __init__(self, input: SummarizationEvaluationInput) -> None:
        total = min(len(input.items), input.max_samples)
        first = EvaluationProgress(title="Judging summaries", audience=NOBODY, total=total, routine=True)
        self._progress = ProgressReporter(first)

    @workflow.query
    def get_progress(self) -> EvaluationProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: SummarizationEvaluationInput) -> SummarizationEvaluationOutput:
        self._progress.update(current_step="judge")
        result = await call_until_available(
            EvaluationActivities.evaluate_summarization, input, self._progress.update, keep_waiting=_has_room
        )
        if result.retry_at is not None:
            # Days without a budget: what was judged is kept.
            workflow.continue_as_new(input)
        self._progress.complete(done=result.evaluated, message="", scores=result.scores)
        return SummarizationEvaluationOutput(
            trace_id=input.trace_id, scores=result.scores, evaluated_count=result.evaluated
        )


def _has_room() -> bool:
    """There is room for more waiting in this history."""
    return not workflow.info().is_continue_as_new_suggested()
