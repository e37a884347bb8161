"""What a run over one feed counts and shows, and how those go on that began before rows were the queue."""

import asyncio

from temporalio import workflow
from temporalio.exceptions import ActivityError, ChildWorkflowError, is_cancelled_exception

from pressbox.core.temporal.calls import call, failure_reason, start_detached
from pressbox.curator.distil.activities import DistilActivities
from pressbox.curator.distil.contracts import (
    DISTIL_PAGE,
    ContentDistillationInput,
    SelectForDistillationInput,
    feed_distil_workflow_id,
)
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.ingest.activities import CrawlActivities, FetchActivities
from pressbox.curator.ingest.contracts import (
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
from pressbox.curator.library.audiences import readers_of_feed
from pressbox.curator.library.progress import ProgressReporter


class EntryRun:
    def __init__(self, input: SingleFeedIngestionInput) -> None:
        self.input = input
        self.fetched = self.distilled = self.failed = self.created = 0
        first = SingleFeedIngestionProgress(
            title=input.feed_name or f"Feed {input.feed_id}",
            audience=readers_of_feed(input.feed_id),
            feed_id=input.feed_id,
            feed_name=input.feed_name,
            total=0,
        )
        self.progress = ProgressReporter(first, input.parent_workflow_id)

    async def select(self, feed_id: int) -> EntriesToFetch:
        """Look which articles wait, and what the feed is called."""
        wanted = FeedReference(feed_id=feed_id, policy=self.input.policy)
        found = await call(CrawlActivities.get_entries_to_fetch, wanted)
        name = found.feed_name or self.progress.current.feed_name
        self.report(feed_name=name, title=name or self.progress.current.title, skipped_count=found.skipped)
        return found

    def report(self, **changes: object) -> None:
        self.progress.update(
            done=self.fetched + self.failed,
            contents_fetched=self.fetched,
            entries_distilled=self.distilled,
            entries_created=self.created,
            **changes,
        )

    def complete(self, feed_id: int, reason: str) -> SingleFeedIngestionOutput:
        self.progress.complete(message=reason)
        return SingleFeedIngestionOutput(
            feed_id=feed_id,
            entries_created=self.created,
            contents_fetched=self.fetched,
            entries_distilled=self.distilled,
            failed=self.failed,
        )


PROCESSED_TOGETHER = 4


class EntryChain:
    """Articles are fetched in rounds, by children; what the feed holds in full is summarised at the end."""

    def __init__(self, run: EntryRun) -> None:
        self._run = run
        self._input = run.input
        self._seen: set[int] = set()

    async def run(self, feed_id: int) -> None:
        found = await self._run.select(feed_id)
        round = 1
        while fresh := [entry for entry in found.entries if entry.entry_id not in self._seen]:
            self._seen.update(entry.entry_id for entry in fresh)
            self._run.report(current_step="fetch", total=len(self._seen), total_entries=len(self._seen))
            await (self._fetch(feed_id, fresh, round) if self._input.enable_content_fetch else self._process(fresh))
            self._run.report()
            if not found.more:
                break
            found, round = await self._run.select(feed_id), round + 1
        if self._input.auto_distill:
            await self._distil_feed_texts(feed_id)

    async def _fetch(self, feed_id: int, entries: list[EntryToFetch], round: int) -> None:
        try:
            done = await workflow.execute_child_workflow(
                ScheduleFetchWorkflow.run,
                ScheduleFetchInput(
                    entries=tuple(entries),
                    feed_id=feed_id,
                    feed_name=self._run.progress.current.feed_name,
                    skipped=self._run.progress.current.skipped_count,
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
            self._run.failed += len(entries)
            return
        self._run.fetched += done.fetched
        self._run.distilled += done.distilled
        self._run.failed += done.failed

    async def _process(self, entries: list[EntryToFetch]) -> None:
        """Make articles of what the feed itself holds, without fetching."""
        for begin in range(0, len(entries), PROCESSED_TOGETHER):
            await asyncio.gather(*(self._process_one(entry) for entry in entries[begin : begin + PROCESSED_TOGETHER]))
            self._run.report()

    async def _process_one(self, entry: EntryToFetch) -> None:
        wanted = FetchContentInput(entry_id=entry.entry_id, from_feed=True, policy=self._input.policy)
        try:
            fetched = (await call(FetchActivities.fetch_single_content, wanted)).fetched
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            fetched = False
        self._run.fetched += fetched
        self._run.failed += not fetched

    async def _distil_feed_texts(self, feed_id: int) -> None:
        """Start summaries of what the feed holds in full; fetched articles are in their batches already."""
        wanted = SelectForDistillationInput(feed_id=feed_id, limit=DISTIL_PAGE)
        waiting = await call(DistilActivities.get_entries_for_distillation, wanted)
        own = self._input.enable_content_fetch
        entry_ids = [entry.entry_id for entry in waiting.entries if not own or entry.entry_id not in self._seen]
        if not entry_ids:
            return
        total = len(self._seen | set(entry_ids))
        self._run.report(current_step="distil", total=total, total_entries=total)
        distillation = ContentDistillationInput(
            entry_ids=tuple(entry_ids),
            feed_id=feed_id,
            feed_name=self._run.progress.current.feed_name,
            parent_workflow_id=workflow.info().workflow_id,
            policy=self._input.policy,
        )
        await start_detached(ContentDistillationWorkflow, distillation, feed_distil_workflow_id(feed_id))
