"""ContentDistillationWorkflow: summarises entries, and has them indexed and embedded."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, call_best_effort, call_locally, failure_reason, start_detached
    from pressbox.curator.distil.activities import DistilPages, SettingsActivities
    from pressbox.curator.distil.contracts import (
        DISTILLED_SIGNAL,
        SUMMARIZATION_EVALUATION,
        ContentDistillationInput,
        ContentDistillationOutput,
        ContentDistillationProgress,
        DistilledEntries,
        DistilledPage,
        DistilPageInput,
        SummarizationEvaluationInput,
        SummarizationEvaluationItem,
        WrittenSummary,
        summarization_evaluation_workflow_id,
    )
    from pressbox.curator.distil.run import BatchChain, DistilRun
    from pressbox.curator.library.contracts import ROWS_ARE_THE_QUEUE, EntryIds
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, signal_parent
    from pressbox.curator.models.domain import entry_trace_id, trace_id
    from pressbox.curator.models.waiting import WAITING, sleep_until
    from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities
    from pressbox.curator.search.contracts import IndexBatchInput

# A page that others work on at this very moment.
CONTENDED = timedelta(seconds=1)


@workflow.defn
class ContentDistillationWorkflow:
    """Summarises entries by pages, and has each page indexed and embedded; without ids and feed, everything that waits.

    Id `distil-…`, or `curator-distil-leftovers` and its shards; a child that outlives its parent, or started by hand.
    Texts are rows that wait and are claimed by the page, so that nothing is distilled twice. While the model is
    unavailable or the token budget of the day is used up, it waits and continues by itself.
    """

    @workflow.init
    def __init__(self, input: ContentDistillationInput) -> None:
        self._run = DistilRun(input)

    @workflow.query
    def get_progress(self) -> ContentDistillationProgress:
        return self._run.progress.current

    @workflow.run
    async def run(self, input: ContentDistillationInput) -> ContentDistillationOutput:
        run = self._run
        settings = await call_locally(SettingsActivities.get_app_settings)
        run.evaluates = settings.evaluation
        run.policy = input.policy.model_copy(update={"target_language": settings.target_language})
        if workflow.patched(ROWS_ARE_THE_QUEUE):
            await self._distil_pages()
        else:
            await BatchChain(run).run()
        run.progress.complete(message=f"{run.state.distilled} summarised")
        return ContentDistillationOutput(distilled=run.state.distilled, failed=run.state.failed)

    async def _distil_pages(self) -> None:
        run = self._run
        # Small where people watch.
        watched = run.input.signal_parent or run.input.feed_id is not None
        wanted = DistilPageInput(
            entry_ids=run.input.entry_ids,
            feed_id=None if run.input.entry_ids else run.input.feed_id,
            limit=run.policy.distil_batch if watched else run.policy.distil_page,
            lingers=run.input.lingers,
            policy=run.policy,
        )
        run.show(current_step="distil", message="")
        while True:
            page = await self._distil(wanted)
            await self._account(page)
            if page.retry_at is not None:
                run.show(current_step=WAITING, message=f"{page.waiting} wait: {page.reason}")
                await sleep_until(page.retry_at)
            elif not page.more:
                return
            elif not (page.distilled or page.failed):
                await workflow.sleep(CONTENDED)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(run.input.model_copy(update={"state": run.state}))

    async def _distil(self, wanted: DistilPageInput) -> DistilledPage:
        try:
            return await call(DistilPages.distill_due_entries, wanted)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            # Something else is unavailable or refuses: the articles are not to blame.
            retry_at = workflow.now() + self._run.policy.model_pause
            return DistilledPage(retry_at=retry_at, reason=failure_reason(error), more=True)

    async def _account(self, page: DistilledPage) -> None:
        run = self._run
        run.articles = EntryStates()
        for entry_id in page.distilled:
            run.articles.put(entry_id, EntryStatus.COMPLETED)
        for entry in page.failed:
            run.articles.put(entry.entry_id, EntryStatus.ERROR, error=entry.error)
        run.add(distilled=len(page.distilled), failed=len(page.failed))
        run.state = run.state.model_copy(update={"total": run.state.distilled + run.state.failed + page.waiting})
        done = tuple(dict.fromkeys((*page.distilled, *(entry.entry_id for entry in page.failed))))
        if not done:
            return
        if run.input.signal_parent:
            await signal_parent(DISTILLED_SIGNAL, DistilledEntries(distilled=page.distilled, failed=page.failed))
        size = run.policy.distil_batch
        for begin in range(0, len(page.written) if run.evaluates else 0, size):
            await start_evaluation(page.written[begin : begin + size])
        run.show(current_step="index")
        await asyncio.gather(
            call_best_effort(IndexActivities.index_entries_batch, IndexBatchInput(entry_ids=done)),
            call_best_effort(EmbeddingActivities.compute_embeddings, EntryIds(entry_ids=done, policy=run.policy)),
        )
        run.show(current_step="distil")


async def start_evaluation(summaries: Sequence[WrittenSummary]) -> None:
    """Start the evaluation of what a model wrote, without waiting for it.

    The trace id is made from the workflow and the marks of the summaries: the same work has the same trace id, and
    another summary has another.
    """
    marks = [part for written in summaries for part in (written.entry_id, written.mark)]
    batch = trace_id("distil", workflow.info().workflow_id, *marks)
    items = tuple(
        SummarizationEvaluationItem(entry_id=written.entry_id, trace_id=entry_trace_id(written.entry_id, batch))
        for written in summaries
    )
    input = SummarizationEvaluationInput(trace_id=batch, items=items)
    await start_detached(SUMMARIZATION_EVALUATION, input, summarization_evaluation_workflow_id(batch))
