"""What a distillation counts and shows, and how those go on that began before rows were the queue."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from pressbox.core.temporal.calls import call, call_best_effort, failure_reason, start_detached, timed_out
from pressbox.curator.distil.activities import DistilActivities
from pressbox.curator.distil.contracts import (
    DISTIL_PAGE,
    DISTILLED_SIGNAL,
    SUMMARIZATION_EVALUATION,
    ContentDistillationInput,
    ContentDistillationProgress,
    DistillationState,
    DistilledAnswer,
    DistilledBatch,
    DistilledEntries,
    DistilSelection,
    SaveDistilledInput,
    SelectForDistillationInput,
    SummarizationEvaluationInput,
    SummarizationEvaluationItem,
    summarization_evaluation_workflow_id,
)
from pressbox.curator.library.audiences import readers_of_entries, readers_of_feed
from pressbox.curator.library.contracts import EntryIds, EntryProgressState
from pressbox.curator.library.domain import EXTRACTIVE, EntryStatus
from pressbox.curator.library.progress import EntryStates, ProgressReporter, signal_parent
from pressbox.curator.models.domain import entry_trace_id, trace_id
from pressbox.curator.models.waiting import WAITING, sleep_until
from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities
from pressbox.curator.search.contracts import IndexBatchInput


class DistilRun:
    def __init__(self, input: ContentDistillationInput) -> None:
        self.input = input
        self.policy = input.policy
        self.evaluates = False
        self.state = input.state
        self.articles = EntryStates()
        of = f" of {input.feed_name}" if input.feed_name else ""
        audience = readers_of_feed(input.feed_id) if input.feed_id else readers_of_entries(input.entry_ids)
        first = ContentDistillationProgress(title=f"Summaries{of}", audience=audience)
        self.progress = ProgressReporter(first, input.parent_workflow_id)

    def added(self, **changes: int) -> DistillationState:
        known = self.state
        return known.model_copy(update={name: getattr(known, name) + change for name, change in changes.items()})

    def add(self, **changes: int) -> None:
        self.state = self.added(**changes)

    def show(self, **changes: object) -> None:
        state = self.state
        self.progress.update(
            done=state.distilled + state.failed,
            total=state.total,
            total_entries=state.total,
            entries_distilled=state.distilled,
            entry_progress=self.articles.copy(),
            **changes,
        )


GIVEN_UP = "This text made the worker crash several times."


class BatchChain:
    """Selects a page of entries and distils them one batch after the other."""

    def __init__(self, run: DistilRun) -> None:
        self._run = run
        self._input = run.input

    async def run(self) -> None:
        page = await self._select()
        self._run.add(total=len(page.entries))
        for entry in page.entries:
            self._run.articles.put(entry.entry_id, EntryStatus.FETCHED, entry.title)
        self._run.show()
        size = self._run.policy.distil_batch
        for begin in range(0, len(page.entries), size):
            await self._distil_batch(page.entries[begin : begin + size])
        if page.more:
            state = self._run.added(after_entry_id=page.entries[-1].entry_id - self._run.state.after_entry_id)
            workflow.continue_as_new(self._input.model_copy(update={"state": state}))

    async def _select(self) -> DistilSelection:
        wanted = SelectForDistillationInput(
            entry_ids=self._input.entry_ids, after_entry_id=self._run.state.after_entry_id, limit=DISTIL_PAGE
        )
        return await call(DistilActivities.get_entries_for_distillation, wanted)

    async def _distil_batch(self, entries: Sequence[EntryProgressState]) -> None:
        """Distil one batch, and wait as long as the model is unavailable."""
        while entries:
            for entry in entries:
                self._run.articles.put(entry.entry_id, EntryStatus.DISTILLING)
            self._run.show(current_step="distil", message="")
            batch = await self._distil(entries)
            await self._save(batch)
            if batch.retry_at is None:
                return
            entries = [entry for entry in entries if entry.entry_id in batch.waiting]
            self._run.show(current_step=WAITING, message=f"{len(entries)} wait: {batch.reason}")
            await sleep_until(batch.retry_at)
            if workflow.info().is_continue_as_new_suggested():
                # After days of waiting: what is still missing is selected again.
                state = self._run.state.model_copy(update={"total": self._run.state.distilled + self._run.state.failed})
                workflow.continue_as_new(self._input.model_copy(update={"state": state}))

    async def _distil(self, entries: Sequence[EntryProgressState]) -> DistilledBatch:
        """When a batch fails as a whole, try its entries one by one: only the one that breaks it fails."""
        wanted = EntryIds(entry_ids=tuple(entry.entry_id for entry in entries), policy=self._run.policy)
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
                retry_at = workflow.now() + self._run.policy.model_pause
                return DistilledBatch(waiting=wanted.entry_ids, retry_at=retry_at, reason=failure_reason(error))
            failed = entries[0].model_copy(update={"status": EntryStatus.ERROR, "error": GIVEN_UP})
            return DistilledBatch(failed=(failed,))

    async def _save(self, batch: DistilledBatch) -> None:
        if not batch.answers and not batch.failed:
            return
        save = SaveDistilledInput(answers=batch.answers, failed=batch.failed, policy=self._run.policy)
        saved = (await call(DistilActivities.save_distilled_entries, save)).entry_ids
        for entry_id in saved:
            self._run.articles.put(entry_id, EntryStatus.COMPLETED)
        for entry in batch.failed:
            self._run.articles.put(entry.entry_id, EntryStatus.ERROR, error=entry.error)
        self._run.add(distilled=len(saved), failed=len(batch.failed))
        if self._input.signal_parent:
            await signal_parent(DISTILLED_SIGNAL, DistilledEntries(distilled=saved, failed=batch.failed))
        if self._run.evaluates:
            await start_evaluation(batch.answers, saved, self._run.state.distilled)
        self._run.show(current_step="index")
        done = tuple(dict.fromkeys((*saved, *(entry.entry_id for entry in batch.failed))))
        await asyncio.gather(
            call_best_effort(IndexActivities.index_entries_batch, IndexBatchInput(entry_ids=done)),
            call_best_effort(EmbeddingActivities.compute_embeddings, EntryIds(entry_ids=done, policy=self._run.policy)),
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
