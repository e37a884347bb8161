"""Feeds as their subscribers see them: title, health, settings, an import, and the preview of a page."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import Field

from pressbox.curator.library.domain import CrawlOutcome, ExtractionRule, OutlineProblem

NOT_IN_API = Field(exclude=True)


@dataclass(frozen=True)
class FeedErrorView:
    at: datetime
    outcome: CrawlOutcome
    status: int | None
    reason: str


@dataclass(frozen=True)
class FeedHealth:
    outcome: Annotated[CrawlOutcome | None, Field(description="What the last crawl came to; null before the first.")]
    failing: bool
    reason: str
    status: Annotated[int | None, Field(description="The HTTP status, when there was one.")]
    failures: Annotated[int, Field(description="In a row.")]
    failing_since: datetime | None
    last_crawl_at: datetime | None
    last_success_at: datetime | None
    last_new_at: datetime | None
    next_crawl_at: Annotated[datetime | None, Field(description="null: not again until somebody says so.")]
    interval: Annotated[timedelta, NOT_IN_API]


@dataclass(frozen=True)
class FeedView:
    """A feed of yours. Title and category are your own, the rest is common to all who read it."""

    id: int
    title: str
    own_title: str
    url: str
    site_url: str
    description: str
    language: str
    icon_url: str
    category_id: int | None
    category: str
    unread: int
    subscribers: Annotated[int, NOT_IN_API]
    shared: Annotated[bool, Field(description="Others read it too: then only an administrator changes what is common.")]
    paused_at: datetime | None
    full_text: bool
    rules: tuple[ExtractionRule, ...]
    interval: Annotated[timedelta | None, NOT_IN_API]
    interval_seconds: Annotated[int | None, Field(description="null: it adapts.")]
    entry_limit: int | None
    health: FeedHealth
    subscribed_at: datetime

    @property
    def failing(self) -> bool:
        return self.health.failing


@dataclass(frozen=True)
class EntryFailure:
    entry_id: int
    title: str
    reason: str
    next_try_at: datetime | None


@dataclass(frozen=True)
class FeedDetail:
    feed: FeedView
    errors: Annotated[tuple[FeedErrorView, ...], Field(description="The latest, newest first.")]
    entries: int
    to_fetch: int
    to_distil: int
    fetch_failures: tuple[EntryFailure, ...]


@dataclass(frozen=True)
class FoundFeedView:
    """A feed that an address led to."""

    url: str
    title: str
    entries: int | None
    subscribed: bool


@dataclass(frozen=True)
class ImportView:
    """An OPML import: everything that could be subscribed is, and is read in the background; ask again for counts."""

    id: str
    added: int
    known: int
    broken: tuple[OutlineProblem, ...]
    waiting: int = 0
    readable: int = 0
    failing: tuple[FeedView, ...] = ()

    @property
    def total(self) -> int:
        return self.added + self.known + len(self.broken)

    @property
    def done(self) -> bool:
        return self.waiting == 0


@dataclass(frozen=True)
class PreviewView:
    """What a page would become with some rules; `html` is sanitised."""

    ok: bool
    html: str
    title: str
    words: int
    error: str


@dataclass(frozen=True)
class FeedSettings:
    """What is common to all subscribers of a feed. None lets it adapt."""

    full_text: bool = True
    rules: tuple[ExtractionRule, ...] = ()
    interval: timedelta | None = None
    entry_limit: int | None = None
