"""GlobalGraphUpdateWorkflow: what the graph lacks, batch by batch."""

from collections.abc import Awaitable, Callable

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import NOBODY
    from pressbox.core.temporal.calls import Method, call
    from pressbox.curator.graph.activities import GraphActivities
    from pressbox.curator.graph.contracts import (
        GlobalGraphUpdateInput,
        GlobalGraphUpdateOutput,
        GlobalGraphUpdateProgress,
        GraphBatchInput,
        GraphBatchResult,
        GraphMarkInput,
        GraphPruneInput,
        SelectForGraphInput,
    )
    from pressbox.curator.library.domain.entries import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter
    from pressbox.curator.models.waiting import WAITING, sleep_until

BATCHES_PER_RUN = 40
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
        for _ in range(BATCHES_PER_RUN):
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
        if result.added or result.failed:
            done = GraphMarkInput(added=result.added, failed=result.failed)
            await call(GraphActivities.mark_entries_graph_added, done)
        for one in result.added:
            self._articles.put(one.entry_id, EntryStatus.COMPLETED)
        for one in result.failed:
            self._articles.put(one.entry_id, EntryStatus.ERROR, error=one.reason)
        counts = {"added": self._state.added + len(result.added), "failed": self._state.failed + len(result.failed)}
        self._state = self._state.model_copy(update=counts)
        self._show()

    def _show(self, **changes: object) -> None:
        waiting = sum(one.status is EntryStatus.PENDING for one in self._articles.states.values())
        dealt_with = self._state.added + self._state.failed
        self._progress.update(
            done=dealt_with,
            total=dealt_with + waiting,
            total_entries=dealt_with + waiting,
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
    """What is in is taken note of at once, however long the others have to wait.

    False when the history grew long with waiting: the rest is for the next run, which finds it by state.
    """
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
