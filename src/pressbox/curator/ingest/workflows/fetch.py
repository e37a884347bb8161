"""DomainFetchWorkflow fetches the articles of one host; PreviewFetchWorkflow shows what rules would make of a page."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, is_cancelled_exception
from temporalio.workflow import ActivityConfig

with workflow.unsafe.imports_passed_through():
    from pressbox.core.audiences.contracts import NOBODY
    from pressbox.core.progress.contracts import Progress
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
        PreviewFetchInput,
        PreviewFetchOutput,
    )
    from pressbox.curator.library.audiences import readers_of_feed
    from pressbox.curator.library.domain import EntryStatus
    from pressbox.curator.library.progress import EntryStates, ProgressReporter, signal_parent


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
                if input.auto_distill:
                    await signal_parent(ARTICLES_SIGNAL, ArrivedArticles(entry_ids=(entry.entry_id,)))
            else:
                self._failed += 1
                self._articles.put(entry.entry_id, EntryStatus.ERROR, error=result.reason)
            self._report()
        self._progress.complete(message="")
        return DomainFetchOutput(fetched_ids=tuple(self._fetched), failed=self._failed)

    async def _fetch(self, entry: EntryToFetch) -> FetchContentResult:
        wanted = FetchContentInput(entry_id=entry.entry_id, policy=self._input.limits)
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

    def _report(self, **changes: object) -> None:
        self._progress.update(
            done=len(self._fetched) + self._failed,
            entries_fetched=len(self._fetched),
            entries_failed=self._failed,
            entry_progress=self._articles.copy(),
            **changes,
        )


# A person waits for the result.
INTERACTIVE = ActivityConfig(
    start_to_close_timeout=timedelta(seconds=60),
    schedule_to_close_timeout=timedelta(seconds=90),
    heartbeat_timeout=timedelta(seconds=20),
    retry_policy=RetryPolicy(maximum_attempts=2),
)


@workflow.defn
class PreviewFetchWorkflow:
    """Reads one page with rules that are not saved yet, and keeps the result for a while.

    Id `preview-…` with the person, who has one at a time; started by the page of a source, which waits for it. A page
    that cannot be read is a result too.
    """

    @workflow.query
    def get_progress(self) -> Progress:
        return Progress(title="Preview of a page", audience=NOBODY, routine=True)

    @workflow.run
    async def run(self, input: PreviewFetchInput) -> PreviewFetchOutput:
        wanted = FetchContentInput(
            url=input.url,
            rules=input.rules,
            preview_key=input.preview_key,
            person_id=input.person_id,
            policy=input.policy,
        )
        # Not behind the articles of all feeds, which fill the queue for heavy work.
        quick = ActivityConfig(**INTERACTIVE, task_queue=workflow.info().task_queue)
        result = await call(FetchActivities.fetch_single_content, wanted, quick)
        return PreviewFetchOutput(
            ok=result.fetched,
            preview_key=input.preview_key if result.fetched else "",
            title=result.title,
            words=result.words,
            error=result.reason,
        )
