"""DomainFetchWorkflow: fetches the articles of one host, one after the other."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason, timed_out
    from pressbox.curator.ingest.activities import FetchActivities
    from pressbox.curator.ingest.contracts import (
        ARTICLES_SIGNAL,
        ArrivedArticles,
        DomainFetchInput,
        DomainFetchOutput,
        DomainFetchProgress,
        EntryToFetch,
        FetchContentInput,
        FetchContentResult,
    )
    from pressbox.curator.library.domain.audiences import readers_of_feed
    from pressbox.curator.library.domain.entries import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter


@workflow.defn
class DomainFetchWorkflow:
    """Fetches articles of one host, within the rate limit that the whole instance shares.

    Id `fetch-feed-…-{domain}`; child of `ScheduleFetchWorkflow`, which it signals every article that arrived. An
    article that cannot be fetched keeps its reason and the time of its next try.
    """

    @workflow.init
    def __init__(self, input: DomainFetchInput) -> None:
        self._input = input
        self._articles = EntryStates()
        for entry in input.entries:
            self._articles.put(entry.entry_id, EntryStatus.PENDING, entry.title)
        first = DomainFetchProgress(
            title=input.domain,
            audience=readers_of_feed(input.feed_id),
            domain=input.domain,
            total=len(input.entries),
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)
        self._fetched: list[int] = []
        self._failed = 0

    @workflow.query
    def get_progress(self) -> DomainFetchProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: DomainFetchInput) -> DomainFetchOutput:
        for number, entry in enumerate(input.entries):
            self._articles.put(entry.entry_id, EntryStatus.FETCHING)
            self._report(current_entry_index=number, current_entry_title=entry.title, message=entry.title)
            result = await self._fetch(entry)
            if result.fetched:
                self._fetched.append(entry.entry_id)
                self._articles.put(entry.entry_id, EntryStatus.FETCHED)
                await self._signal_parent(entry)
            else:
                self._failed += 1
                self._articles.put(entry.entry_id, EntryStatus.ERROR, error=result.reason)
            self._report()
        self._progress.complete(message="")
        return DomainFetchOutput(fetched_ids=tuple(self._fetched), failed=self._failed)

    async def _fetch(self, entry: EntryToFetch) -> FetchContentResult:
        wanted = FetchContentInput(entry_id=entry.entry_id, policy=self._input.policy)
        try:
            return await call(FetchActivities.fetch_single_content, wanted)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if not timed_out(error):
                # It still waits, and the next run finds it.
                return FetchContentResult(entry_id=entry.entry_id, fetched=False, reason=failure_reason(error))
            # The page itself kills the worker, so the feed's own text is used.
            return await call(FetchActivities.fetch_single_content, wanted.model_copy(update={"from_feed": True}))

    async def _signal_parent(self, entry: EntryToFetch) -> None:
        parent = workflow.info().parent
        if not self._input.auto_distill or parent is None:
            return
        arrived = ArrivedArticles(entry_ids=(entry.entry_id,))
        try:
            await workflow.get_external_workflow_handle(parent.workflow_id).signal(ARTICLES_SIGNAL, arrived)
        except ApplicationError as error:
            # The parent is gone. The article is stored, and its summary is found by state.
            workflow.logger.warning("Entry %s waits for its summary: %s", entry.entry_id, failure_reason(error))

    def _report(self, **changes: object) -> None:
        self._progress.update(
            done=len(self._fetched) + self._failed,
            entries_fetched=len(self._fetched),
            entries_failed=self._failed,
            entry_progress=self._articles.copy(),
            **changes,
        )
