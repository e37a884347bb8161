"""SearchPruneWorkflow: documents without an entry leave the search index."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.activities.index import IndexActivities
    from pressbox.curator.search.contracts import (
        IndexProgress,
        PruneInput,
        RemoveDocumentsInput,
        SearchPruneInput,
        SearchPruneOutput,
    )

BATCHES_PER_RUN = 100
# Ids of this many documents are one message, which stays below 10 kB.
LARGEST_BATCH = 1000


@workflow.defn
class SearchPruneWorkflow:
    """Compares the search index with the entries, page by page, and removes what has none.

    Id `curator-prune`; started by hand. Whether the entry exists is asked again right before a document is removed.
    """

    @workflow.init
    def __init__(self, input: SearchPruneInput) -> None:
        self._state = input.state
        self._progress = ProgressReporter(
            IndexProgress(title="Search index without what is gone", removed=input.state.removed)
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
