"""AllFeedsIngestionWorkflow: crawls every feed that is due, and sees that what waits is worked on."""

import asyncio
import math
from datetime import datetime
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ChildWorkflowHandle

with workflow.unsafe.imports_passed_through():
    from pressbox.core.contracts import Contract
    from pressbox.core.temporal.calls import call, failure_reason, start_detached
    from pressbox.curator.distil.contracts import ContentDistillationInput, ContentDistillationOutput, distil_shard_id
    from pressbox.curator.distil.workflow import ContentDistillationWorkflow
    from pressbox.curator.ingest.activities import LeftoverActivities
    from pressbox.curator.ingest.contracts import (
        AllFeedsIngestionInput,
        AllFeedsIngestionOutput,
        AllFeedsIngestionProgress,
        CrawlPageInput,
        DueWork,
        DueWorkInput,
        ScheduleFetchInput,
        ScheduleFetchOutput,
        fetch_shard_id,
    )
    from pressbox.curator.ingest.domain import count_shards
    from pressbox.curator.ingest.page_activities import CrawlPages
    from pressbox.curator.ingest.workflows.feed_run import FeedChain, FeedRun
    from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
    from pressbox.curator.library.contracts import ROWS_ARE_THE_QUEUE
    from pressbox.curator.search.contracts import EMBEDDING_WORKFLOW, EmbeddingBackfillInput
    from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, catch_up

MOST_FAILURES = 3


@workflow.defn
class AllFeedsIngestionWorkflow:
    """Crawls the feeds that are due in several shards at once, and starts the shards that fetch and summarise.

    Id `curator-ingest-…`; started by the schedule `curator-ingest`, or by hand. A shard takes pages of whatever feeds
    are due, so that all workers share one crawl; a feed costs no workflow. Articles become rows that wait: the shards
    of `ScheduleFetchWorkflow` and `ContentDistillationWorkflow` take them from there, and go on when this run is over.
    """

    @workflow.init
    def __init__(self, input: AllFeedsIngestionInput) -> None:
        self._run = FeedRun(input)
        self._fetching = self._distilling = 0
        self._counters: list[asyncio.Task[None]] = []

    @workflow.query
    def get_progress(self) -> AllFeedsIngestionProgress:
        return self._run.progress.current

    @workflow.run
    async def run(self, input: AllFeedsIngestionInput) -> AllFeedsIngestionOutput:
        if not workflow.patched(ROWS_ARE_THE_QUEUE):
            return await FeedChain(self._run).run()
        run = self._run
        first = run.state.pages == 0
        wanted = DueWorkInput(only_due=input.only_due or not first, policy=run.policy)
        due = await call(LeftoverActivities.find_due_work, wanted)
        if due.feeds:
            run.count(feeds_total=run.state.feeds_completed + due.feeds)
            run.report(current_step="probe", message=f"Asking {due.feeds} sources")
        if due.to_fetch or due.to_distil:
            await self._work_on(due.to_fetch, due.to_fetch + due.to_distil)
        await self._crawl_all(due)
        if workflow.info().is_continue_as_new_suggested():
            workflow.continue_as_new(input.model_copy(update={"state": run.state}))
        await self._finish(due)
        return run.complete()

    async def _crawl_all(self, due: DueWork) -> None:
        policy = self._run.policy
        shards = count_shards(due.feeds, policy.smallest_page, policy.feeds_at_once)
        limit = min(policy.page_size, math.ceil(due.feeds / max(shards, 1)))
        # What becomes due meanwhile is for the next run: with short intervals this one would never end.
        enough = self._run.state.feeds_completed + due.feeds
        await asyncio.gather(*(self._crawl(shard, limit, enough) for shard in range(shards)))

    async def _crawl(self, shard: int, limit: int, enough: int) -> None:
        # One shard waits for feeds whose turn comes soon; the others would only wait beside it.
        wanted = CrawlPageInput(
            limit=limit, shard=shard, lingers=shard == 0, until=self._linger_until(), policy=self._run.policy
        )
        failures = 0
        while failures < MOST_FAILURES:
            try:
                page = await call(CrawlPages.crawl_due_feeds, wanted)
            except ActivityError as error:
                if is_cancelled_exception(error):
                    raise
                # Its feeds stay due, and are left alone while they are leased: the next page is not to blame.
                workflow.logger.warning("A page of feeds is left for the next run: %s", failure_reason(error))
                failures += 1
                # Under another name, which does not take over what this one had.
                wanted = wanted.model_copy(update={"shard": wanted.shard + self._run.policy.feeds_at_once})
                self._run.add(feeds_failed=limit)
                continue
            self._count(page.crawled, page.failed, page.created)
            if page.created or page.updated:
                await self._work_on(page.created + page.updated, page.created + page.updated)
            wanted = wanted.model_copy(update={"turns_until": page.turns_until})
            if not page.waiting or not (page.crawled or wanted.lingers or page.turns_until):
                return
            if self._run.state.feeds_completed >= enough and not page.turns_until:
                return

    def _linger_until(self) -> datetime | None:
        """Return until when feeds are waited for whose host gives them turns one after another; people do not wait."""
        run = self._run
        return workflow.info().start_time + run.policy.linger if run.input.routine else None

    def _count(self, crawled: int, failed: int, created: int) -> None:
        run = self._run
        completed = run.state.feeds_completed + crawled
        pages = math.ceil(completed / run.policy.page_size)
        total = max(run.state.feeds_total, completed)
        run.count(pages=max(pages, run.state.pages), feeds_completed=completed, feeds_total=total)
        run.add(feeds_failed=failed, entries_created=created)

    async def _work_on(self, to_fetch: int, to_distil: int) -> None:
        """Start as many shards as there is work for; those that run already find it themselves."""
        run, policy = self._run, self._run.policy
        run.report(routine=False, current_step="ingest", message="")
        own_id = workflow.info().workflow_id
        wanted = count_shards(to_fetch, policy.entries_per_fetch, policy.feeds_at_once)
        for shard in range(self._fetching, wanted):
            fetch = ScheduleFetchInput(
                shard=shard,
                from_feed=not run.input.enable_content_fetch,
                auto_distill=run.input.auto_distill,
                parent_workflow_id=own_id,
                policy=policy,
            )
            await self._start(ScheduleFetchWorkflow, fetch, fetch_shard_id(shard), ScheduleFetchOutput)
        self._fetching = max(self._fetching, wanted)
        wanted = count_shards(to_distil, policy.distil_page, policy.feeds_at_once) if run.input.auto_distill else 0
        for shard in range(self._distilling, wanted):
            distil = ContentDistillationInput(lingers=shard == 0, parent_workflow_id=own_id, policy=policy)
            await self._start(ContentDistillationWorkflow, distil, distil_shard_id(shard), ContentDistillationOutput)
        self._distilling = max(self._distilling, wanted)

    async def _start(self, kind: type, input: Contract, workflow_id: str, result_type: type[Contract]) -> None:
        child = await start_detached(kind, input, workflow_id, result_type)
        if child is not None:
            self._counters.append(asyncio.create_task(self._add_up(child)))

    async def _add_up(self, child: ChildWorkflowHandle[Any, Any]) -> None:
        """Count what a shard did, if it ends while this run lasts."""
        try:
            done = await child
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            workflow.logger.warning("A shard ended early; what it left waits: %s", failure_reason(error))
            return
        if isinstance(done, ScheduleFetchOutput):
            self._run.add(contents_fetched=done.fetched)
        else:
            self._run.add(entries_distilled=done.distilled)

    async def _finish(self, due: DueWork) -> None:
        policy = self._run.policy
        if self._counters:
            # For people who watch, and no longer than that: shards go on by themselves.
            done, _ = await workflow.wait(self._counters, timeout=policy.page_patience.total_seconds())
            for counted in done:
                # Only a cancellation is raised here.
                await counted
        if due.unindexed:
            await catch_up(policy.index_batch)
        if due.unembedded:
            backfill = EmbeddingBackfillInput(batch_size=policy.embedding_batch, routine=True)
            await start_detached(EmbeddingBackfillWorkflow, backfill, EMBEDDING_WORKFLOW)
