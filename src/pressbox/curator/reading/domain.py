"""What one person sees of lists and articles: the chosen list, its entries, an article, and the sources beside it."""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Annotated, Generic, NamedTuple, Protocol, TypeVar

from pydantic import Field

from pressbox.core.errors import InvalidInputError
from pressbox.core.spoilers.titles import GuardedMatch, find_told
from pressbox.curator.library.domain import CrawlOutcome, DistilState, Enclosure, FetchState
from pressbox.curator.text.plain_text import to_plain_text

LONGEST_NAME = 200


class ListKind(StrEnum):
    """Which entries a list shows. The last three name one category, feed or label by its id."""

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
    """The list that a person chose: its kind and id, the order, and words to search for.

    With `opened_at` an unread list still has what was read after that moment: what was read in this view stays in
    place until the view changes.
    """

    kind: ListKind = ListKind.ALL
    id: int | None = None
    unread_only: bool = False
    sort: Sort = Sort.NEWEST
    query: str = ""
    opened_at: datetime | None = None
    # Only entries with a text that the graph has, or lacks; None shows both.
    graph_added: bool | None = None

    @property
    def wants_unread(self) -> bool:
        return self.unread_only or self.kind is ListKind.UNREAD

    @property
    def is_made_of_feeds(self) -> bool:
        """Whether every entry of certain feeds is in this list, whatever the person did with it."""
        return (
            not self.wants_unread
            and self.graph_added is None
            and self.kind in (ListKind.ALL, ListKind.CATEGORY, ListKind.FEED)
        )


@dataclass(frozen=True)
class Label:
    id: int
    name: str


@dataclass(frozen=True)
class CountedLabel(Label):
    entries: int


@dataclass(frozen=True)
class SourceOfStory:
    """The same article as another of the person's feeds brought it."""

    entry_id: int
    feed_id: int
    feed_title: str
    url: str


@dataclass(frozen=True)
class EntryItem:
    """One line of a list. A story that came from several of your feeds is one line.

    A field that is called like a column of the entry is read from there.
    """

    id: int
    feed_id: int
    feed_title: str
    title: str
    url: str
    author: str
    language: str
    published_at: datetime
    dated: Annotated[
        bool, Field(description="false: the feed gave no usable date, and this is when it was first seen.")
    ]
    summary: str
    thumbnail_url: str
    words: int
    fetch_state: FetchState
    distil_state: DistilState
    read: bool
    starred: bool
    preference: Annotated[Preference, Field(description="-1, 0 or 1.")]
    has_note: bool
    labels: tuple[Label, ...]
    others: Annotated[tuple[SourceOfStory, ...], Field(description="The same story in your other feeds.")]
    title_html: Annotated[str, Field(description="Of a search: escaped, with the hits in <mark>.")]
    snippet_html: str
    covered: Annotated[
        str, Field(description="The title tells the score of this subject, which you hide; the match stands instead.")
    ] = field(default="", kw_only=True)


def cover_titles(items: Sequence[EntryItem], guarded: Sequence[GuardedMatch]) -> list[EntryItem]:
    """Lines whose words tell a score that the person hides say only which match they are about."""
    return [_cover(item, guarded) for item in items]


def _cover(item: EntryItem, guarded: Sequence[GuardedMatch]) -> EntryItem:
    match = find_told(f"{item.title}\n{item.summary}", guarded) if guarded else None
    if match is None:
        return item
    # An address often has the words of the title in it.
    others = tuple(replace(other, url="") for other in item.others)
    return replace(item, title=match.heading, summary="", url="", others=others, covered=match.subject)


class ListNote(StrEnum):
    """Why a list is not quite what was asked for; pages say it in words."""

    NONE = ""
    NOTHING_MARKED_UP = "nothing marked up"  # no taste to recommend by: the newest first instead
    NO_VECTORS = "no vectors"  # what was marked up has no vector of the present model yet


@dataclass(frozen=True)
class EntryPage:
    items: tuple[EntryItem, ...]
    after: Annotated[str | None, Field(description="Ask for the next page with it; null at the end.")]
    sort: Annotated[Sort, Field(description="How it is sorted; not always as asked for, then `note` says why.")]
    note: ListNote
    total: Annotated[int | None, Field(description="Of a search only.")]


@dataclass(frozen=True)
class ArticleView(EntryItem):
    """One entry, opened."""

    body_html: Annotated[str, Field(description="Sanitised.")]
    from_feed: Annotated[bool, Field(description="The feed's own text: there is no other, or not yet.")]
    site_url: str
    note: Annotated[str, Field(description="Yours, and seen by nobody else.")]
    enclosures: tuple[Enclosure, ...]
    fetch_reason: str
    next_fetch_at: datetime | None
    distil_reason: str
    distil_model: Annotated[str, Field(description="What made the summary.")]
    first_seen_at: datetime
    updated_at: datetime
    story_id: Annotated[int | None, Field(exclude=True)] = None
    # Neighbours in the list from which it was opened.
    previous_id: Annotated[int | None, Field(exclude=True)] = None
    next_id: Annotated[int | None, Field(exclude=True)] = None

    @property
    def is_extract(self) -> bool:
        """Whether the summary consists of sentences of the article."""
        return self.distil_model in ("", "extractive", "extract")

    @property
    def gist(self) -> str:
        """The summary to show above the text: without sentences that stand right below it anyway."""
        return (
            drop_opening(self.summary, to_plain_text(self.body_html[:OPENING_HTML]))
            if self.is_extract
            else self.summary
        )


@dataclass(frozen=True)
class OfflineMark:
    """What somebody did with an entry while there was no network; None was left as it was."""

    key: str
    entry_id: int
    read: bool | None = None
    starred: bool | None = None


@dataclass(frozen=True)
class MarkedRead:
    """What "all read" did; without a stamp nothing was unread."""

    count: int
    stamp: Annotated[datetime | None, Field(description="Takes it back at /entries/all-read/undo.")]


class SourceLine(NamedTuple):
    """A feed as the left pane names it, and no more: there may be hundreds, on every page."""

    id: int
    title: str
    category_id: int | None
    unread: int
    outcome: CrawlOutcome | None
    reason: str
    paused_at: datetime | None

    @property
    def failing(self) -> bool:
        return self.outcome is not None and self.outcome.failed


class ListedFeed(Protocol):
    """A feed in a category, as much of it as counting needs."""

    @property
    def id(self) -> int: ...

    @property
    def title(self) -> str: ...

    @property
    def category_id(self) -> int | None: ...

    @property
    def unread(self) -> int: ...

    @property
    def failing(self) -> bool: ...


FeedT = TypeVar("FeedT", bound=ListedFeed)


@dataclass(frozen=True)
class CategoryView(Generic[FeedT]):
    id: int
    name: str
    unread: int
    feeds: Annotated[tuple[FeedT, ...], Field(exclude=True)]


@dataclass(frozen=True)
class SourcesView(Generic[FeedT]):
    """All that you read, with counts: categories in their order, then feeds without one."""

    categories: tuple[CategoryView[FeedT], ...]
    feeds: tuple[FeedT, ...]
    labels: tuple[CountedLabel, ...]
    unread: int
    starred: int
    up: int
    failing: int

    @cached_property
    def uncategorised(self) -> tuple[FeedT, ...]:
        return tuple(feed for feed in self.feeds if feed.category_id is None)

    def name(self, selection: Selection) -> str:
        """Return what the chosen feed, category or label is called; empty when it is gone, or nothing is named."""
        match selection.kind:
            case ListKind.FEED:
                return next((feed.title for feed in self.feeds if feed.id == selection.id), "")
            case ListKind.CATEGORY:
                return next((category.name for category in self.categories if category.id == selection.id), "")
            case ListKind.LABEL:
                return next((label.name for label in self.labels if label.id == selection.id), "")
            case _:
                return ""


NO_ENTRIES = EntryPage((), None, Sort.NEWEST, ListNote.NONE, None)


def check_name(name: str) -> str:
    """Return the name of a category, label or app without blanks around it."""
    if not name.strip():
        raise InvalidInputError("Write a name.", field="name")
    return check_length(name, "name")


def check_length(text: str, field: str) -> str:
    stripped = text.strip()
    if len(stripped) > LONGEST_NAME:
        raise InvalidInputError(f"At most {LONGEST_NAME} characters.", field=field)
    return stripped


OPENING_HTML = 6_000
# What a reader sees without scrolling.
OPENING = 500
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_NOT_WORDS = re.compile(r"[\W_]+")


def drop_opening(summary: str, text: str) -> str:
    """An extract without those of its sentences with which the text begins."""
    opening = _NOT_WORDS.sub("", text[:OPENING]).lower()
    kept = [one for one in _SENTENCES.split(summary) if _NOT_WORDS.sub("", one).lower() not in opening]
    between = "" if summary and summary[-1] in "。！？" else " "
    return between.join(kept)


def fold_copies(ranked: Sequence[int], facts: Mapping[int, Sequence[Hashable]]) -> dict[int, int]:
    """Return, of ranked entries, those that share a fact with an earlier one, and that one. Empty facts say nothing."""
    first: dict[Hashable, int] = {}
    copies: dict[int, int] = {}
    for entry_id in ranked:
        keys = [(kind, fact) for kind, fact in enumerate(facts.get(entry_id, ())) if fact]
        original = next((first[key] for key in keys if key in first), entry_id)
        for key in keys:
            first.setdefault(key, original)
        if original != entry_id:
            copies[entry_id] = original
    return copies
