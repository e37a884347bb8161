"""Crawls feeds: which are due, what they say, which of their entries need work, and what was left half done."""

import asyncio

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import NotFoundError
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.core.temporal.options import LONG, QUICK
from pressbox.curator.distil.ports import DistilStore
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import (
    CrawlFeedInput,
    CrawlFeedResult,
    EntriesToFetch,
    FeedPage,
    FeedReference,
    Leftovers,
    LeftoversInput,
    ListFeedsInput,
    ProbedFeed,
    ProbeFeedsInput,
    ProbeFeedsResult,
)
from pressbox.curator.ingest.ports import Crawler, Feeds, FetchStore
from pressbox.curator.ingest.rate_limits import HostRateLimiter
from pressbox.curator.library.call_options import BOUNDED
from pressbox.curator.library.domain.feeds import CrawlOutcome
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.search.ports import EmbeddingStore, IndexStore
from pressbox.curator.text.plain_text import shorten

LONGEST_REASON = 500
# More would only wait for connections of the database, and time out in the end.
STORES_AT_ONCE = 4


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
        self._crawler = crawler
        self._rate_limiter = rate_limiter
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
        at_once, storing = asyncio.Semaphore(input.policy.probes_at_once), asyncio.Semaphore(STORES_AT_ONCE)
        async with Heartbeat():
            probed = await asyncio.gather(*(self._probe(feed, input.policy, at_once, storing) for feed in feeds))
            unchanged = [(feed, found) for feed, found in probed if isinstance(found, Crawl)]
            await self._feeds.store_unchanged(unchanged, input.policy, self._now())
            stored = [found for _, found in probed if isinstance(found, ProbedFeed)]
            # Older summaries that wait for a model are not started again by every crawl, but with the leftovers.
            waiting = await self._feeds.find_with_work(input.feed_ids, self._now(), distil=False)
            # The id of a feed that was merged into another one is that of the other.
            news = (feed.feed_id for feed in stored if feed.created or feed.updated)
        return ProbeFeedsResult(
            with_work=tuple(dict.fromkeys((*waiting, *news))),
            unchanged=len(unchanged),
            failed=sum(feed.outcome.failed for feed in stored),
            created=sum(feed.created for feed in stored),
        )

    @activity.defn
    @call_with(BOUNDED)
    async def crawl_single_feed(self, input: CrawlFeedInput) -> CrawlFeedResult:
        feeds = await self._feeds.load_to_crawl([input.feed_id])
        if not feeds:
            raise NotFoundError(f"There is no feed {input.feed_id}.", feed_id=input.feed_id)
        async with Heartbeat():
            crawl = await self._crawl(feeds[0], input.policy)
            stored = await self._feeds.store_crawl(feeds[0], crawl, input.policy, self._now())
        return CrawlFeedResult(
            feed_id=stored.feed_id,
            feed_name=shorten(await self._feeds.load_name(stored.feed_id)),
            outcome=crawl.outcome,
            created=stored.created,
            updated=stored.updated,
            reason=shorten(crawl.reason, LONGEST_REASON),
        )

    @activity.defn
    @call_with(QUICK)
    async def get_entries_to_fetch(self, input: FeedReference) -> EntriesToFetch:
        found = await self._entries.select_to_fetch(input.feed_id, input.policy, self._now())
        entries = (entry.model_copy(update={"title": shorten(entry.title)}) for entry in found.entries)
        return found.model_copy(update={"entries": tuple(entries), "feed_name": shorten(found.feed_name)})

    async def _probe(
        self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore, storing: asyncio.Semaphore
    ) -> tuple[FeedToCrawl, Crawl | ProbedFeed]:
        """Return the crawl of an unchanged feed, to be stored with the others; store any other."""
        crawl = await self._crawl(feed, policy, at_once)
        if crawl.outcome is CrawlOutcome.UNCHANGED:
            return feed, crawl
        async with storing:
            return feed, await self._feeds.store_crawl(feed, crawl, policy, self._now())

    async def _crawl(self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore | None = None) -> Crawl:
        # Before taking a place: feeds that wait for one host must not keep the others out.
        not_before = await self._rate_limiter.wait(feed.url, policy.feed_delay)
        if not_before is not None:
            reason = "This host asked for a pause, so none of its feeds is read."
            return Crawl(CrawlOutcome.RATE_LIMITED, reason=reason, not_before=not_before)
        if at_once is None:
            return await self._crawler.crawl(feed)
        async with at_once:
            return await self._crawler.crawl(feed)


class LeftoverActivities:
    def __init__(
        self,
        feeds: Feeds,
        summaries: DistilStore,
        index: IndexStore,
        embeddings: EmbeddingStore,
        embedding_model: str,
        now: Clock = utc_now,
    ) -> None:
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
            unindexed=bool(await self._index.unindexed_ids(1) or await self._index.removed_ids(1)),
            unembedded=bool(embedding.entry_ids),
        )
