"""ReprocessEntriesWorkflow: fetches articles again, or only renews their summaries."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason
    from pressbox.curator.distil.contracts import ContentDistillationInput, DistilledEntries, distil_workflow_id
    from pressbox.curator.distil.workflow import ContentDistillationWorkflow
    from pressbox.curator.ingest.activities import FetchActivities
    from pressbox.curator.ingest.contracts import (
        EntryToFetch,
        FetchContentsInput,
        ReopenInput,
        ReprocessEntriesInput,
        ReprocessEntriesOutput,
        ReprocessEntriesProgress,
    )
    from pressbox.curator.library.audiences import readers_of_entries
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter


@workflow.defn
class ReprocessEntriesWorkflow:
    """Fetches and summarises the given entries, whatever their state, and waits for the result.

    Id `reprocess-…`; started by hand. A text that stays the same is not paid for again: its summary is known.
    """

    @workflow.init
    def __init__(self, input: ReprocessEntriesInput) -> None:
        self._input = input
        self._articles = EntryStates()
        self._fetched = self._failed = 0
        self._distilled: set[int] = set()
        first = ReprocessEntriesProgress(
            title="Articles again",
            audience=readers_of_entries(input.entry_ids),
            total=len(input.entry_ids),
            total_entries=len(input.entry_ids),
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ReprocessEntriesProgress:
        return self._progress.current

    @workflow.signal
    def entries_distilled(self, done: DistilledEntries) -> None:
        for entry_id in done.distilled:
            self._articles.put(entry_id, EntryStatus.COMPLETED)
        for entry in done.failed:
            self._articles.put(entry.entry_id, EntryStatus.ERROR, entry.title, entry.error)
        self._distilled.update(done.distilled)
        self._report()

    @workflow.run
    async def run(self, input: ReprocessEntriesInput) -> ReprocessEntriesOutput:
        existing: list[int] = []
        size = input.policy.entries_per_fetch
        for begin in range(0, len(input.entry_ids), size):
            wanted = ReopenInput(entry_ids=input.entry_ids[begin : begin + size], distill=input.distill)
            found = await call(FetchActivities.get_entries, wanted)
            existing += [entry.entry_id for entry in found.entries]
            if input.fetch:
                await self._fetch(found.entries)
        distilled = await self._distil(existing) if input.distill and existing else 0
        self._progress.complete(done=len(input.entry_ids), entries_distilled=distilled)
        return ReprocessEntriesOutput(fetched=self._fetched, distilled=distilled, failed=self._failed)

    async def _fetch(self, entries: tuple[EntryToFetch, ...]) -> None:
        for entry in entries:
            self._articles.put(entry.entry_id, EntryStatus.FETCHING, entry.title)
        self._report(current_step="fetch")
        ids = tuple(entry.entry_id for entry in entries)
        wanted = FetchContentsInput(entry_ids=ids, policy=self._input.policy)
        try:
            results = (await call(FetchActivities.fetch_contents, wanted)).results
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("%s articles could not be fetched again: %s", len(ids), failure_reason(error))
            self._failed += len(ids)
            return
        for result in results:
            status = EntryStatus.FETCHED if result.fetched else EntryStatus.ERROR
            self._articles.put(result.entry_id, status, error=result.reason)
            self._fetched += result.fetched
            self._failed += not result.fetched
        self._report()

    async def _distil(self, entry_ids: list[int]) -> int:
        self._report(current_step="distil")
        own_id = workflow.info().workflow_id
        done = await workflow.execute_child_workflow(
            ContentDistillationWorkflow.run,
            ContentDistillationInput(
                entry_ids=tuple(entry_ids), signal_parent=True, parent_workflow_id=own_id, policy=self._input.policy
            ),
            id=distil_workflow_id(own_id, 1),
        )
        self._failed += done.failed
        return done.distilled

    def _report(self, **changes: object) -> None:
        self._progress.update(
            done=self._fetched + self._failed,
            entries_fetched=self._fetched,
            entries_distilled=len(self._distilled),
            entry_progress=self._articles.copy(),
            **changes,
        )
