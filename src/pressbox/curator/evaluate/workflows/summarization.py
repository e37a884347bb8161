"""SummarizationEvaluationWorkflow: how well summaries stand on their articles."""

from collections.abc import Sequence

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import start_detached
    from pressbox.curator.distil.contracts import DistilledAnswer
    from pressbox.curator.evaluate.activities import EvaluationActivities
    from pressbox.curator.evaluate.contracts import (
        EvaluationProgress,
        SummarizationEvaluationInput,
        SummarizationEvaluationItem,
        SummarizationEvaluationOutput,
    )
    from pressbox.curator.evaluate.workflows.evaluation import has_room
    from pressbox.curator.ids import summarization_evaluation_workflow_id
    from pressbox.curator.library.domain.entries import EXTRACTIVE
    from pressbox.curator.library.progress import Shown
    from pressbox.curator.models.domain.traces import entry_trace_id, trace_id
    from pressbox.curator.models.workflow_waiting import patiently


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
        result = await patiently(EvaluationActivities.evaluate_summarization, input, self._shown.show, more=has_room)
        if result.retry_at is not None:
            # Days without a budget: what was judged is kept.
            workflow.continue_as_new(input)
        self._shown.done(done=result.evaluated, message="", scores=result.scores)
        return SummarizationEvaluationOutput(
            trace_id=input.trace_id, scores=result.scores, evaluated_count=result.evaluated
        )


async def judge_alone(answers: Sequence[DistilledAnswer], saved: Sequence[int], position: int) -> None:
    """Start the judging of what a model wrote of a batch; nobody waits for it.

    The batch's trace is made from who did it, where in his work, and what came of it: the same work has the same trace,
    and another summary has another.
    """
    written = [answer for answer in answers if answer.entry_id in saved and answer.model != EXTRACTIVE]
    if not written:
        return
    done = [(answer.entry_id, answer.content_hash, answer.model, answer.summary) for answer in written]
    batch = trace_id("distil", workflow.info().workflow_id, position, *(part for parts in done for part in parts))
    items = tuple(
        SummarizationEvaluationItem(entry_id=answer.entry_id, trace_id=entry_trace_id(answer.entry_id, batch))
        for answer in written
    )
    input = SummarizationEvaluationInput(trace_id=batch, items=items)
    await start_detached(SummarizationEvaluationWorkflow, input, summarization_evaluation_workflow_id(batch))
