"""SingleFeedIngestionWorkflow: ingests one feed, from the crawl to readable articles."""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ChildWorkflowHandle

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason, start_detached
    from pressbox.curator.distil.contracts import (
        ContentDistillationInput,
        ContentDistillationOutput,
        feed_distil_workflow_id,
    )
    from pressbox.curator.distil.workflow import ContentDistillationWorkflow
    from pressbox.curator.ingest.activities import CrawlActivities
    from pressbox.curator.ingest.contracts import (
        CrawlFeedInput,
        FetchPageInput,
        SingleFeedIngestionInput,
        SingleFeedIngestionOutput,
        SingleFeedIngestionProgress,
    )
    from pressbox.curator.ingest.page_activities import FetchPages
    from pressbox.curator.ingest.workflows.entry_run import EntryChain, EntryRun
    from pressbox.curator.library.audiences import readers_of_feed
    from pressbox.curator.library.contracts import ROWS_ARE_THE_QUEUE


@workflow.defn
class SingleFeedIngestionWorkflow:
    """Crawls a feed unless it was just crawled, fetches every article that waits for it, and starts their summaries.

    Id `ingest-feed-{feed_id}`, so that no two runs work on the same feed; started by hand, or by whoever adds a feed.
    A feed that cannot be read does not fail the run; its reason and the next try are kept with the feed. Articles are
    rows that wait, so those that an earlier run left are included, and shards that run meanwhile share the work.
    """

    @workflow.init
    def __init__(self, input: SingleFeedIngestionInput) -> None:
        self._run = EntryRun(input)
        self._counting: asyncio.Task[None] | None = None

    @workflow.query
    def get_progress(self) -> SingleFeedIngestionProgress:
        return self._run.progress.current

    @workflow.run
    async def run(self, input: SingleFeedIngestionInput) -> SingleFeedIngestionOutput:
        feed_id, reason = await self._crawl()
        if workflow.patched(ROWS_ARE_THE_QUEUE):
            await self._work_on_rows(feed_id)
        else:
            await EntryChain(self._run).run(feed_id)
        return self._run.complete(feed_id, reason)

    async def _crawl(self) -> tuple[int, str]:
        """Return the feed, which may have been merged into another one, and why it could not be read."""
        run = self._run
        if run.input.crawled:
            return run.input.feed_id, ""
        run.report(current_step="crawl")
        wanted = CrawlFeedInput(feed_id=run.input.feed_id, policy=run.input.policy)
        crawled = await call(CrawlActivities.crawl_single_feed, wanted)
        run.created = crawled.created
        run.report(
            feed_name=crawled.feed_name,
            title=crawled.feed_name or run.progress.current.title,
            audience=readers_of_feed(crawled.feed_id),
        )
        return crawled.feed_id, crawled.reason

    async def _work_on_rows(self, feed_id: int) -> None:
        run = self._run
        found = await run.select(feed_id)
        total = len(found.entries)
        run.report(current_step="fetch", total=total, total_entries=total)
        if run.input.auto_distill:
            await self._start_summaries(feed_id)
        wanted = FetchPageInput(
            feed_id=feed_id,
            from_feed=not run.input.enable_content_fetch,
            limit=run.input.policy.entries_per_fetch,
            policy=run.input.policy,
        )
        while total:
            try:
                page = await call(FetchPages.fetch_due_contents, wanted)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                # The articles still wait, and the next run finds them.
                workflow.logger.warning("The articles of feed %s wait: %s", feed_id, failure_reason(error))
                break
            run.fetched += page.fetched
            run.failed += page.failed
            total = max(total, run.fetched + run.failed + page.waiting)
            run.report(total=total, total_entries=total)
            if not page.waiting:
                break

    async def _start_summaries(self, feed_id: int) -> None:
        """Start summaries beside the fetching: they take every text as it arrives, and nobody waits for the last."""
        distillation = ContentDistillationInput(
            feed_id=feed_id,
            feed_name=self._run.progress.current.feed_name,
            lingers=True,
            parent_workflow_id=workflow.info().workflow_id,
            policy=self._run.input.policy,
        )
        workflow_id = feed_distil_workflow_id(feed_id)
        child = await start_detached(ContentDistillationWorkflow, distillation, workflow_id, ContentDistillationOutput)
        if child is not None:
            self._counting = asyncio.create_task(self._count(child))

    async def _count(self, child: ChildWorkflowHandle[Any, ContentDistillationOutput]) -> None:
        try:
            self._run.distilled += (await child).distilled
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            return
        self._run.report()
