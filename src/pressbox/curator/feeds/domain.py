"""A feed as its document has it (raw), as it is stored (parsed), and what one crawl of it came to. Pure types."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pressbox.curator.library.domain.feeds import CrawlOutcome, Enclosure


@dataclass(frozen=True)
class RawText:
    """A text of a document. `html` says that it is markup, `base` where its relative addresses begin, if stated."""

    value: str
    html: bool = True
    base: str = ""


NO_TEXT = RawText("")


@dataclass(frozen=True)
class RawFile:
    url: str
    type: str = ""
    length: str = ""


@dataclass(frozen=True)
class RawEntry:
    guid: str = ""
    url: str = ""
    title: RawText = NO_TEXT
    author: str = ""
    published: str = ""
    updated: str = ""
    content: RawText = NO_TEXT
    summary: RawText = NO_TEXT
    language: str = ""
    thumbnail_url: str = ""
    files: tuple[RawFile, ...] = ()


@dataclass(frozen=True)
class RawFeed:
    """What RSS, Atom, RDF and JSON Feed have in common, before anything is cleaned."""

    title: RawText = NO_TEXT
    site_url: str = ""
    description: RawText = NO_TEXT
    language: str = ""
    icon_url: str = ""
    interval: timedelta | None = None
    entries: tuple[RawEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeedEntry:
    """An entry of a feed, cleaned: absolute addresses, sanitised HTML, aware times or none."""

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
    # Names under which an earlier crawl may have stored it, see `identity.py`.
    narrower_guids: tuple[str, ...] = field(default=(), compare=False)
    wider_guids: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class ParsedFeed:
    """`problems` names what could not be used."""

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
    """What a conditional request sends. Stored in the same transaction as the entries they stand for."""

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
    # The site asks not to come back before this time (Retry-After, Cache-Control, Expires).
    not_before: datetime | None = None
    # It was not asked: others of its host come first. The feed has no fault, and comes at `not_before`.
    postponed: bool = False


@dataclass(frozen=True)
class FeedToCrawl:
    feed_id: int
    url: str
    validators: Validators
    interval: timedelta | None = None
    entry_limit: int | None = None
    last_read_at: datetime | None = None
