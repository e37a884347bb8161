"""GlobalGraphUpdateWorkflow adds what the graph lacks; GraphRebuildWorkflow makes the graph of all entries anew."""

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import ADMINISTRATORS, NOBODY
    from pressbox.core.temporal.calls import Method, call
    from pressbox.curator.graph.activities import GraphActivities
    from pressbox.curator.graph.contracts import (
        GlobalGraphUpdateInput,
        GlobalGraphUpdateOutput,
        GlobalGraphUpdateProgress,
        GraphBatchInput,
        GraphBatchResult,
        GraphGeneration,
        GraphMarkInput,
        GraphPruneInput,
        GraphRebuildInput,
        GraphRebuildOutput,
        GraphRebuildProgress,
        SelectForGraphInput,
    )
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.waiting import WAITING, sleep_until
    from pressbox.curator.search.activities import IndexSelection
    from pressbox.curator.search.contracts import IndexBatchInput

# Batches, until the run continues as new.
ADDED_PER_RUN, REBUILT_PER_RUN = 40, 100
# Ids, hashes and titles of this many entries are one message, which stays below 10 kB.
LARGEST_BATCH = 100


@workflow.defn
class GlobalGraphUpdateWorkflow:
    """Adds entries to the graph whose text is not in it yet, and marks them when they are in.

    Id `curator-graph-…`; started hourly by the schedule `curator-graph`, or by hand. Entities come from the stored
    context of an entry, or are found now; when a model is away or its budget used up, the run waits for it. An entry
    that cannot be added is shown and left alone until its text changes or somebody tries again. Continues as new
    after some batches.
    """

    @workflow.init
    def __init__(self, input: GlobalGraphUpdateInput) -> None:
        self._input = input
        self._state = input.state
        self._articles = EntryStates()
        first = GlobalGraphUpdateProgress(title="Graph of entities", audience=NOBODY, routine=input.routine)
        self._progress = ProgressReporter(first)

    @workflow.query
    def get_progress(self) -> GlobalGraphUpdateProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: GlobalGraphUpdateInput) -> GlobalGraphUpdateOutput:
        for _ in range(ADDED_PER_RUN):
            if not await self._batch():
                break
        else:
            workflow.continue_as_new(input.model_copy(update={"state": self._state}))
        await call(GraphActivities.prune_global_graph, GraphPruneInput())
        self._progress.complete(message="")
        return GlobalGraphUpdateOutput(added=self._state.added, failed=self._state.failed)

    async def _batch(self) -> bool:
        wanted = SelectForGraphInput(
            entry_ids=self._input.entry_ids,
            after_entry_id=self._state.after_entry_id,
            limit=min(self._input.batch_size, LARGEST_BATCH),
            failed=self._input.retry_failed or bool(self._input.entry_ids),
        )
        found = await call(GraphActivities.get_entries_for_graph_update, wanted)
        if not found.entries:
            return False
        self._articles = EntryStates()
        for entry in found.entries:
            self._articles.put(entry.entry_id, EntryStatus.PENDING, entry.title)
        self._show(current_step="add", message="")
        ids = tuple(entry.entry_id for entry in found.entries)
        batch = GraphBatchInput(entry_ids=ids, policy=self._input.policy)
        if not await add_in_rounds(GraphActivities.add_to_global_graph_bulk, batch, self._take, self._show):
            workflow.continue_as_new(self._input.model_copy(update={"state": self._state}))
        self._state = self._state.model_copy(update={"after_entry_id": ids[-1]})
        return True

    async def _take(self, result: GraphBatchResult) -> None:
        added, failed = result.added, result.failed
        if added or failed:
            await call(GraphActivities.mark_entries_graph_added, GraphMarkInput(added=added, failed=failed))
        for one in added:
            self._articles.put(one.entry_id, EntryStatus.COMPLETED)
        for one in failed:
            self._articles.put(one.entry_id, EntryStatus.ERROR, error=one.reason)
        counts = {"added": self._state.added + len(added), "failed": self._state.failed + len(failed)}
        self._state = self._state.model_copy(update=counts)
        self._show()

    def _show(self, **changes: object) -> None:
        dealt_with = self._state.added + self._state.failed
        total = dealt_with + sum(one.status is EntryStatus.PENDING for one in self._articles.states.values())
        self._progress.update(
            done=dealt_with,
            total=total,
            total_entries=total,
            entries_added=self._state.added,
            entries_failed=self._state.failed,
            entry_progress=self._articles.copy(),
            **changes,
        )


async def add_in_rounds(
    method: "Method[GraphBatchInput, GraphBatchResult]",
    batch: GraphBatchInput,
    take: Callable[[GraphBatchResult], Awaitable[None]],
    show: Callable[..., None],
) -> bool:
    """Take note of what is in at once. False when the history grew long with waiting: the next run finds the rest."""
    left = batch.entry_ids
    while left:
        result = await call(method, batch.model_copy(update={"entry_ids": left}))
        await take(result)
        if result.retry_at is None:
            return True
        dealt_with = result.dealt_with
        left = tuple(entry_id for entry_id in left if entry_id not in dealt_with)
        show(current_step=WAITING, message=result.reason)
        await sleep_until(result.retry_at)
        if workflow.info().is_continue_as_new_suggested():
            return False
    return True


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
        title = "Graph of entities, built anew"
        self._progress = ProgressReporter(GraphRebuildProgress(title=title, audience=ADMINISTRATORS, clean=input.clean))

    @workflow.query
    def get_progress(self) -> GraphRebuildProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: GraphRebuildInput) -> GraphRebuildOutput:
        if input.clean:
            begun = await call(GraphActivities.reset_global_graph, GraphGeneration(number=self._state.generation))
            self._state = self._state.model_copy(update={"generation": begun.number})
        for _ in range(REBUILT_PER_RUN):
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
        size, after = min(self._input.batch_size, LARGEST_BATCH), self._state.after_entry_id
        page = await call(IndexSelection.get_entry_ids_for_indexing, IndexBatchInput(after_entry_id=after, limit=size))
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
        state = self._state
        self._progress.update(done=state.added, entries_added=state.added, entries_failed=state.failed, **changes)
