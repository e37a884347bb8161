"""The named cases of the curator's workflows: each is played on fakes and gives the run whose history is kept."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowHandle
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.worker import Worker

from pressbox.core.contracts import Contract
from pressbox.core.errors import PermanentError, TransientError
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.cleanup.contracts import EntriesCleanupInput
from pressbox.curator.cleanup.workflow import EntriesCleanupWorkflow
from pressbox.curator.distil.contracts import ContentDistillationInput
from pressbox.curator.distil.workflow import ContentDistillationWorkflow
from pressbox.curator.ingest.contracts import (
    AllFeedsIngestionInput,
    EntryToFetch,
    PreviewFetchInput,
    ReprocessEntriesInput,
    ScheduleFetchInput,
    SingleFeedIngestionInput,
    domain_workflow_id,
    feed_workflow_id,
    fetch_workflow_id,
)
from pressbox.curator.ingest.workflows.all_feeds import AllFeedsIngestionWorkflow
from pressbox.curator.ingest.workflows.fetch import DomainFetchWorkflow, PreviewFetchWorkflow
from pressbox.curator.ingest.workflows.reprocess import ReprocessEntriesWorkflow
from pressbox.curator.ingest.workflows.schedule_fetch import ScheduleFetchWorkflow
from pressbox.curator.ingest.workflows.single_feed import SingleFeedIngestionWorkflow
from pressbox.curator.library.contracts import heavy_queue, index_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.library.urls import host_of
from pressbox.curator.manifest import APP
from pressbox.curator.search.contracts import EmbeddingBackfillInput, SearchPruneInput, SearchReindexInput
from pressbox.curator.search.workflows import EmbeddingBackfillWorkflow, SearchPruneWorkflow, SearchReindexWorkflow
from tests.fakes.curator import FakeFeed, FakeWorld
from tests.waiting import until

Handle = WorkflowHandle[Any, Any]
TWO_HOSTS = "recorded-two-hosts"
ONCE_MORE = "recorded-once-more"
POLICY = CuratorPolicy(
    host_delay=timedelta(0), feed_delay=timedelta(0), model_pause=timedelta(milliseconds=300), page_size=3
)


@dataclass(frozen=True)
class Play:
    client: Client
    queue: str
    world: FakeWorld

    async def start(self, workflow: type, input: Contract, workflow_id: str = "") -> Handle:
        return await self.client.start_workflow(
            workflow.__name__,
            input,
            id=workflow_id or f"recorded-{secrets.token_hex(4)}",
            task_queue=self.queue,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
        )

    async def ended(self, workflow: type, input: Contract, workflow_id: str = "") -> Handle:
        handle = await self.start(workflow, input, workflow_id)
        await handle.result()
        return handle

    async def ingest(self, feed: FakeFeed, *, fetch: bool = True) -> Handle:
        input = SingleFeedIngestionInput(feed_id=feed.feed_id, enable_content_fetch=fetch, policy=POLICY)
        return await self.ended(SingleFeedIngestionWorkflow, input, feed_workflow_id(feed.feed_id))

    async def all_done(self) -> None:
        await until(self.world.everything_is_done)


async def all_ingested(play: Play) -> Handle:
    """One page: a feed with news, one that fails, one without; and everything that can be left over."""
    play.world.feed("a.example.org", "b.example.org")
    play.world.feed()
    left = play.world.feed()
    left.due = False
    play.world.enter(left, "https://c.example.org/left")
    play.world.fetched(left, 2)
    play.world.entry_store.gone = [1]
    handle = await play.ended(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=POLICY))
    await play.all_done()
    return handle


async def all_outlived(play: Play) -> Handle:
    """Several shards of a crawl, and articles that take longer than the run waits for them."""
    play.world.feed("a.example.org")
    for _ in range(4):
        play.world.feed()
    play.world.pages.hold = asyncio.Event()
    policy = POLICY.model_copy(update={"page_patience": timedelta(milliseconds=300), "smallest_page": 2})
    handle = await play.ended(AllFeedsIngestionWorkflow, AllFeedsIngestionInput(policy=policy))
    play.world.pages.hold.set()
    await play.all_done()
    return handle


async def one_ingested(play: Play) -> Handle:
    handle = await play.ingest(play.world.feed(*["a.example.org"] * 3, "b.example.org", name="Example News"))
    await play.all_done()
    return handle


async def one_ingested_from_the_feed(play: Play) -> Handle:
    handle = await play.ingest(play.world.feed("a.example.org", "b.example.org"), fetch=False)
    await play.all_done()
    return handle


async def fetched(play: Play) -> Handle:
    feed = play.world.feed()
    urls = [f"https://a.example.org/{number}" for number in range(6)] + ["https://b.example.org/1"]
    entries = [play.world.enter(feed, url) for url in urls]
    wanted = tuple(
        EntryToFetch(entry_id=entry.entry_id, domain=host_of(entry.url), title=entry.title) for entry in entries
    )
    # The ids of its children are made from its own, which a replay takes from the name of the case.
    handle = await play.ended(ScheduleFetchWorkflow, ScheduleFetchInput(entries=wanted, policy=POLICY), TWO_HOSTS)
    await play.all_done()
    return handle


async def fetched_from_one_host(play: Play) -> Handle:
    """One page that is none, one that is slow to come, and one that arrives."""
    feed = play.world.feed()
    entries = [play.world.enter(feed, f"https://a.example.org/{number}") for number in range(3)]
    play.world.pages.broken["https://a.example.org/0"] = PermanentError("It is a PDF.")
    play.world.pages.broken["https://a.example.org/1"] = TransientError("It is busy.")
    wanted = tuple(EntryToFetch(entry_id=entry.entry_id, domain="a.example.org") for entry in entries)
    parent = fetch_workflow_id(feed.feed_id, 1)
    await play.ended(ScheduleFetchWorkflow, ScheduleFetchInput(entries=wanted, policy=POLICY), parent)
    return play.client.get_workflow_handle(domain_workflow_id(parent, "a.example.org"))


async def fetched_by_a_shard(play: Play) -> Handle:
    """Articles of two hosts, one of which cannot be had, whatever feed they are of."""
    for host in ("a.example.org", "b.example.org"):
        feed = play.world.feed()
        for number in range(3):
            play.world.enter(feed, f"https://{host}/{number}")
    play.world.pages.broken["https://a.example.org/1"] = PermanentError("It is a PDF.")
    return await play.ended(ScheduleFetchWorkflow, ScheduleFetchInput(shard=0, policy=POLICY))


async def distilled(play: Play) -> Handle:
    """Two batches, and an entry that the model has no answer for."""
    entries = play.world.fetched(play.world.feed(), 7)
    play.world.distiller.unusable = {entries[3].entry_id}
    return await play.ended(ContentDistillationWorkflow, ContentDistillationInput(policy=POLICY))


async def distilled_after_waiting(play: Play) -> Handle:
    play.world.fetched(play.world.feed(), 2)
    play.world.distiller.down = TransientError("The model does not answer.")
    handle = await play.start(ContentDistillationWorkflow, ContentDistillationInput(policy=POLICY))
    await asyncio.sleep(1)
    play.world.distiller.down = None
    await handle.result()
    return handle


async def reprocessed(play: Play) -> Handle:
    entries = play.world.fetched(play.world.feed(), 2)
    input = ReprocessEntriesInput(entry_ids=tuple(entry.entry_id for entry in entries), policy=POLICY)
    return await play.ended(ReprocessEntriesWorkflow, input, ONCE_MORE)


async def previewed(play: Play) -> Handle:
    input = PreviewFetchInput(url="https://a.example.org/1", preview_key="scratch/preview", policy=POLICY)
    return await play.ended(PreviewFetchWorkflow, input)


async def reindexed(play: Play) -> Handle:
    play.world.fetched(play.world.feed(), 5)
    return await play.ended(SearchReindexWorkflow, SearchReindexInput(batch_size=2))


async def reindexed_clean(play: Play) -> Handle:
    play.world.fetched(play.world.feed(), 1)
    return await play.ended(SearchReindexWorkflow, SearchReindexInput(clean=True))


async def pruned(play: Play) -> Handle:
    play.world.index.documents.update({1, 2, 3})
    return await play.ended(SearchPruneWorkflow, SearchPruneInput(batch_size=2))


async def cleaned_up(play: Play) -> Handle:
    play.world.entry_store.old = list(range(1, 700))
    return await play.ended(EntriesCleanupWorkflow, EntriesCleanupInput())


async def embedded(play: Play) -> Handle:
    play.world.fetched(play.world.feed(), 5)
    return await play.ended(EmbeddingBackfillWorkflow, EmbeddingBackfillInput(batch_size=2))


# Histories that are kept and cannot be recorded any more: how ingestion went before rows were the queue. They are
# `completed` and `continued-as-new` of AllFeedsIngestionWorkflow, `completed` and `from-the-feed` of
# SingleFeedIngestionWorkflow, `completed` and `waited-for-the-model` of ContentDistillationWorkflow.
CASES: tuple[tuple[type, str, Callable[[Play], Awaitable[Handle]]], ...] = (
    (AllFeedsIngestionWorkflow, "by-rows", all_ingested),
    (AllFeedsIngestionWorkflow, "by-rows-outlived", all_outlived),
    (SingleFeedIngestionWorkflow, "by-rows", one_ingested),
    (SingleFeedIngestionWorkflow, "by-rows-from-the-feed", one_ingested_from_the_feed),
    (ScheduleFetchWorkflow, "two-hosts", fetched),
    (ScheduleFetchWorkflow, "shard", fetched_by_a_shard),
    (DomainFetchWorkflow, "completed", fetched_from_one_host),
    (ContentDistillationWorkflow, "by-rows", distilled),
    (ContentDistillationWorkflow, "by-rows-waited-for-the-model", distilled_after_waiting),
    (ReprocessEntriesWorkflow, "once-more", reprocessed),
    (PreviewFetchWorkflow, "completed", previewed),
    (SearchReindexWorkflow, "completed", reindexed),
    (SearchReindexWorkflow, "clean", reindexed_clean),
    (SearchPruneWorkflow, "completed", pruned),
    (EntriesCleanupWorkflow, "completed", cleaned_up),
    (EmbeddingBackfillWorkflow, "completed", embedded),
)


@asynccontextmanager
async def playing(client: Client) -> AsyncIterator[Play]:
    """A fresh world, and workers on it."""
    async with working(client, FakeWorld(paid=True)) as play:
        yield play


@asynccontextmanager
async def working(client: Client, world: FakeWorld, heavy: Sequence[Callable[..., Any]] = ()) -> AsyncIterator[Play]:
    """Workers on a world, with more that is done on the heavy queue."""
    queue = f"record-{secrets.token_hex(4)}"
    async with AsyncExitStack() as workers:
        for name, activities, workflows in (
            (queue, world.plain_activities(), [workflow for group in APP.workflows().values() for workflow in group]),
            (heavy_queue(queue), [*world.heavy_activities(), *heavy], []),
            (index_queue(queue), world.index_activities(), []),
        ):
            await workers.enter_async_context(
                Worker(
                    client,
                    task_queue=name,
                    workflows=workflows,
                    activities=activities,
                    interceptors=[ErrorInterceptor()],
                )
            )
        yield Play(client, queue, world)
