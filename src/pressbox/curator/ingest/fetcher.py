"""Asks hosts within their rate limits: feeds for news, unchanged ones together, and pages for articles."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import ConfigurationError, PermanentError, RateLimitedError, TransientError
from pressbox.curator.articles.domain import LONGEST_WALL, Extractor, FetchedArticle, PageReader, is_about
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import ProbedFeed
from pressbox.curator.ingest.ports import Crawler, EntrySource, Feeds, HostRateLimits
from pressbox.curator.library.domain import CrawlOutcome, CuratorPolicy, ExtractionRule
from pressbox.curator.library.leases import Lease
from pressbox.curator.library.urls import host_of
from pressbox.curator.text.plain_text import shorten

# A caller that would have to wait longer than this gets the time instead, and tries again then.
LONGEST_WAIT = timedelta(minutes=5)


class HostRateLimiter:
    """`delays` are those of domains that want another pace than the rest, with all of their hosts."""

    def __init__(self, limits: HostRateLimits, now: Clock, delays: Mapping[str, timedelta] | None = None) -> None:
        self._limits = limits
        self._now = now
        self._delays = delays or {}

    async def wait(self, url: str, delay: timedelta, longest: timedelta = LONGEST_WAIT) -> datetime | None:
        """Wait until this host may be asked, or return the time before which it may not."""
        host, own = self._find_pace(url)
        delay = delay if own is None else own
        if not host or not delay:
            return None
        now = self._now()
        slot = await self._limits.reserve(host, delay, now, longest)
        if slot - now > longest:
            return slot
        await asyncio.sleep(max((slot - now).total_seconds(), 0))
        return None

    async def pause(self, url: str, until: datetime) -> None:
        host, _ = self._find_pace(url)
        if host:
            await self._limits.pause(host, until)

    def _find_pace(self, url: str) -> tuple[str, timedelta | None]:
        """Whose turn a request takes, and its delay where it has one of its own."""
        host = host_of(url)
        for domain, delay in self._delays.items():
            if host == domain or host.endswith(f".{domain}"):
                return domain, delay
        return host, None


UNSTORABLE = "The feed holds something that cannot be stored, such as a text that is too long."
NO_TURN = "Its host wants fewer requests, so the feed waits for its turn."
# More would only wait for connections of the database, and time out in the end.
STORES_AT_ONCE = 4
# For a host that asks for fewer requests and does not say for how long.
UNSTATED_PAUSE = timedelta(minutes=1)
_OVERLOADED = 503


# What is stored of a feed that kills whoever reads it.
SET_ASIDE = Crawl(
    CrawlOutcome.NOT_A_FEED,
    reason="Reading this feed made the worker crash twice, so it is left alone.",
    set_aside=True,
)


@dataclass(frozen=True)
class Probed:
    """What became of a page of feeds. `postponed` had no turn; `unstored` could not be stored at all."""

    stored: Sequence[ProbedFeed]
    unchanged: int
    postponed: Mapping[int, datetime]
    unstored: Sequence[int] = ()


class FeedProber:
    def __init__(self, feeds: Feeds, crawler: Crawler, rate_limiter: HostRateLimiter, now: Clock = utc_now) -> None:
        self._feeds = feeds
        self._crawler = crawler
        self._rate_limiter = rate_limiter
        self._now = now
        # For all pages of a process together: most wait for an answer, and each has a connection.
        self._at_once: asyncio.Semaphore | None = None
        self._storing = asyncio.Semaphore(STORES_AT_ONCE)

    async def probe(self, feeds: Sequence[FeedToCrawl], policy: CuratorPolicy, lease: Lease | None = None) -> Probed:
        """Ask for every feed by a conditional request. With a lease, whoever has no turn soon goes back."""
        self._at_once = self._at_once or asyncio.Semaphore(policy.probes_at_once)
        found = await asyncio.gather(*(self._probe(feed, policy, self._at_once, lease) for feed in feeds))
        whole = [(feed, crawl) for feed, crawl in found if isinstance(crawl, Crawl)]
        postponed = {feed.feed_id: crawl.not_before for feed, crawl in whole if crawl.postponed and crawl.not_before}
        unchanged = [(feed, crawl) for feed, crawl in whole if feed.feed_id not in postponed]
        stored = [one for _, one in found if isinstance(one, ProbedFeed)]
        again = await self._store_unchanged(unchanged, policy, lease)
        return Probed(
            (*stored, *again),
            len(unchanged) - len(again),
            postponed,
            [one.feed_id for one in (*stored, *again) if not one.stored],
        )

    async def crawl(
        self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore | None = None, *, brief: bool = False
    ) -> Crawl:
        # Before taking a place: feeds that wait for one host must not keep the others out.
        longest = policy.feed_patience if brief else LONGEST_WAIT
        not_before = await self._rate_limiter.wait(feed.url, policy.feed_delay, longest)
        if not_before is not None:
            # It comes back as soon as it may wait for its turn: otherwise whoever comes meanwhile takes it.
            back = not_before - longest
            return Crawl(CrawlOutcome.UNCHANGED, reason=NO_TURN, not_before=back, postponed=True)
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

    async def store(
        self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, lease: Lease | None = None
    ) -> ProbedFeed:
        """Store a crawl; what cannot be stored is a failure of its feed alone. A database that is away is raised."""
        for tried in (crawl, Crawl(CrawlOutcome.NOT_A_FEED, reason=UNSTORABLE, status=crawl.status)):
            try:
                return await self._feeds.store_crawl(feed, tried, policy, self._now(), lease)
            except TransientError:
                raise
            # What a feed holds chooses the error, and the other feeds of its page wait.
            except Exception:  # noqa: BLE001
                activity.logger.exception("Feed %s could not be stored", feed.feed_id)
        return ProbedFeed(feed_id=feed.feed_id, outcome=CrawlOutcome.NOT_A_FEED, stored=False)

    async def _probe(
        self, feed: FeedToCrawl, policy: CuratorPolicy, at_once: asyncio.Semaphore, lease: Lease | None
    ) -> tuple[FeedToCrawl, Crawl | ProbedFeed]:
        """Return the crawl of an unchanged feed, to be stored with the others; store any other."""
        crawl = await self.crawl(feed, policy, at_once, brief=lease is not None)
        if crawl.outcome is CrawlOutcome.UNCHANGED and not crawl.moved_to and (lease or not crawl.postponed):
            return feed, crawl
        async with self._storing:
            return feed, await self.store(feed, crawl, policy, lease)

    async def _store_unchanged(
        self, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy, lease: Lease | None
    ) -> Sequence[ProbedFeed]:
        """Store all at once, and one by one when that fails."""
        try:
            await self._feeds.store_unchanged(crawls, policy, self._now(), lease)
        except TransientError:
            raise
        # As above: one of them must not fail the others.
        except Exception:  # noqa: BLE001
            activity.logger.exception("%s feeds are stored one by one", len(crawls))
            return [await self.store(feed, crawl, policy, lease) for feed, crawl in crawls]
        return ()

    async def _pause_host(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy) -> None:
        """Leave the other feeds of a host alone that asks for it, for a while: it may mean this address only."""
        if crawl.outcome is CrawlOutcome.RATE_LIMITED or crawl.status == _OVERLOADED:
            now = self._now()
            asked = crawl.not_before or now + UNSTATED_PAUSE
            await self._rate_limiter.pause(feed.url, min(asked, now + policy.longest_feed_pause))


LONGEST_REASON = 300
FIRST_RETRY = timedelta(minutes=5)
# The feed's own text is used when the page has clearly less, such as a teaser before a paywall.
CLEARLY_RICHER = 1.2


@dataclass(frozen=True)
class FetchFailure:
    """`next_try` is None when another try makes no sense."""

    reason: str
    next_try: datetime | None


class ArticleFetcher:
    """A page that cannot be read is a FetchFailure with its reason."""

    def __init__(
        self, reader: PageReader, extractor: Extractor, rate_limiter: HostRateLimiter, now: Clock = utc_now
    ) -> None:
        self._reader = reader
        self._extractor = extractor
        self._rate_limiter = rate_limiter
        self._now = now

    async def fetch(
        self, source: EntrySource, policy: CuratorPolicy, *, from_feed: bool, has_turn: bool = False
    ) -> FetchedArticle | FetchFailure:
        """Fetch an article. With `has_turn` its host may be asked now; otherwise it waits for its turn."""
        if from_feed:
            return await self._extract_from_feed(source, policy)
        found = await self.read_page(source.url, source.rules, policy, source.tries, has_turn=has_turn)
        if isinstance(found, FetchFailure) or not source.feed_html:
            return found
        own = await self._extract_from_feed(source, policy)
        return found if isinstance(own, FetchFailure) else choose_richer(found, own, source.title)

    async def _extract_from_feed(self, source: EntrySource, policy: CuratorPolicy) -> FetchedArticle | FetchFailure:
        try:
            return await self._extractor.from_feed(source.feed_html, source.url)
        except TransientError as error:
            next_try = await self._plan_next_try(error, source.url, policy, source.tries)
            return FetchFailure(shorten(error.message, LONGEST_REASON), next_try)
        except PermanentError as error:
            return FetchFailure(shorten(error.message, LONGEST_REASON), None)

    async def read_page(
        self,
        url: str,
        rules: tuple[ExtractionRule, ...],
        policy: CuratorPolicy,
        tries: int = 0,
        *,
        owner: str = "",
        has_turn: bool = False,
    ) -> FetchedArticle | FetchFailure:
        not_before = None if has_turn else await self._rate_limiter.wait(url, policy.host_delay)
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
