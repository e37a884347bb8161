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
    """Reads one feed by a conditional request. What the other side does is a Crawl, never an exception."""

    async def crawl(self, feed: FeedToCrawl) -> Crawl: ...


class HostTurns(Protocol):
    """One rate limiter per host for the whole instance, shared by all workers."""

    async def take(self, host: str, delay: timedelta, now: datetime) -> datetime:
        """Reserve the next turn; when it is."""
        ...

    async def hold(self, host: str, until: datetime) -> None:
        """The host said when to come back."""
        ...


class Feeds(Protocol):
    """Feeds as ingestion sees them."""

    async def due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        """Only feeds that somebody subscribes to; never paused ones, and those that are gone only when made due."""
        ...

    async def to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]: ...

    async def store_crawl(self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime) -> ProbedFeed:
        """Entries, validators, health and the next time in one transaction. A failure keeps what was known before.

        The feed of the result is another one when this one moved to an address that is already there.
        """
        ...

    async def store_unchanged(
        self, crawls: Sequence[tuple[FeedToCrawl, Crawl]], policy: CuratorPolicy, now: datetime
    ) -> None:
        """What `store_crawl` does for UNCHANGED, for a whole page of feeds at the price of one."""
        ...

    async def with_work(self, feed_ids: Sequence[int], now: datetime, *, distil: bool = True) -> Sequence[int]:
        """Those with entries that wait for a fetch which is due, or for a distillation unless nobody asks for these.

        What only waits for the index is none of it: that is looked for in all feeds together.
        """
        ...

    async def leftovers(self, without: Sequence[int], limit: int, now: datetime) -> Sequence[int]:
        """Other feeds with entries that wait for a fetch which is due, whether or not the feed itself is."""
        ...

    async def name(self, feed_id: int) -> str: ...


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

    async def to_fetch(self, feed_id: int, policy: CuratorPolicy, now: datetime) -> EntriesToFetch: ...

    async def source(self, entry_id: int) -> EntrySource | None: ...

    async def save_article(
        self, entry_id: int, article: FetchedArticle, now: datetime, *, from_feed: bool = False
    ) -> bool:
        """True when the content is another one than before: then it is distilled and indexed again."""
        ...

    async def note_fetch_failure(self, entry_id: int, reason: str, next_try: datetime | None, now: datetime) -> None:
        """None: no more tries; the entry keeps what the feed gave."""
        ...
