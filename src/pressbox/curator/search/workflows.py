"""The workflows that rebuild and prune the search index and compute missing vectors."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.temporal.calls import call, call_best_effort
    from pressbox.curator.library.contracts import EntryIds
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.activities import EmbeddingActivities, IndexActivities, IndexSelection
    from pressbox.curator.search.contracts import (
        EmbeddingBackfillInput,
        EmbeddingBackfillOutput,
        EmbeddingProgress,
        Generation,
        IndexBatchInput,
        IndexProgress,
        PruneInput,
        RemoveDocumentsInput,
        SearchPruneInput,
        SearchPruneOutput,
        SearchReindexInput,
        SearchReindexOutput,
        SelectForEmbeddingInput,
    )

BATCHES_PER_RUN = 100
# The ids of this many entries are one message, which stays below 10 kB.
LARGEST_BATCH = 1000
# More than one run should do; the next one continues.
MOST_ROUNDS = 40


async def catch_up(batch: int) -> int:
    """Index entries whose document is out of date, and remove documents of removed entries."""
    indexed = 0
    for _ in range(MOST_ROUNDS):
        done = await call_best_effort(IndexActivities.index_entries_batch, IndexBatchInput(limit=batch))
        if done is None or not done.indexed:
            break
        indexed += done.indexed
    await remove_orphans()
    return indexed


async def remove_orphans() -> int:
    removed = 0
    for _ in range(MOST_ROUNDS):
        gone = await call_best_effort(IndexActivities.remove_documents_from_index, RemoveDocumentsInput())
        if gone is None:
            break
        removed += gone.removed
        if not gone.more:
            break
    return removed


@workflow.defn
class SearchReindexWorkflow:
    """Builds a search index of all entries beside the one in use, and swaps it in when it is complete.

    Id `curator-reindex`; started by hand, or by the writer that finds the index lost, damaged or of another database.
    With `clean` an index that cannot be read is given up at once, and the new one is searched while it fills; one that
    can be read is searched until the new one is complete. Continues as new after some batches.
    """

    @workflow.init
    def __init__(self, input: SearchReindexInput) -> None:
        self._state = input.state
        self._progress = ProgressReporter(
            IndexProgress(title="Rebuilding the search index", audience=ADMINISTRATORS, indexed=input.state.indexed)
        )

    @workflow.query
    def get_progress(self) -> IndexProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: SearchReindexInput) -> SearchReindexOutput:
        generation = await call(IndexActivities.init_search_index, Generation(name=self._state.generation))
        if input.clean and not self._state.cleared:
            await call(IndexActivities.clear_search_index, generation)
        self._state = self._state.model_copy(update={"generation": generation.name, "cleared": input.clean})
        for _ in range(BATCHES_PER_RUN):
            if not await self._index(generation, min(input.batch_size, LARGEST_BATCH)):
                break
        else:
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        await call(IndexActivities.swap_search_index, generation)
        await catch_up(min(input.batch_size, LARGEST_BATCH))
        self._progress.complete(message="")
        return SearchReindexOutput(indexed=self._state.indexed)

    async def _index(self, generation: Generation, size: int) -> bool:
        wanted = IndexBatchInput(after_entry_id=self._state.after_entry_id, limit=size)
        page = await call(IndexSelection.get_entry_ids_for_indexing, wanted)
        if page.last_entry_id is None:
            return False
        batch = IndexBatchInput(entry_ids=page.entry_ids, generation=generation.name)
        done = await call(IndexActivities.index_entries_batch, batch)
        indexed = self._state.indexed + done.indexed
        self._state = self._state.model_copy(update={"after_entry_id": page.last_entry_id, "indexed": indexed})
        self._progress.update(done=indexed, indexed=indexed, message=f"{indexed} articles")
        return True


@workflow.defn
class SearchPruneWorkflow:
    """Compares the search index with the entries, page by page, and removes documents without an entry.

    Id `curator-prune`; started by hand. Whether the entry exists is checked again right before a document is removed.
    """

    @workflow.init
    def __init__(self, input: SearchPruneInput) -> None:
        self._state = input.state
        self._progress = ProgressReporter(
            IndexProgress(title="Pruning the search index", audience=ADMINISTRATORS, removed=input.state.removed)
        )

    @workflow.query
    def get_progress(self) -> IndexProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: SearchPruneInput) -> SearchPruneOutput:
        for _ in range(BATCHES_PER_RUN):
            if not await self._prune(min(input.batch_size, LARGEST_BATCH)):
                break
        else:
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        self._progress.complete(message="")
        return SearchPruneOutput(removed=self._state.removed)

    async def _prune(self, size: int) -> bool:
        page = PruneInput(after_document_id=self._state.after_document_id, limit=size)
        found = await call(IndexActivities.get_orphaned_document_ids, page)
        if found.last_document_id is None:
            return False
        removed = self._state.removed
        if found.document_ids:
            wanted = RemoveDocumentsInput(document_ids=found.document_ids)
            removed += (await call(IndexActivities.remove_documents_from_index, wanted)).removed
        self._state = self._state.model_copy(update={"after_document_id": found.last_document_id, "removed": removed})
        self._progress.update(done=removed, removed=removed, message=f"{removed} removed")
        return True


@workflow.defn
class EmbeddingBackfillWorkflow:
    """Computes missing vectors batch by batch: after a change of the model, or for what a crash left.

    Id `curator-embedding-backfill`; started by `AllFeedsIngestionWorkflow` when vectors are missing, or by hand.
    Vectors of another model stay and are never compared with these. Continues as new after some batches.
    """

    @workflow.init
    def __init__(self, input: EmbeddingBackfillInput) -> None:
        self._state = input.state
        first = EmbeddingProgress(
            title="Vectors for related articles", audience=ADMINISTRATORS, computed=input.state.computed
        )
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
