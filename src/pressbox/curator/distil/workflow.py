"""ContentDistillationWorkflow: from texts to summaries, searchable and comparable."""

import asyncio
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, call_best_effort, call_locally, failure_reason, timed_out
    from pressbox.curator.distil.activities import DistilActivities, SettingsActivities
    from pressbox.curator.distil.contracts import (
        ContentDistillationInput,
        ContentDistillationOutput,
        ContentDistillationProgress,
        DistillationState,
        DistilledBatch,
        DistilSelection,
        SaveDistilledInput,
        SelectForDistillationInput,
    )
    from pressbox.curator.distil.evaluation import start_evaluation
    from pressbox.curator.library.contracts import EntryIds, EntryProgressState
    from pressbox.curator.library.domain.entries import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.waiting import WAITING, sleep_until
    from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities
    from pressbox.curator.search.contracts import IndexBatchInput

# A page of entries with their titles is one message, which stays below 10 kB.
PAGE = 50
GIVEN_UP = "Its worker died of it, several times."


@workflow.defn
class ContentDistillationWorkflow:
    """Summarises entries in batches, then has them indexed and compared; without ids everything that waits for it.

    Id `distil-…`; a child that outlives who started it, or started by hand. While no model answers, or the token budget
    of the day is used up, it waits and goes on by itself. Entries are chosen by state and claimed for the time of one
    batch, so that nothing is distilled twice, and nothing is marked that was not.
    """

    @workflow.init
    def __init__(self, input: ContentDistillationInput) -> None:
        self._input = input
        self._policy = input.policy
        self._judged = False
        self._state = input.state
        self._articles = EntryStates()
        of = f" of {input.feed_name}" if input.feed_name else ""
        self._progress = ProgressReporter(ContentDistillationProgress(title=f"Summaries{of}"), input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ContentDistillationProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: ContentDistillationInput) -> ContentDistillationOutput:
        settings = await call_locally(SettingsActivities.get_app_settings)
        self._judged = settings.evaluation
        self._policy = input.policy.model_copy(update={"target_language": settings.target_language})
        page = await self._select()
        self._state = self._add(total=len(page.entries))
        for entry in page.entries:
            self._articles.put(entry.entry_id, EntryStatus.FETCHED, entry.title)
        self._show()
        size = self._policy.distil_batch
        for begin in range(0, len(page.entries), size):
            await self._distil_patiently(page.entries[begin : begin + size])
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

    async def _distil_patiently(self, entries: Sequence[EntryProgressState]) -> None:
        """One batch to its end, however long no model answers."""
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
                # Days without a model: what still waits is selected again.
                state = self._state.model_copy(update={"total": self._state.distilled + self._state.failed})
                workflow.continue_as_new(self._input.model_copy(update={"state": state}))

    async def _distil(self, entries: Sequence[EntryProgressState]) -> DistilledBatch:
        """Where a batch fails as a whole, its entries are tried one by one: only the one that does it fails."""
        wanted = EntryIds(entry_ids=tuple(entry.entry_id for entry in entries), policy=self._policy)
        try:
            return await call(DistilActivities.distill_entry_content, wanted)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if len(entries) > 1:
                parts = [await self._distil([entry]) for entry in entries]
                return merged(parts)
            if not timed_out(error):
                # A part of ours is away, or refuses: that is no failure of the article.
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
        if self._judged:
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


def merged(parts: Sequence[DistilledBatch]) -> DistilledBatch:
    times = [part.retry_at for part in parts if part.retry_at is not None]
    return DistilledBatch(
        answers=tuple(answer for part in parts for answer in part.answers),
        failed=tuple(entry for part in parts for entry in part.failed),
        waiting=tuple(entry_id for part in parts for entry_id in part.waiting),
        retry_at=max(times, default=None),
        reason=next((part.reason for part in parts if part.reason), ""),
    )
