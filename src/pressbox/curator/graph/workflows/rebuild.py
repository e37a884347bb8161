"""GraphRebuildWorkflow: the graph of all entries, anew or completed."""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS
    from pressbox.core.temporal.calls import call
    from pressbox.curator.graph.activities import GraphActivities
    from pressbox.curator.graph.contracts import (
        GraphBatchInput,
        GraphBatchResult,
        GraphGeneration,
        GraphMarkInput,
        GraphPruneInput,
        GraphRebuildInput,
        GraphRebuildOutput,
        GraphRebuildProgress,
    )
    from pressbox.curator.graph.workflows.update import LARGEST_BATCH, add_in_rounds
    from pressbox.curator.library.progress import ProgressReporter
    from pressbox.curator.search.activities import IndexSelection
    from pressbox.curator.search.contracts import IndexBatchInput

BATCHES_PER_RUN = 100


@workflow.defn
class GraphRebuildWorkflow:
    """Goes through all entries and adds to the graph those that it lacks.

    Id `curator-graph-rebuild`; started by hand, one at a time. With `clean` a new graph is built beside the one that
    is read and takes its place when it is whole: until then everybody reads the old one, and what the update adds
    meanwhile is in both. Continues as new after some batches.
    """

    @workflow.init
    def __init__(self, input: GraphRebuildInput) -> None:
        self._input = input
        self._state = input.state
        self._progress = ProgressReporter(
            GraphRebuildProgress(title="Graph of entities, built anew", audience=ADMINISTRATORS, clean=input.clean)
        )

    @workflow.query
    def get_progress(self) -> GraphRebuildProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: GraphRebuildInput) -> GraphRebuildOutput:
        if input.clean:
            begun = await call(GraphActivities.reset_global_graph, GraphGeneration(number=self._state.generation))
            self._state = self._state.model_copy(update={"generation": begun.number})
        for _ in range(BATCHES_PER_RUN):
            if not await self._batch():
                break
        else:
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        if input.clean:
            await call(GraphActivities.swap_global_graph, GraphGeneration(number=self._state.generation))
        await call(GraphActivities.prune_global_graph, GraphPruneInput())
        self._progress.complete(message="")
        return GraphRebuildOutput(added=self._state.added, failed=self._state.failed)

    async def _batch(self) -> bool:
        size = min(self._input.batch_size, LARGEST_BATCH)
        wanted = IndexBatchInput(after_entry_id=self._state.after_entry_id, limit=size)
        page = await call(IndexSelection.get_entry_ids_for_indexing, wanted)
        if page.last_entry_id is None:
            return False
        batch = GraphBatchInput(entry_ids=page.entry_ids, generation=self._state.generation, policy=self._input.policy)
        before = self._state
        if not await add_in_rounds(GraphActivities.fetch_and_add_to_graph_bulk, batch, self._take, self._show):
            # Into a graph that is built aside the whole batch goes again, and is counted then.
            state = before if before.generation else self._state
            workflow.continue_as_new(self._input.model_copy(update={"state": state}))
        self._state = self._state.model_copy(update={"after_entry_id": page.last_entry_id})
        return True

    async def _take(self, result: GraphBatchResult) -> None:
        # What is only in a graph that is built aside must not count: then nothing would bring it up again.
        added = () if self._state.generation else result.added
        if added or result.failed:
            await call(GraphActivities.mark_entries_graph_added, GraphMarkInput(added=added, failed=result.failed))
        counts = {"added": self._state.added + len(result.added), "failed": self._state.failed + len(result.failed)}
        self._state = self._state.model_copy(update=counts)
        self._show(current_step="add", message=f"{self._state.added} articles")

    def _show(self, **changes: object) -> None:
        self._progress.update(
            done=self._state.added,
            entries_added=self._state.added,
            entries_failed=self._state.failed,
            **changes,
        )
