"""What one person sees of sources and entries. Pure types."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Generic, TypeVar

from pressbox.curator.library.domain.entries import DistilState, FetchState
from pressbox.curator.library.domain.feeds import CrawlOutcome, Enclosure, ExtractionRule, OutlineProblem


class ListKind(StrEnum):
    """Which entries a list shows. All but the first four name a thing by its id."""

    ALL = "all"
    UNREAD = "unread"
    STARRED = "starred"
    UP = "up"
    CATEGORY = "category"
    FEED = "feed"
    LABEL = "label"

    @property
    def named(self) -> bool:
        return self in (ListKind.CATEGORY, ListKind.FEED, ListKind.LABEL)


class Sort(StrEnum):
    """RELEVANCE is for searches only, RECOMMENDED for lists only; in the other case it means NEWEST."""

    NEWEST = "newest"
    OLDEST = "oldest"
    RECOMMENDED = "recommended"
    RELEVANCE = "relevance"


class Preference(IntEnum):
    DOWN = -1
    NONE = 0
    UP = 1


@dataclass(frozen=True)
class Selection:
    """A list as a person chose it: kind, its id, order, words to search for.

    With `opened_at` an unread list still has what was read after that moment: what was read in this view stays in
    place until the view changes.
    """

    kind: ListKind = ListKind.ALL
    id: int | None = None
    unread_only: bool = False
    sort: Sort = Sort.NEWEST
    query: str = ""
    opened_at: datetime | None = None

    @property
    def wants_unread(self) -> bool:
        return self.unread_only or self.kind is ListKind.UNREAD


@dataclass(frozen=True)
class LabelView:
    id: int
    name: str
    entries: int = 0


@dataclass(frozen=True)
class SourceOfStory:
    """The same article as another of the person's feeds brought it."""

    entry_id: int
    feed_id: int
    feed_title: str
    url: str


@dataclass(frozen=True)
class EntryItem:
    """One line of a list. A story that came from several feeds is one line; `others` names the rest."""

    id: int
    feed_id: int
    feed_title: str
    title: str
    url: str
    author: str
    language: str
    published_at: datetime
    dated: bool
    summary: str
    thumbnail_url: str
    words: int
    fetch_state: FetchState
    distil_state: DistilState
    read: bool = False
    starred: bool = False
    preference: Preference = Preference.NONE
    has_note: bool = False
    labels: tuple[LabelView, ...] = ()
    others: tuple[SourceOfStory, ...] = ()
    # Of a search: escaped HTML with the hits in <mark>.
    title_html: str = ""
    snippet_html: str = ""


class ListNote(StrEnum):
    """Why a list is not quite what was asked for; pages say it in words."""

    NONE = ""
    NOTHING_MARKED_UP = "nothing marked up"  # no taste to recommend by: the newest first instead
    NO_VECTORS = "no vectors"  # what was marked up has no vector of the present model yet


@dataclass(frozen=True)
class EntryPage:
    """Some entries of a list. `after` asks for the next page; None at the end. `total` is known for a search only."""

    items: tuple[EntryItem, ...]
    after: str | None = None
    sort: Sort = Sort.NEWEST
    note: ListNote = ListNote.NONE
    total: int | None = None


@dataclass(frozen=True)
class ArticleView:
    """One entry, opened. `body_html` is sanitised; `from_feed` tells that it is the feed's own text."""

    item: EntryItem
    body_html: str
    from_feed: bool
    site_url: str
    note: str
    enclosures: tuple[Enclosure, ...]
    fetch_reason: str
    next_fetch_at: datetime | None
    distil_reason: str
    # What made the summary: the name of a model, or of the offline adapter.
    distil_model: str
    first_seen_at: datetime
    updated_at: datetime
    # Neighbours in the list from which it was opened.
    previous_id: int | None = None
    next_id: int | None = None


@dataclass(frozen=True)
class FeedErrorView:
    at: datetime
    outcome: CrawlOutcome
    status: int | None
    reason: str


@dataclass(frozen=True)
class FeedHealth:
    """How a feed is: what the last crawl came to, since when it fails, and when it is tried again.

    Without an outcome it was not crawled yet. No `next_crawl_at` with GONE: not again until somebody says so.
    """

    outcome: CrawlOutcome | None
    reason: str
    status: int | None
    failures: int
    failing_since: datetime | None
    last_crawl_at: datetime | None
    last_success_at: datetime | None
    last_new_at: datetime | None
    next_crawl_at: datetime | None
    interval: timedelta

    @property
    def failing(self) -> bool:
        return self.outcome is not None and self.outcome.failed


@dataclass(frozen=True)
class FeedView:
    """A feed as one of its subscribers has it: title and category are the person's own, the rest is shared."""

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
    subscribers: int
    paused_at: datetime | None
    full_text: bool
    rules: tuple[ExtractionRule, ...]
    # What people set; None lets it adapt.
    interval: timedelta | None
    entry_limit: int | None
    health: FeedHealth
    subscribed_at: datetime

    @property
    def failing(self) -> bool:
        return self.health.failing

    @property
    def shared(self) -> bool:
        """Other people read it too: then only an administrator changes what is common to all."""
        return self.subscribers > 1


@dataclass(frozen=True)
class FeedDetail:
    """A feed with its latest failures, newest first, and how its entries stand."""

    feed: FeedView
    errors: tuple[FeedErrorView, ...]
    entries: int
    to_fetch: int
    to_distil: int
    fetch_failures: tuple["EntryFailure", ...] = ()


@dataclass(frozen=True)
class EntryFailure:
    entry_id: int
    title: str
    reason: str
    next_try_at: datetime | None


@dataclass(frozen=True)
class SourceLine:
    """A feed as the left pane names it, and no more: there may be hundreds, on every page."""

    id: int
    title: str
    category_id: int | None
    unread: int
    failing: bool
    paused_at: datetime | None


FeedT = TypeVar("FeedT", bound=SourceLine | FeedView)


@dataclass(frozen=True)
class CategoryView(Generic[FeedT]):
    id: int
    name: str
    unread: int
    feeds: tuple[FeedT, ...]


@dataclass(frozen=True)
class SourcesView(Generic[FeedT]):
    """The left pane: categories in their order with their feeds, feeds without one, labels, and counts."""

    categories: tuple[CategoryView[FeedT], ...]
    uncategorised: tuple[FeedT, ...]
    labels: tuple[LabelView, ...]
    unread: int
    starred: int
    up: int
    failing: int

    # A page asks for them a dozen times.
    @cached_property
    def feeds(self) -> tuple[FeedT, ...]:
        return (*(feed for category in self.categories for feed in category.feeds), *self.uncategorised)


@dataclass(frozen=True)
class FoundFeedView:
    """A feed that an address led to; `subscribed` when the person has it already."""

    url: str
    title: str
    entries: int | None = None
    subscribed: bool = False


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
class MarkedRead:
    """What "all read" did. `stamp` takes exactly this back; None when nothing was unread."""

    count: int
    stamp: datetime | None


@dataclass(frozen=True)
class PreviewView:
    """What a page would become with some rules; `html` is sanitised."""

    ok: bool
    html: str = ""
    title: str = ""
    words: int = 0
    error: str = ""


@dataclass(frozen=True)
class FeedSettings:
    """What is common to all subscribers of a feed. None lets it adapt."""

    full_text: bool = True
    rules: tuple[ExtractionRule, ...] = ()
    interval: timedelta | None = None
    entry_limit: int | None = None
