"""What a feed is, what one crawl of it came to, and when it is crawled again. Pure types; rules in `intervals`."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum


class CrawlOutcome(StrEnum):
    """What one crawl came to. Everything but NEW and UNCHANGED is a failure with a reason that people see."""

    NEW = "new"  # read, whether or not it had new entries
    UNCHANGED = "unchanged"  # 304, or the very same bytes
    GONE = "gone"  # 410: not crawled again until somebody says so
    RATE_LIMITED = "rate limited"
    REFUSED = "refused"  # 401, 403, a login page
    NOT_FOUND = "not found"
    SERVER_ERROR = "server error"
    NOT_A_FEED = "not a feed"
    TOO_LARGE = "too large"
    REFUSED_ADDRESS = "refused address"
    UNREACHABLE = "unreachable"

    @property
    def failed(self) -> bool:
        return self not in (CrawlOutcome.NEW, CrawlOutcome.UNCHANGED)


@dataclass(frozen=True)
class Enclosure:
    url: str
    type: str = ""
    length: int | None = None


@dataclass(frozen=True)
class FeedEntry:
    """An entry as a feed states it, already cleaned: absolute addresses, sanitised HTML, aware times or none."""

    guid: str
    url: str
    title: str
    author: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    content: str = ""
    summary: str = ""
    language: str = ""
    thumbnail_url: str = ""
    enclosures: tuple[Enclosure, ...] = ()


@dataclass(frozen=True)
class ParsedFeed:
    """`problems` names what could not be used; the rest counts all the same."""

    title: str
    site_url: str = ""
    description: str = ""
    language: str = ""
    icon_url: str = ""
    hub_interval: timedelta | None = None
    entries: tuple[FeedEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validators:
    """What a conditional request is made of. Stored in the same transaction as the entries they stand for."""

    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""


@dataclass(frozen=True)
class Crawl:
    """One crawl, before it is stored."""

    outcome: CrawlOutcome
    parsed: ParsedFeed | None = None
    validators: Validators = field(default_factory=Validators)
    reason: str = ""
    status: int | None = None
    # Where the feed lives now, after a permanent redirect.
    moved_to: str | None = None
    # Not before this time, as the other side says (Retry-After, Cache-Control, Expires).
    not_before: datetime | None = None


@dataclass(frozen=True)
class ExtractionRule:
    """How the article is found on a page of this feed; what the expression finds is kept or removed."""

    kind: str  # css or xpath
    expression: str
    keep: bool


@dataclass(frozen=True)
class FeedToCrawl:
    feed_id: int
    url: str
    validators: Validators
    interval: timedelta | None = None
    entry_limit: int | None = None
