"""What ingestion needs from storage and the outside world. Times are aware UTC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.curator.articles.domain import FetchedArticle
from pressbox.curator.feeds.domain import Crawl, FeedToCrawl
from pressbox.curator.ingest.contracts import EntriesToFetch, FeedPage, ProbedFeed
from pressbox.curator.ingest.edits import Change, Edit
from pressbox.curator.library.domain import CuratorPolicy, ExtractionRule
from pressbox.curator.library.leases import Lease, NextTurn
from pressbox.curator.library.urls import host_of


class Crawler(Protocol):
    """Asks for one feed by a conditional request. Whatever the site does is a Crawl, never an exception."""

    async def crawl(self, feed: FeedToCrawl) -> Crawl: ...


class HostRateLimits(Protocol):
    """One rate limit per host for the whole instance, shared by all workers."""

    async def reserve(self, host: str, delay: timedelta, now: datetime, longest: timedelta) -> datetime:
        """Reserve the next free slot and return its time. One that is further away than `longest` is not taken."""
        ...

    async def pause(self, host: str, until: datetime) -> None:
        """Give out no slot before the time that the host asked for."""
        ...


class Comparer(Protocol):
    """Compares what feeds say with what they said. Texts that cannot be compared count as edited."""

    async def compare(self, changes: tuple[Change, ...]) -> Sequence[Edit]: ...


class Feeds(Protocol):
    """Feeds as ingestion sees them."""

    async def list_due(self, after_feed_id: int, limit: int, due_at: datetime, only_due: bool) -> FeedPage:
        """List feeds with subscribers, without paused ones, and with feeds that are gone only when made due."""
        ...

    async def load_to_crawl(self, feed_ids: Sequence[int]) -> Sequence[FeedToCrawl]: ...

    async def store_crawl(
        self, feed: FeedToCrawl, crawl: Crawl, policy: CuratorPolicy, now: datetime, lease: Lease | None = None
    ) -> ProbedFeed:
        """Store entries, validators, health and the next time in one transaction. A failure keeps what was known.

        With a lease nothing is stored when somebody else has taken the feed over.

        The feed of the result is another one when this one moved to an address that is already there.
        """
        ...

    async def store_unchanged(
        self,
        crawls: Sequence[tuple[FeedToCrawl, Crawl]],
        policy: CuratorPolicy,
        now: datetime,
        lease: Lease | None = None,
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
class SuspectFeed:
    """A feed at which a process died, with others or, when it `killed`, alone. `lease` is the one to store it by."""

    feed: FeedToCrawl
    killed: bool
    lease: Lease


class CrawlQueue(Protocol):
    """Feeds that are due, shared by all workers."""

    async def claim(self, lease: Lease, limit: int) -> Sequence[FeedToCrawl]:
        """Hand out feeds that are due, without those that somebody began with and never gave back."""
        ...

    async def claim_suspect(self, lease: Lease) -> "SuspectFeed | None":
        """Hand out one of the others, to be crawled alone."""
        ...

    async def find_next(self, lease: Lease, patience: timedelta) -> NextTurn:
        """Count the feeds that nobody crawls and that are due within `patience`, and say when the first is."""
        ...

    async def make_all_due(self) -> None:
        """Make every feed due whose site does not want to be left alone."""
        ...

    async def renew(self, lease: Lease, feed_ids: Sequence[int]) -> None: ...

    async def release(self, lease: Lease, feed_ids: Sequence[int], postponed: Mapping[int, datetime]) -> None:
        """Give feeds back; those that had no turn are due at the given times."""
        ...


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

    @property
    def has_page(self) -> bool:
        return self.full_text and bool(self.url)


@dataclass(frozen=True)
class FetchScope:
    """Which entries: those of one feed, or of all that are not paused. Without `paced` nobody is asked."""

    feed_id: int | None = None
    paced: bool = True
    delay: timedelta = timedelta(0)


@dataclass(frozen=True)
class ClaimedEntry:
    """An entry that is ours for a while. `turn` is the host whose turn it took; `begun` counts this claim too."""

    source: EntrySource
    turn: str = ""
    begun: int = 1

    @property
    def host(self) -> str:
        return host_of(self.source.url)


@dataclass(frozen=True)
class FetchedEntry:
    """What became of a claimed entry: an article, or a reason."""

    entry_id: int
    at: datetime
    turn: str = ""
    article: FetchedArticle | None = None
    from_feed: bool = False
    reason: str = ""
    next_try: datetime | None = None

    def with_article(self, article: FetchedArticle) -> "FetchedEntry":
        return replace(self, article=article)

    def with_failure(self, reason: str, next_try: datetime | None) -> "FetchedEntry":
        return replace(self, article=None, reason=reason, next_try=next_try)


class FetchQueue(Protocol):
    """Entries that wait for their full text, shared by all workers."""

    async def claim(self, lease: Lease, scope: FetchScope, limit: int, *, suspects: bool) -> Sequence[ClaimedEntry]:
        """Hand out entries whose host has its turn, and take the turns; one of a host, unless it needs no delay.

        `suspects` are those whose work was begun before and never ended.
        """
        ...

    async def find_next(self, lease: Lease, scope: FetchScope, patience: timedelta) -> NextTurn:
        """Count what nobody works on and is due within `patience`, and say when the first has its turn."""
        ...

    async def renew(self, lease: Lease, entry_ids: Sequence[int]) -> None: ...

    async def record(self, lease: Lease, fetched: Sequence[FetchedEntry]) -> Sequence[int]:
        """Record results of entries that are still ours, and free their hosts; return the entries."""
        ...


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
