"""EmbeddingBackfillWorkflow: vectors for every entry that has none of the present model."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call
    from pressbox.curator.library.contracts import EntryIds
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.activities.embedding import EmbeddingActivities
    from pressbox.curator.search.contracts import (
        EmbeddingBackfillInput,
        EmbeddingBackfillOutput,
        EmbeddingProgress,
        SelectForEmbeddingInput,
    )

BATCHES_PER_RUN = 100
# Ids of this many entries are one message, which stays below 10 kB.
LARGEST_BATCH = 1000


@workflow.defn
class EmbeddingBackfillWorkflow:
    """Computes vectors batch by batch: after another model was chosen, or for what a crash left.

    Id `curator-embedding-backfill`; started by `AllFeedsIngestionWorkflow` when there is any, or by hand. Vectors of
    another model stay as they are and are never compared with these. Continues as new after some batches.
    """

    @workflow.init
    def __init__(self, input: EmbeddingBackfillInput) -> None:
        self._state = input.state
        first = EmbeddingProgress(title="Vectors for related articles", computed=input.state.computed)
        self._progress = ProgressReporter(first.model_copy(update={"routine": input.routine}))

    @workflow.query
    def get_progress(self) -> EmbeddingProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: EmbeddingBackfillInput) -> EmbeddingBackfillOutput:
        for _ in range(BATCHES_PER_RUN):
            if not await self._compute(min(input.batch_size, LARGEST_BATCH)):
                break
        else:
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        self._progress.complete(message="")
        return EmbeddingBackfillOutput(computed=self._state.computed)

    async def _compute(self, size: int) -> bool:
        wanted = SelectForEmbeddingInput(after_entry_id=self._state.after_entry_id, limit=size)
        found = await call(EmbeddingActivities.get_entries_for_embedding, wanted)
        if found.last_entry_id is None:
            return False
        done = await call(EmbeddingActivities.compute_embeddings, EntryIds(entry_ids=found.entry_ids))
        computed = self._state.computed + done.computed
        self._state = self._state.model_copy(update={"after_entry_id": found.last_entry_id, "computed": computed})
        total = self._state.computed + max(found.remaining - len(found.entry_ids), 0)
        self._progress.update(done=computed, total=total, total_entries=total, computed=computed)
        return True
