"""AnswerWorkflow: from a question to an answer that is stored while it is written."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason, start_detached
    from pressbox.curator.ask.activities import AnswerActivities
    from pressbox.curator.ask.contracts import (
        AnswerInput,
        AnswerOutput,
        AnswerProgress,
        EndAnswerInput,
        WrittenAnswer,
    )
    from pressbox.curator.ask.domain import AnswerMethod
    from pressbox.curator.evaluate.contracts import EVALUATION, EvaluationInput, EvaluationMode, evaluation_workflow_id
    from pressbox.curator.library.audiences import asker_of
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.models.waiting import call_until_available
    from pressbox.curator.text.plain_text import shorten

LONGEST_REASON = 300


@workflow.defn
class AnswerWorkflow:
    """Finds passages for a question and has a model answer with them; without a model the passages are the answer.

    Id `answer-…`; started when somebody asks. The answer is in the database from its first word on. While no model
    answers, or the token budget of the day is used up, it waits and goes on by itself. Stopping it cancels it.
    """

    @workflow.init
    def __init__(self, input: AnswerInput) -> None:
        # Steps: find passages, write.
        first = AnswerProgress(title="Answering a question", audience=asker_of(input.answer_id), total=2, routine=True)
        self._progress = ProgressReporter(first)

    @workflow.query
    def get_progress(self) -> AnswerProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: AnswerInput) -> AnswerOutput:
        try:
            return await self._answer(input)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            reason = shorten(failure_reason(error), LONGEST_REASON)
            await call(AnswerActivities.end_answer, EndAnswerInput(answer_id=input.answer_id, reason=reason))
            raise

    async def _answer(self, input: AnswerInput) -> AnswerOutput:
        self._progress.update(current_step="search")
        found = await call(AnswerActivities.retrieve_passages, input)
        if not found.state.is_open:
            self._progress.complete(done=2)
            return AnswerOutput(state=found.state, passages=found.count)
        self._progress.update(done=1, current_step="write", passages=found.count)
        written = await call_until_available(
            AnswerActivities.write_answer, input, self._progress.update, keep_waiting=_has_room
        )
        if written.state.is_open:
            # Days without a model: what was found stays found.
            workflow.continue_as_new(input)
        await _start_evaluation(input, written)
        self._progress.complete(done=2, message="")
        return AnswerOutput(state=written.state, passages=found.count)


def _has_room() -> bool:
    return not workflow.info().is_continue_as_new_suggested()


async def _start_evaluation(input: AnswerInput, written: WrittenAnswer) -> None:
    if not input.evaluate or written.method is not AnswerMethod.MODEL:
        return
    judged = EvaluationInput(trace_id=written.trace_id, mode=EvaluationMode.DIALOGUE, subject_id=input.answer_id)
    await start_detached(EVALUATION, judged, evaluation_workflow_id(written.trace_id))
