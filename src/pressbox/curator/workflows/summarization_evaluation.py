"""SummarizationEvaluationWorkflow: how well summaries stand on their articles."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.curator.activities.evaluating import EvaluationActivities
    from pressbox.curator.contracts.evaluating import (
        EvaluationProgress,
        SummarizationEvaluationInput,
        SummarizationEvaluationOutput,
    )
    from pressbox.curator.workflows.showing import Shown
    from pressbox.curator.workflows.waiting import patiently


@workflow.defn
class SummarizationEvaluationWorkflow:
    """Judges some summaries of one batch, each against the text that it sums up.

    Id `evaluate-summaries-…` with the batch's trace id; a child of ContentDistillationWorkflow that outlives it. It
    fails when the judging fails, after two attempts; scores that were kept before stay.
    """

    @workflow.init
    def __init__(self, input: SummarizationEvaluationInput) -> None:
        total = min(len(input.items), input.max_samples)
        self._shown = Shown(EvaluationProgress(title="Judging summaries", total=total, routine=True))

    @workflow.query
    def get_progress(self) -> EvaluationProgress:
        return self._shown.now

    @workflow.run
    async def run(self, input: SummarizationEvaluationInput) -> SummarizationEvaluationOutput:
        self._shown.show(current_step="judge")
        result = await patiently(EvaluationActivities.evaluate_summarization, input, self._shown.show)
        self._shown.done(done=result.evaluated, message="", scores=result.scores)
        return SummarizationEvaluationOutput(
            trace_id=input.trace_id, scores=result.scores, evaluated_count=result.evaluated
        )
