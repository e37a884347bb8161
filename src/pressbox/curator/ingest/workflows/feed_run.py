"""What a run over all feeds counts and shows, and how those go on that began before rows were the queue."""

import asyncio
import math
from collections.abc import Sequence

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, WorkflowAlreadyStartedError, is_cancelled_exception
from temporalio.workflow import ParentClosePolicy

from pressbox.core.audiences.contracts import EVERYONE
from pressbox.core.temporal.calls import call, call_locally, failure_reason, start_detached
from pressbox.curator.distil.activities import SettingsActivities
from pressbox.curator.distil.contracts import DISTIL_LEFTOVERS_WORKFLOW, ContentDistillationInput
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.ingest.activities import CrawlActivities, LeftoverActivities
from pressbox.curator.ingest.contracts import (
    AllFeedsIngestionInput,
    AllFeedsIngestionOutput,
    AllFeedsIngestionProgress,
    FeedPage,
    Leftovers,
    LeftoversInput,
    ListFeedsInput,
    ProbeFeedsInput,
    ProbeFeedsResult,
    SingleFeedIngestionInput,
    feed_workflow_id,
)
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.progress import ProgressReporter
from pressbox.curator.search.contracts import EMBEDDING_WORKFLOW, EmbeddingBackfillInput
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, catch_up


class FeedRun:
    def __init__(self, input: AllFeedsIngestionInput) -> None:
        self.input = input
        self.policy = input.limits
        began_at = input.state.began_at or workflow.info().start_time
        self.state = input.state.model_copy(update={"began_at": began_at})
        first = AllFeedsIngestionProgress(
            title="All sources", audience=EVERYONE, routine=input.routine and not input.state.pages
        )
        self.progress = ProgressReporter(first)

    def count(self, **changes: int) -> None:
        self.state = self.state.model_copy(update=changes)
        self.report()

    def add(self, **changes: int) -> None:
        self.count(**{name: getattr(self.state, name) + change for name, change in changes.items()})

    def report(self, **changes: object) -> None:
        state = self.state
        pages = max(math.ceil(state.feeds_total / self.policy.page_size), state.pages)
        self.progress.update(
            done=state.feeds_completed,
            # Feeds with leftovers come in addition to those that were due.
            total=max(state.feeds_total, state.feeds_completed),
            feeds_total=state.feeds_total,
            feeds_completed=state.feeds_completed,
            feeds_failed=state.feeds_failed,
            current_batch=state.pages,
            total_batches=pages,
            entries_created=state.entries_created,
            contents_fetched=state.contents_fetched,
            entries_distilled=state.entries_distilled,
            **changes,
        )

    def complete(self) -> AllFeedsIngestionOutput:
        self.progress.complete(message="")
        state = self.state
        return AllFeedsIngestionOutput(
            feeds=state.feeds_completed, feeds_failed=state.feeds_failed, entries_created=state.entries_created
        )


class FeedChain:
    """Each page of feeds is crawled, and its feeds are ingested, before the next page begins."""

    def __init__(self, run: FeedRun) -> None:
        self._run = run
        self._input = run.input
        self._policy = run.policy
        self._started = 0

    async def run(self) -> AllFeedsIngestionOutput:
        if self._input.auto_distill:
            settings = await call_locally(SettingsActivities.get_app_settings)
            self._policy = self._input.policy.model_copy(update={"target_language": settings.target_language})
        page = await self._list_feeds()
        # Before anything new begins, so that what is found was left by an earlier run.
        left = Leftovers() if page.more else await self._find_leftovers(page)
        with_work = await self._probe(page)
        await self._ingest((*with_work, *left.feed_ids))
        if page.more:
            state = self._run.state.model_copy(update={"after_feed_id": page.feed_ids[-1]})
            workflow.continue_as_new(self._input.model_copy(update={"state": state}))
        await self._finish(left)
        return self._run.complete()

    async def _list_feeds(self) -> FeedPage:
        wanted = ListFeedsInput(
            after_feed_id=self._run.state.after_feed_id,
            limit=self._policy.page_size,
            due_at=self._run.state.began_at,
            only_due=self._input.only_due,
        )
        page = await call(CrawlActivities.list_feeds, wanted)
        total = self._run.state.feeds_total if self._run.state.pages else page.total
        self._run.count(pages=self._run.state.pages + 1, feeds_total=max(total, self._run.state.feeds_completed))
        return page

    async def _find_leftovers(self, page: FeedPage) -> Leftovers:
        wanted = LeftoversInput(limit=self._policy.page_size, without=page.feed_ids, policy=self._policy)
        return await call(LeftoverActivities.get_leftovers, wanted)

    async def _probe(self, page: FeedPage) -> Sequence[int]:
        if not page.feed_ids:
            return ()
        self._run.report(current_step="probe", message=f"Asking {len(page.feed_ids)} sources")
        wanted = ProbeFeedsInput(feed_ids=page.feed_ids, policy=self._policy)
        try:
            probed = await call(CrawlActivities.probe_feeds, wanted)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            # The feeds stay due, and the next page is not to blame.
            workflow.logger.warning("A page of feeds is left for the next run: %s", failure_reason(error))
            probed = ProbeFeedsResult(failed=len(page.feed_ids))
        # Feeds with news are complete when their own workflow is.
        self._run.count(
            feeds_completed=self._run.state.feeds_completed + max(len(page.feed_ids) - len(probed.with_work), 0),
            feeds_failed=self._run.state.feeds_failed + probed.failed,
            entries_created=self._run.state.entries_created + probed.created,
        )
        return probed.with_work

    async def _ingest(self, feed_ids: Sequence[int]) -> None:
        if not feed_ids:
            return
        self._run.report(routine=False, current_step="ingest", message="")
        window = asyncio.Semaphore(self._policy.feeds_at_once)
        feeds = [asyncio.create_task(self._ingest_one(feed_id, window)) for feed_id in feed_ids]
        await workflow.wait_condition(lambda: self._started == len(feeds))
        done, _ = await workflow.wait(feeds, timeout=self._policy.page_patience.total_seconds())
        for feed in done:
            # Only a cancellation is raised here.
            await feed

    async def _ingest_one(self, feed_id: int, window: asyncio.Semaphore) -> None:
        async with window:
            self._started += 1
            try:
                done = await workflow.execute_child_workflow(
                    SingleFeedIngestionWorkflow.run,
                    SingleFeedIngestionInput(
                        feed_id=feed_id,
                        enable_content_fetch=self._input.enable_content_fetch,
                        auto_distill=self._input.auto_distill,
                        crawled=True,
                        parent_workflow_id=workflow.info().workflow_id,
                        policy=self._policy,
                    ),
                    id=feed_workflow_id(feed_id),
                    parent_close_policy=ParentClosePolicy.ABANDON,
                )
            except WorkflowAlreadyStartedError:
                # It was started by hand, or takes longer than the time between two runs.
                self._run.count(feeds_completed=self._run.state.feeds_completed + 1)
            except ChildWorkflowError as error:
                if is_cancelled_exception(error):
                    raise
                workflow.logger.warning("Feed %s is left for the next run: %s", feed_id, failure_reason(error))
                self._run.count(
                    feeds_completed=self._run.state.feeds_completed + 1, feeds_failed=self._run.state.feeds_failed + 1
                )
            else:
                self._run.count(
                    feeds_completed=self._run.state.feeds_completed + 1,
                    contents_fetched=self._run.state.contents_fetched + done.contents_fetched,
                    entries_distilled=self._run.state.entries_distilled + done.entries_distilled,
                )

    async def _finish(self, left: Leftovers) -> None:
        if left.undistilled and self._input.auto_distill:
            waiting = ContentDistillationInput(policy=self._policy)
            await start_detached(ContentDistillationWorkflow, waiting, DISTIL_LEFTOVERS_WORKFLOW)
        if left.unindexed:
            await catch_up(self._policy.index_batch)
        if left.unembedded:
            backfill = EmbeddingBackfillInput(batch_size=self._policy.embedding_batch, routine=True)
            await start_detached(EmbeddingBackfillWorkflow, backfill, EMBEDDING_WORKFLOW)
