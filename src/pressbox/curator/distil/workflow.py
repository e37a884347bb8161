"""ContentDistillationWorkflow: summarises entries, and has them indexed and embedded."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import (
        call,
        call_best_effort,
        call_locally,
        failure_reason,
        start_detached,
        timed_out,
    )
    from pressbox.curator.distil.activities import DistilActivities, SettingsActivities
    from pressbox.curator.distil.contracts import (
        SUMMARIZATION_EVALUATION,
        ContentDistillationInput,
        ContentDistillationOutput,
        ContentDistillationProgress,
        DistillationState,
        DistilledAnswer,
        DistilledBatch,
        DistilSelection,
        SaveDistilledInput,
        SelectForDistillationInput,
        SummarizationEvaluationInput,
        SummarizationEvaluationItem,
        summarization_evaluation_workflow_id,
    )
    from pressbox.curator.library.contracts import EntryIds, EntryProgressState
    from pressbox.curator.library.domain.audiences import readers_of_entries, readers_of_feed
    from pressbox.curator.library.domain.entries import EXTRACTIVE, EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.domain import entry_trace_id, trace_id
    from pressbox.curator.models.waiting import WAITING, sleep_until
    from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities
    from pressbox.curator.search.contracts import IndexBatchInput

# A page of entries with their titles is one message, which stays below 10 kB.
PAGE = 50
GIVEN_UP = "This text made the worker crash several times."


@workflow.defn
class ContentDistillationWorkflow:
    """Summarises entries in batches, then has them indexed and embedded; without ids, everything that waits.

    Id `distil-…`; a child that outlives its parent, or started by hand. While the model is unavailable or the token
    budget of the day is used up, it waits and continues by itself. Entries are selected by state and claimed for one
    batch, so that nothing is distilled twice.
    """

    @workflow.init
    def __init__(self, input: ContentDistillationInput) -> None:
        self._input = input
        self._policy = input.policy
        self._evaluates = False
        self._state = input.state
        self._articles = EntryStates()
        of = f" of {input.feed_name}" if input.feed_name else ""
        audience = readers_of_feed(input.feed_id) if input.feed_id else readers_of_entries(input.entry_ids)
        first = ContentDistillationProgress(title=f"Summaries{of}", audience=audience)
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ContentDistillationProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: ContentDistillationInput) -> ContentDistillationOutput:
        settings = await call_locally(SettingsActivities.get_app_settings)
        self._evaluates = settings.evaluation
        self._policy = input.policy.model_copy(update={"target_language": settings.target_language})
        page = await self._select()
        self._state = self._add(total=len(page.entries))
        for entry in page.entries:
            self._articles.put(entry.entry_id, EntryStatus.FETCHED, entry.title)
        self._show()
        size = self._policy.distil_batch
        for begin in range(0, len(page.entries), size):
            await self._distil_batch(page.entries[begin : begin + size])
        if page.more:
            state = self._add(after_entry_id=page.entries[-1].entry_id - self._state.after_entry_id)
            workflow.continue_as_new(input.model_copy(update={"state": state}))
        self._progress.complete(message=f"{self._state.distilled} summarised")
        return ContentDistillationOutput(distilled=self._state.distilled, failed=self._state.failed)

    async def _select(self) -> DistilSelection:
        wanted = SelectForDistillationInput(
            entry_ids=self._input.entry_ids, after_entry_id=self._state.after_entry_id, limit=PAGE
        )
        return await call(DistilActivities.get_entries_for_distillation, wanted)

    async def _distil_batch(self, entries: Sequence[EntryProgressState]) -> None:
        """Distil one batch, and wait as long as the model is unavailable."""
        while entries:
            for entry in entries:
                self._articles.put(entry.entry_id, EntryStatus.DISTILLING)
            self._show(current_step="distil", message="")
            batch = await self._distil(entries)
            await self._save(batch)
            if batch.retry_at is None:
                return
            entries = [entry for entry in entries if entry.entry_id in batch.waiting]
            self._show(current_step=WAITING, message=f"{len(entries)} wait: {batch.reason}")
            await sleep_until(batch.retry_at)
            if workflow.info().is_continue_as_new_suggested():
                # After days of waiting: what is still missing is selected again.
                state = self._state.model_copy(update={"total": self._state.distilled + self._state.failed})
                workflow.continue_as_new(self._input.model_copy(update={"state": state}))

    async def _distil(self, entries: Sequence[EntryProgressState]) -> DistilledBatch:
        """When a batch fails as a whole, try its entries one by one: only the one that breaks it fails."""
        wanted = EntryIds(entry_ids=tuple(entry.entry_id for entry in entries), policy=self._policy)
        try:
            return await call(DistilActivities.distill_entry_content, wanted)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if len(entries) > 1:
                parts = [await self._distil([entry]) for entry in entries]
                return merge_batches(parts)
            if not timed_out(error):
                # Something else is unavailable or refuses: the article is not to blame.
                retry_at = workflow.now() + self._policy.model_pause
                return DistilledBatch(waiting=wanted.entry_ids, retry_at=retry_at, reason=failure_reason(error))
            failed = entries[0].model_copy(update={"status": EntryStatus.ERROR, "error": GIVEN_UP})
            return DistilledBatch(failed=(failed,))

    async def _save(self, batch: DistilledBatch) -> None:
        if not batch.answers and not batch.failed:
            return
        save = SaveDistilledInput(answers=batch.answers, failed=batch.failed, policy=self._policy)
        saved = (await call(DistilActivities.save_distilled_entries, save)).entry_ids
        for entry_id in saved:
            self._articles.put(entry_id, EntryStatus.COMPLETED)
        for entry in batch.failed:
            self._articles.put(entry.entry_id, EntryStatus.ERROR, error=entry.error)
        self._state = self._add(distilled=len(saved), failed=len(batch.failed))
        if self._evaluates:
            await start_evaluation(batch.answers, saved, self._state.distilled)
        self._show(current_step="index")
        done = tuple(dict.fromkeys((*saved, *(entry.entry_id for entry in batch.failed))))
        await asyncio.gather(
            call_best_effort(IndexActivities.index_entries_batch, IndexBatchInput(entry_ids=done)),
            call_best_effort(EmbeddingActivities.compute_embeddings, EntryIds(entry_ids=done, policy=self._policy)),
        )

    def _add(self, **changes: int) -> DistillationState:
        known = self._state
        return known.model_copy(update={name: getattr(known, name) + change for name, change in changes.items()})

    def _show(self, **changes: object) -> None:
        state = self._state
        self._progress.update(
            done=state.distilled + state.failed,
            total=state.total,
            total_entries=state.total,
            entries_distilled=state.distilled,
            entry_progress=self._articles.copy(),
            **changes,
        )


def merge_batches(parts: Sequence[DistilledBatch]) -> DistilledBatch:
    times = [part.retry_at for part in parts if part.retry_at is not None]
    return DistilledBatch(
        answers=tuple(answer for part in parts for answer in part.answers),
        failed=tuple(entry for part in parts for entry in part.failed),
        waiting=tuple(entry_id for part in parts for entry_id in part.waiting),
        retry_at=max(times, default=None),
        reason=next((part.reason for part in parts if part.reason), ""),
    )


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
