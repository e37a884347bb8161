"""What the curator needs from the outside world. Times are aware UTC."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.curator.feeds.outline import OutlineFeed, OutlineList
from pressbox.curator.library.domain.entries import Distilled, FetchedArticle, ToDistil
from pressbox.curator.library.domain.feeds import Crawl, ExtractionRule, FeedToCrawl, ParsedFeed


class Crawler(Protocol):
    """Reads one feed by a conditional request. What the other side does is a Crawl, never an exception."""

    async def crawl(self, feed: FeedToCrawl) -> Crawl: ...


class Discovery(Protocol):
    """From the address of a site to its feeds, best first; a feed's own address gives itself.

    None found is an empty answer. A site that cannot be asked raises a TransientError, or a PermanentError with why.
    """

    async def discover(self, url: str) -> Sequence["FoundFeed"]: ...


@dataclass(frozen=True)
class FoundFeed:
    url: str
    title: str
    parsed: ParsedFeed | None = None


class Outlines(Protocol):
    """Lists of subscriptions (OPML). Reading raises InvalidInputError only when the whole is none."""

    def read(self, content: bytes) -> OutlineList: ...

    def write(self, feeds: Sequence[OutlineFeed], title: str, now: datetime) -> bytes: ...


class PageReader(Protocol):
    """Reads one page through the guard, within the limits. The kind of error says whether to try again."""

    async def read(self, url: str, limit: int) -> "Page": ...


@dataclass(frozen=True)
class Page:
    url: str
    html: str
    content_type: str


class Extractor(Protocol):
    """Finds the article on a page; CPU work, off the event loop."""

    async def extract(self, page: Page, rules: Sequence[ExtractionRule]) -> FetchedArticle: ...

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle: ...


class HostTurns(Protocol):
    """One rate limiter per host for the whole instance, shared by all workers."""

    async def take(self, host: str, delay: timedelta, now: datetime) -> datetime:
        """Reserve the next turn; when it is."""
        ...

    async def hold(self, host: str, until: datetime) -> None:
        """The host said when to come back."""
        ...


class Distiller(Protocol):
    """Summarises. A model that is down raises TransientError; nothing is marked done that is not.

    What cannot be summarised is left out, or comes as an answer that is not `usable` when it was paid for.
    """

    @property
    def name(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]: ...


class Embedder(Protocol):
    @property
    def model(self) -> str: ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]: ...
