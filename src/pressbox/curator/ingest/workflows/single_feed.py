"""SingleFeedIngestionWorkflow: ingests one feed, from the crawl to readable articles."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason, start_detached
    from pressbox.curator.distil.activities import DistilActivities
    from pressbox.curator.distil.contracts import (
        ContentDistillationInput,
        SelectForDistillationInput,
        feed_distil_workflow_id,
    )
    from pressbox.curator.distil.workflow import PAGE, ContentDistillationWorkflow
    from pressbox.curator.ingest.activities import CrawlActivities, FetchActivities
    from pressbox.curator.ingest.contracts import (
        CrawlFeedInput,
        EntriesToFetch,
        EntryToFetch,
        FeedReference,
        FetchContentInput,
        ScheduleFetchInput,
        SingleFeedIngestionInput,
        SingleFeedIngestionOutput,
        SingleFeedIngestionProgress,
        fetch_workflow_id,
    )
    from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
    from pressbox.curator.library.domain.audiences import readers_of_feed
    from pressbox.curator.library.progress import ProgressReporter

PROCESSED_TOGETHER = 4


@workflow.defn
class SingleFeedIngestionWorkflow:
    """Crawls a feed unless its parent just did, fetches every article that waits for it, and starts their summaries.

    Id `ingest-feed-{feed_id}`, so that no two runs work on the same feed: child of `AllFeedsIngestionWorkflow`, or
    started by hand. A feed that cannot be read does not fail the run; its reason and the next try are kept with the
    feed. Articles are chosen by state, so those that an earlier run left are included.
    """

    @workflow.init
    def __init__(self, input: SingleFeedIngestionInput) -> None:
        self._input = input
        self._seen: set[int] = set()
        self._fetched = self._distilled = self._failed = self._created = 0
        first = SingleFeedIngestionProgress(
            title=f"Feed {input.feed_id}", audience=readers_of_feed(input.feed_id), feed_id=input.feed_id, total=0
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> SingleFeedIngestionProgress:
        return self._progress.current

    @workflow.run
    async def run(self, input: SingleFeedIngestionInput) -> SingleFeedIngestionOutput:
        feed_id, reason = await self._crawl()
        found = await self._select(feed_id)
        round = 1
        while fresh := [entry for entry in found.entries if entry.entry_id not in self._seen]:
            self._seen.update(entry.entry_id for entry in fresh)
            self._report(current_step="fetch", total=len(self._seen), total_entries=len(self._seen))
            await (self._fetch(feed_id, fresh, round) if input.enable_content_fetch else self._process(fresh))
            self._report()
            if not found.more:
                break
            found, round = await self._select(feed_id), round + 1
        if input.auto_distill:
            await self._distil_feed_texts(feed_id)
        self._progress.complete(message=reason)
        return SingleFeedIngestionOutput(
            feed_id=feed_id,
            entries_created=self._created,
            contents_fetched=self._fetched,
            entries_distilled=self._distilled,
            failed=self._failed,
        )

    async def _crawl(self) -> tuple[int, str]:
        """Return the feed, which may have been merged into another one, and why it could not be read."""
        if self._input.crawled:
            return self._input.feed_id, ""
        self._report(current_step="crawl")
        wanted = CrawlFeedInput(feed_id=self._input.feed_id, policy=self._input.policy)
        crawled = await call(CrawlActivities.crawl_single_feed, wanted)
        self._created = crawled.created
        self._report(
            feed_name=crawled.feed_name,
            title=crawled.feed_name or self._progress.current.title,
            audience=readers_of_feed(crawled.feed_id),
        )
        return crawled.feed_id, crawled.reason

    async def _select(self, feed_id: int) -> EntriesToFetch:
        wanted = FeedReference(feed_id=feed_id, policy=self._input.policy)
        found = await call(CrawlActivities.get_entries_to_fetch, wanted)
        name = found.feed_name or self._progress.current.feed_name
        self._report(feed_name=name, title=name or self._progress.current.title, skipped_count=found.skipped)
        return found

    async def _fetch(self, feed_id: int, entries: list[EntryToFetch], round: int) -> None:
        try:
            done = await workflow.execute_child_workflow(
                ScheduleFetchWorkflow.run,
                ScheduleFetchInput(
                    entries=tuple(entries),
                    feed_id=feed_id,
                    feed_name=self._progress.current.feed_name,
                    skipped=self._progress.current.skipped_count,
                    auto_distill=self._input.auto_distill,
                    parent_workflow_id=workflow.info().workflow_id,
                    policy=self._input.policy,
                ),
                id=fetch_workflow_id(feed_id, round),
            )
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            # The articles still wait, and the next run finds them.
            workflow.logger.warning("The articles of feed %s wait: %s", feed_id, failure_reason(error))
            self._failed += len(entries)
            return
        self._fetched += done.fetched
        self._distilled += done.distilled
        self._failed += done.failed

    async def _process(self, entries: list[EntryToFetch]) -> None:
        """Make articles of what the feed itself holds, without fetching."""
        for begin in range(0, len(entries), PROCESSED_TOGETHER):
            await asyncio.gather(*(self._process_one(entry) for entry in entries[begin : begin + PROCESSED_TOGETHER]))
            self._report()

    async def _process_one(self, entry: EntryToFetch) -> None:
        wanted = FetchContentInput(entry_id=entry.entry_id, from_feed=True, policy=self._input.policy)
        try:
            fetched = (await call(FetchActivities.fetch_single_content, wanted)).fetched
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            fetched = False
        self._fetched += fetched
        self._failed += not fetched

    async def _distil_feed_texts(self, feed_id: int) -> None:
        """Start summaries of what the feed holds in full; fetched articles are in their batches already."""
        wanted = SelectForDistillationInput(feed_id=feed_id, limit=PAGE)
        waiting = await call(DistilActivities.get_entries_for_distillation, wanted)
        own = self._input.enable_content_fetch
        entry_ids = [entry.entry_id for entry in waiting.entries if not own or entry.entry_id not in self._seen]
        if not entry_ids:
            return
        total = len(self._seen | set(entry_ids))
        self._report(current_step="distil", total=total, total_entries=total)
        distillation = ContentDistillationInput(
            entry_ids=tuple(entry_ids),
            feed_id=feed_id,
            feed_name=self._progress.current.feed_name,
            parent_workflow_id=workflow.info().workflow_id,
            policy=self._input.policy,
        )
        await start_detached(ContentDistillationWorkflow, distillation, feed_distil_workflow_id(feed_id))

    def _report(self, **changes: object) -> None:
        self._progress.update(
            done=self._fetched + self._failed,
            contents_fetched=self._fetched,
            entries_distilled=self._distilled,
            entries_created=self._created,
            **changes,
        )
