"""What ingestion needs from storage and the outside world. Times are aware UTC."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.curator.articles.ports import FetchedArticle
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import EntriesToFetch, FeedPage, ProbedFeed
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.library.domain.policy import CuratorPolicy


class Crawler(Protocol):
    """Asks for one feed by a conditional request. Whatever the site does is a Crawl, never an exception."""

    async def crawl(self, feed: FeedToCrawl) -> Crawl: ...


class HostRateLimits(Protocol):
    """One rate limit per host for the whole instance, shared by all workers."""

    async def reserve(self, host: str, delay: timedelta, now: datetime) -> datetime:
        """Reserve the next free slot and return its time."""
        ...

    async def pause(self, host: str, until: datetime) -> None:
        """Give out no slot before the time that the host asked for."""
        ...


class Feeds(Protocol):
    """Feeds as ingestion sees them."""

    async def list_due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        """List feeds with subscribers, without paused ones, and with feeds that are gone only when made due."""
        ...

    async def load_to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]: ...

    async def store_crawl(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime) -> ProbedFeed:
        """Store entries, validators, health and the next time in one transaction. A failure keeps what was known.

        The feed of the result is another one when this one moved to an address that is already there.
        """
        ...

    async def store_unchanged(
        self, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy, now: datetime
    ) -> None:
        """Do what `store_crawl` does for UNCHANGED, for a whole page of feeds in one statement. None of them moved."""
        ...

    async def find_with_work(self, feed_ids: Sequence[int], now: datetime, *, distil: bool = True) -> Sequence[int]:
        """Find feeds with entries that wait for a fetch that is due or, with `distil`, for a summary.

        Entries that only wait for the index do not count: they are looked for in all feeds together.
        """
        ...

    async def find_leftovers(self, without: Sequence[int], limit: int, now: datetime) -> Sequence[int]:
        """Find other feeds with entries that wait for a fetch that is due, whether or not the feed is."""
        ...

    async def load_name(self, feed_id: int) -> str: ...


@dataclass(frozen=True)
class EntrySource:
    """What a fetch needs to know of an entry."""

    entry_id: int
    feed_id: int
    url: str
    feed_html: str
    rules: tuple[ExtractionRule, ...]
    full_text: bool
    title: str = ""
    tries: int = 0


class FetchStore(Protocol):
    """Entries that wait for their full text. Selection is by state; each write is one transaction."""

    async def select_to_fetch(self, feed_id: int, policy: CuratorPolicy, now: datetime) -> EntriesToFetch: ...

    async def load_source(self, entry_id: int) -> EntrySource | None: ...

    async def save_article(
        self, entry_id: int, article: FetchedArticle, now: datetime, *, from_feed: bool = False
    ) -> bool:
        """Return whether the content differs from before: then it is distilled and indexed again."""
        ...

    async def record_failure(self, entry_id: int, reason: str, next_try: datetime | None, now: datetime) -> None:
        """Without a next try the entry keeps what the feed gave."""
        ...
