"""SearchReindexWorkflow: the search index built anew."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.activities.index import IndexActivities, IndexSelection
    from pressbox.curator.search.contracts import (
        Generation,
        IndexBatchInput,
        IndexProgress,
        SearchReindexInput,
        SearchReindexOutput,
    )
    from pressbox.curator.search.workflows.indexing import catch_up

BATCHES_PER_RUN = 100
# Ids of this many entries are one message, which stays below 10 kB.
LARGEST_BATCH = 1000


@workflow.defn
class SearchReindexWorkflow:
    """Builds a search index of all entries beside the one that is searched, and swaps it in when it is whole.

    Id `curator-reindex`; started by hand. With `clean` an empty index is searched at once and fills while it is built,
    for when the present one is broken. Continues as new after some batches.
    """

    @workflow.init
    def __init__(self, input: SearchReindexInput) -> None:
        self._state = input.state
        self._progress = ProgressReporter(IndexProgress(title="Search index, built anew", indexed=input.state.indexed))

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
