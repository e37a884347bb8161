"""Has the summaries of a batch judged after they were stored."""

from collections.abc import Sequence

from temporalio import workflow

from pressbox.core.temporal.calls import start_detached
from pressbox.curator.distil.contracts import (
    SUMMARIZATION_EVALUATION,
    DistilledAnswer,
    SummarizationEvaluationInput,
    SummarizationEvaluationItem,
    summarization_evaluation_workflow_id,
)
from pressbox.curator.library.domain.entries import EXTRACTIVE
from pressbox.curator.models.domain import entry_trace_id, trace_id


async def start_evaluation(answers: Sequence[DistilledAnswer], saved: Sequence[int], position: int) -> None:
    """Start the evaluation of what a model wrote, without waiting for it.

    The batch's trace id is made from the workflow, the position in its work and the summaries: the same work has the
    same trace id, and another summary has another.
    """
    written = [answer for answer in answers if answer.entry_id in saved and answer.model != EXTRACTIVE]
    if not written:
        return
    parts = [(answer.entry_id, answer.content_hash, answer.model, answer.summary) for answer in written]
    batch = trace_id("distil", workflow.info().workflow_id, position, *(part for answer in parts for part in answer))
    items = tuple(
        SummarizationEvaluationItem(entry_id=answer.entry_id, trace_id=entry_trace_id(answer.entry_id, batch))
        for answer in written
    )
    input = SummarizationEvaluationInput(trace_id=batch, items=items)
    await start_detached(SUMMARIZATION_EVALUATION, input, summarization_evaluation_workflow_id(batch))
