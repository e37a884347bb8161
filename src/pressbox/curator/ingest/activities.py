"""Crawls feeds and fetches articles: which feeds are due, what they say, and the full text of their entries."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConfigurationError, NotFoundError, PermanentError, RateLimitedError, TransientError
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat, ResumableHeartbeat
from pressbox.core.temporal.options import BOUNDED, LONG, QUICK
from pressbox.curator.articles.ports import Extractor, FetchedArticle, PageReader
from pressbox.curator.articles.walls import LONGEST_WALL, is_about
from pressbox.curator.distil.ports import DistilStore
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import (
    CrawlFeedInput,
    CrawlFeedResult,
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
    ProbedFeed,
    ProbeFeedsInput,
    ProbeFeedsResult,
    ReopenInput,
)
from pressbox.curator.ingest.ports import Crawler, EntrySource, Feeds, FetchStore
from pressbox.curator.ingest.rate_limits import HostRateLimiter
from pressbox.curator.library.contracts import heavy_queue
from pressbox.curator.library.domain.feeds import CrawlOutcome, ExtractionRule
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.library.domain.urls import host_of
from pressbox.curator.search.ports import EmbeddingStore, IndexStore
from pressbox.curator.text.plain_text import shorten

LONGEST_REASON = 500
UNSTORABLE = "The feed holds something that cannot be stored, such as a text that is too long."
# More would only wait for connections of the database, and time out in the end.
STORES_AT_ONCE = 4
# For a host that asks for fewer requests and does not say for how long.
UNSTATED_PAUSE = timedelta(minutes=1)
_OVERLOADED = 503


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
            stored = [found for _, found in probed if isinstance(found, ProbedFeed)]
            stored += await self._store_unchanged(unchanged, input.policy)
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
        async with Heartbeat():
            crawl = await self._crawl(feeds[0], input.policy)
            stored = await self._store(feeds[0], crawl, input.policy)
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

    async def _probe(
        self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore, storing: asyncio.Semaphore
    ) -> tuple[FeedToCrawl, Crawl | ProbedFeed]:
        """Return the crawl of an unchanged feed, to be stored with the others; store any other."""
        crawl = await self._crawl(feed, policy, at_once)
        if crawl.outcome is CrawlOutcome.UNCHANGED and not crawl.moved_to and not crawl.postponed:
            return feed, crawl
        async with storing:
            return feed, await self._store(feed, crawl, policy)

    async def _store(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy) -> ProbedFeed:
        """Store a crawl; what cannot be stored is a failure of its feed alone. A database that is away is raised."""
        for tried in (crawl, Crawl(CrawlOutcome.NOT_A_FEED, reason=UNSTORABLE, status=crawl.status)):
            try:
                return await self._feeds.store_crawl(feed, tried, policy, self._now())
            except TransientError:
                raise
            # What a feed holds chooses the error, and the other feeds of its page wait.
            except Exception:  # noqa: BLE001
                activity.logger.exception("Feed %s could not be stored", feed.feed_id)
        return ProbedFeed(feed_id=feed.feed_id, outcome=CrawlOutcome.NOT_A_FEED)

    async def _store_unchanged(
        self, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy
    ) -> Sequence[ProbedFeed]:
        """Store all at once, and one by one when that fails."""
        try:
            await self._feeds.store_unchanged(crawls, policy, self._now())
        except TransientError:
            raise
        # As above: one of them must not fail the others.
        except Exception:  # noqa: BLE001
            activity.logger.exception("%s feeds are stored one by one", len(crawls))
            return [await self._store(feed, crawl, policy) for feed, crawl in crawls]
        return ()

    async def _crawl(self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore | None = None) -> Crawl:
        # Before taking a place: feeds that wait for one host must not keep the others out.
        not_before = await self._rate_limiter.wait(feed.url, policy.feed_delay)
        if not_before is not None:
            reason = "Its host wants fewer requests, so the feed waits for its turn."
            return Crawl(CrawlOutcome.UNCHANGED, reason=reason, not_before=not_before, postponed=True)
        try:
            async with at_once or asyncio.Semaphore():
                crawl = await self._crawler.crawl(feed)
            await self._pause_host(feed, crawl, policy)
            return crawl
        # Our own parts are away: that is no outcome of this feed.
        except (TransientError, ConfigurationError):
            raise
        # A crawl is a value, whatever the site does. An error that nobody foresaw is one too.
        except Exception as error:  # noqa: BLE001
            activity.logger.exception("Feed %s broke the crawler", feed.feed_id)
            return Crawl(CrawlOutcome.NOT_A_FEED, reason=f"The feed could not be read ({type(error).__name__}).")

    async def _pause_host(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy) -> None:
        """Leave the other feeds of a host alone that asks for it, for a while: it may mean this address only."""
        if crawl.outcome is CrawlOutcome.RATE_LIMITED or crawl.status == _OVERLOADED:
            now = self._now()
            asked = crawl.not_before or now + UNSTATED_PAUSE
            await self._rate_limiter.pause(feed.url, min(asked, now + policy.longest_feed_pause))


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
            unindexed=await self._has_index_work(),
            unembedded=bool(embedding.entry_ids),
        )

    async def _has_index_work(self) -> bool:
        index = self._index
        return bool(await index.unindexed_ids(1) or await index.removed_ids(1)) or await index.index_check_is_due()


LONGEST_REASON = 300
FIRST_RETRY = timedelta(minutes=5)
# The feed's own text is used when the page has clearly less, such as a teaser before a paywall.
CLEARLY_RICHER = 1.2
FETCHED_TOGETHER = 4


@dataclass(frozen=True)
class FetchFailure:
    """`next_try` is None when another try makes no sense."""

    reason: str
    next_try: datetime | None


class FetchActivities:
    """A page that cannot be read is a result with its reason. A fault of our own parts is an error, and is retried."""

    def __init__(
        self,
        entries: FetchStore,
        summaries: DistilStore,
        reader: PageReader,
        extractor: Extractor,
        rate_limiter: HostRateLimiter,
        objects: ObjectStore,
        now: Clock = utc_now,
    ) -> None:
        self._entries = entries
        self._summaries = summaries
        self._reader = reader
        self._extractor = extractor
        self._rate_limiter = rate_limiter
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
        own = from_feed or not source.full_text or not source.url
        found = await self._extract_from_feed(source, policy) if own else await self._extract_from_page(source, policy)
        if isinstance(found, FetchFailure):
            await self._entries.record_failure(entry_id, found.reason, found.next_try, self._now())
            return FetchContentResult(entry_id=entry_id, fetched=False, reason=found.reason)
        changed = await self._entries.save_article(entry_id, found, self._now(), from_feed=own)
        return FetchContentResult(entry_id=entry_id, fetched=True, changed=changed)

    async def _extract_from_feed(self, source: EntrySource, policy: CuratorPolicy) -> FetchedArticle | FetchFailure:
        try:
            return await self._extractor.from_feed(source.feed_html, source.url)
        except TransientError as error:
            next_try = await self._plan_next_try(error, source.url, policy, source.tries)
            return FetchFailure(shorten(error.message, LONGEST_REASON), next_try)
        except PermanentError as error:
            return FetchFailure(shorten(error.message, LONGEST_REASON), None)

    async def _extract_from_page(self, source: EntrySource, policy: CuratorPolicy) -> FetchedArticle | FetchFailure:
        found = await self._read_page(source.url, source.rules, policy, source.tries)
        if isinstance(found, FetchFailure) or not source.feed_html:
            return found
        own = await self._extract_from_feed(source, policy)
        return found if isinstance(own, FetchFailure) else choose_richer(found, own, source.title)

    async def _read_page(
        self, url: str, rules: tuple[ExtractionRule, ...], policy: CuratorPolicy, tries: int, owner: str = ""
    ) -> FetchedArticle | FetchFailure:
        not_before = await self._rate_limiter.wait(url, policy.host_delay)
        if not_before is not None:
            return FetchFailure("This host asked for a pause.", not_before)
        try:
            page = await self._reader.read(url, policy.page_bytes)
            return await self._extractor.extract(page, rules, owner)
        except TransientError as error:
            next_try = await self._plan_next_try(error, url, policy, tries)
            return FetchFailure(shorten(error.message, LONGEST_REASON), next_try)
        except PermanentError as error:
            return FetchFailure(shorten(error.message, LONGEST_REASON), None)

    async def _plan_next_try(
        self, error: TransientError, url: str, policy: CuratorPolicy, tries: int
    ) -> datetime | None:
        """Return when to try again: later each time, and at last never."""
        if isinstance(error, RateLimitedError) and error.retry_after is not None:
            until = self._now() + error.retry_after
            await self._rate_limiter.pause(url, min(until, self._now() + policy.longest_page_pause))
            return until
        return self._now() + FIRST_RETRY * 4**tries if tries + 1 < policy.fetch_tries else None

    async def _preview(self, input: FetchContentInput) -> FetchContentResult:
        rules = tuple(ExtractionRule(rule.kind, rule.expression, rule.keep) for rule in input.rules)
        owner = f"person {input.person_id}"
        found = await self._read_page(input.url, rules, input.policy, 0, owner)
        if isinstance(found, FetchFailure):
            return FetchContentResult(entry_id=0, fetched=False, reason=found.reason)
        await self._objects.put(input.preview_key, found.html.encode())
        return FetchContentResult(entry_id=0, fetched=True, title=shorten(found.title), words=len(found.text.split()))


def choose_richer(page: FetchedArticle, feed: FetchedArticle, title: str = "") -> FetchedArticle:
    """Choose the text of the feed if it has clearly more, or if the page does not say what the feed says.

    What else is known of the page is kept.
    """
    richer = len(feed.text) > CLEARLY_RICHER * len(page.text)
    # In another language the same article has other words.
    comparable = len(page.text) <= LONGEST_WALL or page.language == feed.language
    elsewhere = comparable and not is_about(page.text, f"{title}\n{feed.text}")
    if not feed.text or not (page.whole_page or richer or elsewhere):
        return page
    return replace(page, html=feed.html, text=feed.text, whole_page=False, language=feed.language or page.language)
