"""Crawls feeds and fetches articles: which feeds are due, what they say, and the full text of their entries."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat, ResumableHeartbeat
from pressbox.core.temporal.options import BOUNDED, LONG, QUICK
from pressbox.curator.distil.activities import DistilQueue, DistilScope, DistilStore
from pressbox.curator.ingest.contracts import (
    CrawlFeedInput,
    CrawlFeedResult,
    CrawlsBegun,
    DueWork,
    DueWorkInput,
    EntriesToFetch,
    EntryToFetch,
    FeedPage,
    FeedReference,
    FetchContentInput,
    FetchContentResult,
    FetchContentsInput,
    FetchContentsResult,
    FetchCursor,
    Leftovers,
    LeftoversInput,
    ListFeedsInput,
    ProbeFeedsInput,
    ProbeFeedsResult,
    ReopenInput,
)
from pressbox.curator.ingest.fetcher import (
    SET_ASIDE,
    UNSTORABLE,
    ArticleFetcher,
    FeedProber,
    FetchFailure,
    HostRateLimiter,
)
from pressbox.curator.ingest.ports import Crawler, CrawlQueue, Feeds, FetchQueue, FetchScope, FetchStore
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, ExtractionRule
from pressbox.curator.library.leases import current_lease
from pressbox.curator.library.urls import host_of
from pressbox.curator.search.ports import EmbeddingStore, IndexStore
from pressbox.curator.text.plain_text import shorten

LONGEST_REASON = 500
# A feed that was begun so often and never ended kills whoever reads it.
MOST_DEATHS = 2


class CrawlActivities:
    def __init__(
        self,
        feeds: Feeds,
        entries: FetchStore,
        crawler: Crawler,
        rate_limiter: HostRateLimiter,
        now: Clock = utc_now,
    ) -> None:
        self._feeds = feeds
        self._entries = entries
        self._prober = FeedProber(feeds, crawler, rate_limiter, now)
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def list_feeds(self, input: ListFeedsInput) -> FeedPage:
        return await self._feeds.list_due(input.after_feed_id, input.limit, input.due_at or self._now(), input.only_due)

    @activity.defn
    @call_with(LONG)
    async def probe_feeds(self, input: ProbeFeedsInput) -> ProbeFeedsResult:
        """Ask for every feed of a page by a conditional request; store unchanged ones together.

        After a crash it asks again: what was stored answers "not modified".
        """
        feeds = await self._feeds.load_to_crawl(input.feed_ids)
        async with Heartbeat():
            stored = (await self._prober.probe(feeds, input.policy)).stored
            # Older summaries that wait for a model are not started again by every crawl, but with the leftovers.
            waiting = await self._feeds.find_with_work(input.feed_ids, self._now(), distil=False)
            # The id of a feed that was merged into another one is that of the other.
            news = (feed.feed_id for feed in stored if feed.created or feed.updated)
        return ProbeFeedsResult(
            with_work=tuple(dict.fromkeys((*waiting, *news))),
            unchanged=len(feeds) - sum(feed.outcome is not CrawlOutcome.UNCHANGED for feed in stored),
            failed=sum(feed.outcome.failed for feed in stored),
            created=sum(feed.created for feed in stored),
        )

    @activity.defn
    @call_with(BOUNDED)
    async def crawl_single_feed(self, input: CrawlFeedInput) -> CrawlFeedResult:
        feeds = await self._feeds.load_to_crawl([input.feed_id])
        if not feeds:
            raise NotFoundError(f"There is no feed {input.feed_id}.", feed_id=input.feed_id)
        async with ResumableHeartbeat(CrawlsBegun()) as heartbeat:
            before = heartbeat.cursor
            if before.times >= MOST_DEATHS:
                crawl = SET_ASIDE
                stored = await self._prober.store(feeds[0], crawl, input.policy)
            else:
                heartbeat.advance(CrawlsBegun(times=before.times + 1))
                try:
                    crawl = await self._prober.crawl(feeds[0], input.policy)
                    stored = await self._prober.store(feeds[0], crawl, input.policy)
                # Whoever lives to see it end was not killed by it.
                except BaseException:
                    heartbeat.advance(before)
                    raise
        return CrawlFeedResult(
            feed_id=stored.feed_id,
            feed_name=shorten(await self._feeds.load_name(stored.feed_id)),
            outcome=stored.outcome,
            created=stored.created,
            updated=stored.updated,
            reason=shorten(crawl.reason if stored.outcome is crawl.outcome else UNSTORABLE, LONGEST_REASON),
        )

    @activity.defn
    @call_with(QUICK)
    async def get_entries_to_fetch(self, input: FeedReference) -> EntriesToFetch:
        found = await self._entries.select_to_fetch(input.feed_id, input.policy, self._now())
        entries = (entry.model_copy(update={"title": shorten(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries), "feed_name": shorten(found.feed_name)})


@dataclass(frozen=True)
class WorkQueues:
    """Everything that waits for a worker."""

    crawl: CrawlQueue
    fetch: FetchQueue
    distil: DistilQueue


class LeftoverActivities:
    def __init__(
        self,
        feeds: Feeds,
        summaries: DistilStore,
        index: IndexStore,
        embeddings: EmbeddingStore,
        embedding_model: str,
        queues: WorkQueues,
        now: Clock = utc_now,
    ) -> None:
        self._queues = queues
        self._feeds = feeds
        self._summaries = summaries
        self._index = index
        self._embeddings = embeddings
        self._embedding_model = embedding_model
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_leftovers(self, input: LeftoversInput) -> Leftovers:
        """Find the work that no feed which is due would bring up again."""
        embedding = await self._embeddings.select_for_embedding(self._embedding_model, 0, 1)
        return Leftovers(
            feed_ids=tuple(await self._feeds.find_leftovers(input.without, input.limit, self._now())),
            undistilled=bool((await self._summaries.select_for_distillation((), 0, 1)).entries),
            unindexed=await self._has_index_work(),
            unembedded=bool(embedding.entry_ids),
        )

    @activity.defn
    @call_with(QUICK)
    async def find_due_work(self, input: DueWorkInput) -> DueWork:
        """Count what waits, of each kind, and that nobody works on."""
        queues, lease = self._queues, current_lease()
        if not input.only_due:
            await queues.crawl.make_all_due()
        now = timedelta(0)
        return DueWork(
            feeds=(await queues.crawl.find_next(lease, now)).waiting,
            to_fetch=(await queues.fetch.find_next(lease, FetchScope(paced=False), now)).waiting,
            to_distil=(await queues.distil.find_next(lease, DistilScope())).waiting,
            unindexed=await self._has_index_work(),
            unembedded=await self._embeddings.lacks_vectors(self._embedding_model),
        )

    async def _has_index_work(self) -> bool:
        index = self._index
        return bool(await index.unindexed_ids(1) or await index.removed_ids(1)) or await index.index_check_is_due()


FETCHED_TOGETHER = 4


class FetchActivities:
    """A page that cannot be read is a result with its reason. A fault of our own parts is an error, and is retried."""

    def __init__(
        self,
        entries: FetchStore,
        summaries: DistilStore,
        fetcher: ArticleFetcher,
        objects: ObjectStore,
        now: Clock = utc_now,
    ) -> None:
        self._entries = entries
        self._summaries = summaries
        self._fetcher = fetcher
        self._objects = objects
        self._now = now

    @activity.defn
    @call_with(QUICK)
    async def get_entries(self, input: ReopenInput) -> EntriesToFetch:
        """Return those of the entries that exist, to be processed again. From now on they wait for a summary."""
        if input.distill:
            await self._summaries.distil_again(input.entry_ids)
        sources = [await self._entries.load_source(entry_id) for entry_id in input.entry_ids]
        entries = tuple(
            EntryToFetch(entry_id=source.entry_id, domain=host_of(source.url), title=shorten(source.title))
            for source in sources
            if source is not None
        )
        return EntriesToFetch(entries=entries, skipped=len(input.entry_ids) - len(entries))

    @activity.defn
    @call_with(BOUNDED, queue=heavy_queue)
    async def fetch_single_content(self, input: FetchContentInput) -> FetchContentResult:
        async with Heartbeat():
            if input.preview_key:
                return await self._preview(input)
            return await self._fetch(input.entry_id, input.from_feed, input.policy)

    @activity.defn
    @call_with(LONG, queue=heavy_queue)
    async def fetch_contents(self, input: FetchContentsInput) -> FetchContentsResult:
        """Fetch several articles; what was done before a crash is not done again."""
        async with ResumableHeartbeat(FetchCursor()) as heartbeat:
            known = {result.entry_id for result in heartbeat.cursor.results}
            waiting = [entry_id for entry_id in input.entry_ids if entry_id not in known]
            for begin in range(0, len(waiting), FETCHED_TOGETHER):
                together = waiting[begin : begin + FETCHED_TOGETHER]
                done = await asyncio.gather(*(self._fetch_alone(entry_id, input.policy) for entry_id in together))
                # All results are one message, so reasons are short here; the entries keep them whole.
                brief = (result.model_copy(update={"reason": shorten(result.reason)}) for result in done)
                heartbeat.advance(FetchCursor(results=(*heartbeat.cursor.results, *brief)))
            return FetchContentsResult(results=heartbeat.cursor.results)

    async def _fetch_alone(self, entry_id: int, policy: CuratorPolicy) -> FetchContentResult:
        """Fetch one of several: what its page or text breaks is a failure of this entry alone."""
        try:
            return await self._fetch(entry_id, False, policy)
        except TransientError:
            raise
        # A stranger's page chooses the error, and the other articles wait.
        except Exception as error:  # noqa: BLE001
            activity.logger.exception("The article of entry %s could not be stored", entry_id)
            reason = f"The article could not be stored ({type(error).__name__})."
            await self._entries.record_failure(entry_id, reason, None, self._now())
            return FetchContentResult(entry_id=entry_id, fetched=False, reason=reason)

    async def _fetch(self, entry_id: int, from_feed: bool, policy: CuratorPolicy) -> FetchContentResult:
        source = await self._entries.load_source(entry_id)
        if source is None:
            return FetchContentResult(entry_id=entry_id, fetched=False, reason="This entry is gone.")
        own = from_feed or not source.has_page
        found = await self._fetcher.fetch(source, policy, from_feed=own)
        if isinstance(found, FetchFailure):
            await self._entries.record_failure(entry_id, found.reason, found.next_try, self._now())
            return FetchContentResult(entry_id=entry_id, fetched=False, reason=found.reason)
        changed = await self._entries.save_article(entry_id, found, self._now(), from_feed=own)
        return FetchContentResult(entry_id=entry_id, fetched=True, changed=changed)

    async def _preview(self, input: FetchContentInput) -> FetchContentResult:
        rules = tuple(ExtractionRule(rule.kind, rule.expression, rule.keep) for rule in input.rules)
        owner = f"person {input.person_id}"
        found = await self._fetcher.read_page(input.url, rules, input.policy, owner=owner)
        if isinstance(found, FetchFailure):
            return FetchContentResult(entry_id=0, fetched=False, reason=found.reason)
        await self._objects.put(input.preview_key, found.html.encode())
        return FetchContentResult(entry_id=0, fetched=True, title=shorten(found.title), words=len(found.text.split()))
