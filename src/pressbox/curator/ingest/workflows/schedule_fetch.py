"""ScheduleFetchWorkflow: fetches articles from all hosts at once, and starts summaries as they arrive."""

import asyncio
from collections import defaultdict
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ChildWorkflowError, is_cancelled_exception
from temporalio.workflow import ChildWorkflowHandle

with workflow.unsafe.imports_passed_through():
    from pressbox.core.temporal.calls import call, failure_reason, start_detached
    from pressbox.curator.distil.contracts import (
        ContentDistillationInput,
        ContentDistillationOutput,
        distil_workflow_id,
    )
    from pressbox.curator.distil.workflow import ContentDistillationWorkflow
    from pressbox.curator.ingest.contracts import (
        ArrivedArticles,
        DomainFetchInput,
        EntryToFetch,
        FetchPageInput,
        FetchTally,
        ScheduleFetchInput,
        ScheduleFetchOutput,
        ScheduleFetchProgress,
        domain_workflow_id,
    )
    from pressbox.curator.ingest.page_activities import FetchPages
    from pressbox.curator.ingest.workflows.fetch import DomainFetchWorkflow
    from pressbox.curator.library.audiences import readers_of_feed
    from pressbox.curator.library.progress import ProgressReporter


@workflow.defn
class ScheduleFetchWorkflow:
    """Takes pages of articles that wait, whatever feed they are of, until none has its turn soon.

    Id `curator-fetch-{shard}`; started by `AllFeedsIngestionWorkflow`, as many as there are pages, and goes on when
    that run is over. With entries instead of a shard it fetches these, with a child for every host and summaries in
    batches meanwhile: that is how runs go on that began before rows were the queue.
    """

    @workflow.init
    def __init__(self, input: ScheduleFetchInput) -> None:
        self._input = input
        self._arrived: list[int] = []
        self._announced: set[int] = set()
        self._batches = 0
        self._last_batch_at: float | None = None
        self._fetched, self._failed = input.state.fetched, input.state.failed
        self._distilled = self._domains_done = 0
        self._counters: list[asyncio.Task[None]] = []
        self._by_domain: dict[str, list[EntryToFetch]] = defaultdict(list)
        for entry in input.entries:
            self._by_domain[entry.domain].append(entry)
        first = ScheduleFetchProgress(
            title=f"Articles of {input.feed_name}" if input.feed_name else "Articles",
            audience=readers_of_feed(input.feed_id),
            total=len(input.entries),
            total_entries=len(input.entries),
            total_domains=len(self._by_domain),
            skipped_count=input.skipped,
        )
        self._progress = ProgressReporter(first, input.parent_workflow_id)

    @workflow.query
    def get_progress(self) -> ScheduleFetchProgress:
        return self._progress.current

    @workflow.signal
    def articles_arrived(self, arrived: ArrivedArticles) -> None:
        fresh = [entry_id for entry_id in arrived.entry_ids if entry_id not in self._announced]
        self._announced.update(fresh)
        self._arrived += fresh
        self._progress.update(
            done=max(len(self._announced) + self._failed, self._progress.current.done),
            entries_fetched=len(self._announced),
        )

    @workflow.run
    async def run(self, input: ScheduleFetchInput) -> ScheduleFetchOutput:
        if input.shard is not None:
            return await self._fetch_pages(input.shard)
        fetching = asyncio.create_task(self._fetch_all())
        while not fetching.done():
            await workflow.wait_condition(lambda: fetching.done() or self._batch_is_ready())
            if self._batch_is_ready():
                await self._distil()
        await fetching
        while self._arrived:
            await self._distil()
        self._progress.complete(message="")
        return ScheduleFetchOutput(fetched=self._fetched, failed=self._failed, distilled=self._distilled)

    async def _fetch_pages(self, shard: int) -> ScheduleFetchOutput:
        wanted = FetchPageInput(
            from_feed=self._input.from_feed,
            limit=self._input.limits.entries_per_fetch,
            # One shard waits for hosts whose turn comes soon; the others would only wait beside it.
            lingers=shard == 0,
            policy=self._input.limits,
        )
        while True:
            page = await call(FetchPages.fetch_due_contents, wanted)
            self._fetched += page.fetched
            self._failed += page.failed
            done = self._fetched + self._failed
            self._progress.update(
                done=done,
                total=done + page.waiting,
                total_entries=done + page.waiting,
                entries_fetched=self._fetched,
                entries_failed=self._failed,
            )
            if not page.waiting or not (wanted.lingers or page.fetched or page.failed):
                break
            if workflow.info().is_continue_as_new_suggested():
                tally = FetchTally(fetched=self._fetched, failed=self._failed)
                workflow.continue_as_new(self._input.model_copy(update={"state": tally}))
        self._progress.complete(message="")
        return ScheduleFetchOutput(fetched=self._fetched, failed=self._failed)

    async def _fetch_all(self) -> None:
        await asyncio.gather(*(self._fetch(domain, entries) for domain, entries in self._by_domain.items()))

    async def _fetch(self, domain: str, entries: list[EntryToFetch]) -> None:
        own_id = workflow.info().workflow_id
        try:
            done = await workflow.execute_child_workflow(
                DomainFetchWorkflow.run,
                DomainFetchInput(
                    domain=domain,
                    entries=tuple(entries),
                    feed_id=self._input.feed_id,
                    auto_distill=self._input.auto_distill,
                    parent_workflow_id=own_id,
                    policy=self._input.limits,
                ),
                id=domain_workflow_id(own_id, domain),
            )
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            # The articles still wait, and the next run finds them.
            workflow.logger.warning("The articles of %s are left for the next run: %s", domain, failure_reason(error))
            self._failed += len(entries)
        else:
            self._fetched += len(done.fetched_ids)
            self._failed += done.failed
            if self._input.auto_distill:
                self.articles_arrived(ArrivedArticles(entry_ids=done.fetched_ids))
        self._domains_done += 1
        self._progress.update(
            done=self._fetched + self._failed,
            domains_completed=self._domains_done,
            entries_fetched=self._fetched,
            entries_failed=self._failed,
        )

    def _batch_is_ready(self) -> bool:
        if not self._arrived:
            return False
        policy = self._input.limits
        if len(self._arrived) >= policy.distil_batch or self._last_batch_at is None:
            return True
        # Without a timer: the next article that arrives checks again.
        return workflow.time() - self._last_batch_at >= policy.distil_pause.total_seconds()

    async def _distil(self) -> None:
        size = self._input.limits.distil_batch
        batch, self._arrived = self._arrived[:size], self._arrived[size:]
        self._batches += 1
        self._last_batch_at = workflow.time()
        own_id = workflow.info().workflow_id
        distillation = ContentDistillationInput(
            entry_ids=tuple(batch),
            feed_id=self._input.feed_id,
            feed_name=self._input.feed_name,
            parent_workflow_id=own_id,
            policy=self._input.limits,
        )
        # If a distillation of an earlier run still has this id, these entries are found by their state later.
        workflow_id = distil_workflow_id(own_id, self._batches)
        child = await start_detached(ContentDistillationWorkflow, distillation, workflow_id, ContentDistillationOutput)
        if child is not None:
            self._counters.append(asyncio.create_task(self._count(child)))

    async def _count(self, child: ChildWorkflowHandle[Any, ContentDistillationOutput]) -> None:
        """Count the summaries of a batch that ends while others are fetched; nobody waits for the rest."""
        try:
            done = await child
        except ChildWorkflowError as error:
            if is_cancelled_exception(error):
                raise
            return
        self._distilled += done.distilled
        self._progress.update(entries_distilled=self._distilled)
