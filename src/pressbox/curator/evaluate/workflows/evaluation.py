"""EvaluationWorkflow: how well an answer stands on what it cites, and whether it answers the question."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.curator.evaluate.activities import EvaluationActivities
    from pressbox.curator.evaluate.contracts import (
        EvaluationInput,
        EvaluationMode,
        EvaluationOutput,
        EvaluationProgress,
    )
    from pressbox.curator.library.progress import Shown
    from pressbox.curator.models.workflow_waiting import patiently

TITLES = {EvaluationMode.DIALOGUE: "Judging an answer", EvaluationMode.RESEARCH: "Judging a report"}


@workflow.defn
class EvaluationWorkflow:
    """Judges one answer, or in research mode one report, against the passages that it stands on.

    Id `evaluate-…` with the trace id; started after an answer, by who answered, and not waited for. It fails when the
    judging fails, after two attempts; another start of the same id judges again and keeps each score once.
    """

    @workflow.init
    def __init__(self, input: EvaluationInput) -> None:
        self._shown = Shown(EvaluationProgress(title=TITLES[input.mode], total=1, routine=True))

    @workflow.query
    def get_progress(self) -> EvaluationProgress:
        return self._shown.now

    @workflow.run
    async def run(self, input: EvaluationInput) -> EvaluationOutput:
        self._shown.show(current_step="judge")
        result = await patiently(EvaluationActivities.evaluate_ragas, input, self._shown.show, more=has_room)
        if result.retry_at is not None:
            # Days without a budget.
            workflow.continue_as_new(input)
        self._shown.done(done=1, message="", scores=result.scores)
        return EvaluationOutput(trace_id=input.trace_id, scores=result.scores)


def has_room() -> bool:
    """For more waiting in this history."""
    return not workflow.info().is_continue_as_new_suggested()
