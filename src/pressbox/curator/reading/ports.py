"""What people's use cases need from storage. A method is one transaction; what is not the person's is NotFoundError."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.feeds.opml import OutlineFeed
from pressbox.curator.library.domain.views import (
    ArticleView,
    CategoryView,
    CostView,
    EntryItem,
    EntryPage,
    FeedDetail,
    FeedSettings,
    FeedView,
    LabelView,
    MarkedRead,
    Preference,
    Selection,
    SourceLine,
    SourcesView,
)


@dataclass(frozen=True)
class Following:
    """What became of a subscription: its feed, and whether it is new to the person."""

    feed_id: int
    new: bool


@dataclass(frozen=True)
class Followed:
    """What became of many subscriptions; `stamp` finds the new ones again."""

    stamp: datetime
    added: tuple[int, ...]
    known: int


class Subscriptions(Protocol):
    """Who reads which feed. A feed exists once for everybody; titles and categories are each person's own."""

    async def subscribe(self, user_id: int, feed: OutlineFeed, category_id: int | None, now: datetime) -> Following:
        """The feed is due at once when it is new, or nobody read it. Twice is fine."""
        ...

    async def subscribe_many(self, user_id: int, feeds: Sequence[OutlineFeed], now: datetime) -> Followed:
        """All or none; categories are made by their names."""
        ...

    async def unsubscribe(self, user_id: int, feed_id: int, now: datetime) -> bool:
        """True when the feed itself is gone with it."""
        ...

    async def sources(self, user_id: int) -> SourcesView[FeedView]: ...

    async def pane(self, user_id: int) -> SourcesView[SourceLine]: ...

    async def feed(self, user_id: int, feed_id: int) -> FeedView: ...

    async def detail(self, user_id: int, feed_id: int, errors: int) -> FeedDetail: ...

    async def subscribed_since(self, user_id: int, stamp: datetime) -> Sequence[FeedView]:
        """Those of one import: subscribed at exactly this time."""
        ...

    async def subscribed_urls(self, user_id: int, urls: Sequence[str]) -> frozenset[str]: ...

    async def everything(self) -> Sequence[FeedView]:
        """All feeds of the instance, for whoever runs it."""
        ...

    async def demand_feed(self, feed_id: int) -> None:
        """NotFoundError when there is no such feed."""
        ...

    async def place(self, user_id: int, feed_id: int, title: str, category_id: int | None) -> None: ...

    async def change(self, user_id: int, feed_id: int, settings: FeedSettings, now: datetime) -> None: ...

    async def pause(self, user_id: int, feed_id: int, paused: bool, now: datetime) -> None: ...

    async def make_due(self, user_id: int, feed_id: int, now: datetime) -> None:
        """Also a feed that is gone or backed off."""
        ...

    async def retry_entries(self, user_id: int, feed_id: int) -> Sequence[int]:
        """The feed's entries whose fetch or distillation failed."""
        ...


class Categories(Protocol):
    async def create(self, user_id: int, name: str) -> CategoryView[FeedView]: ...

    async def rename(self, user_id: int, category_id: int, name: str) -> None: ...

    async def delete(self, user_id: int, category_id: int) -> None:
        """Its feeds stay, without a category."""
        ...

    async def arrange(self, user_id: int, category_ids: Sequence[int]) -> None:
        """The order of all of them; those that are not named come after."""
        ...


class ReadingLists(Protocol):
    """Lists and articles as one person sees them."""

    async def entries(self, user_id: int, selection: Selection, after: str | None, limit: int) -> EntryPage: ...

    async def recommended(
        self, user_id: int, selection: Selection, model: str, after: str | None, limit: int
    ) -> EntryPage: ...

    async def items(self, user_id: int, entry_ids: Sequence[int], selection: Selection) -> Sequence[EntryItem]:
        """Those of these that the list has, in the order given."""
        ...

    async def some(self, user_id: int, entry_ids: Sequence[int]) -> Sequence[EntryItem]:
        """Those of these that the person may see, in the order given."""
        ...

    async def feed_ids(self, user_id: int, selection: Selection) -> Sequence[int]: ...

    async def article(self, user_id: int, entry_id: int, selection: Selection | None = None) -> ArticleView:
        """With its neighbours in a list by date, when one is given."""
        ...

    async def opened(
        self, user_id: int, entry_id: int, selection: Selection | None, model: str, limit: int
    ) -> tuple[ArticleView, Sequence[EntryItem]]:
        """The same, and what is near in meaning."""
        ...

    async def related(self, user_id: int, entry_id: int, model: str, limit: int) -> Sequence[EntryItem]: ...


class ReadingStates(Protocol):
    """What a person did with entries. Reading one copy of a story reads all of them."""

    async def mark_read(self, user_id: int, entry_ids: Sequence[int], read: bool, now: datetime) -> None: ...

    async def mark_all_read(self, user_id: int, selection: Selection, until: datetime, now: datetime) -> MarkedRead:
        """Only what was there at `until`: later arrivals stay unread."""
        ...

    async def unmark(self, user_id: int, stamp: datetime) -> int:
        """Takes one "all read" back."""
        ...

    async def star(self, user_id: int, entry_id: int, starred: bool, now: datetime) -> None: ...

    async def prefer(self, user_id: int, entry_id: int, preference: Preference) -> None: ...

    async def note(self, user_id: int, entry_id: int, note: str) -> None: ...


class Labels(Protocol):
    async def all(self, user_id: int) -> Sequence[LabelView]: ...

    async def create(self, user_id: int, name: str) -> LabelView: ...

    async def rename(self, user_id: int, label_id: int, name: str) -> None: ...

    async def delete(self, user_id: int, label_id: int) -> None: ...

    async def put(self, user_id: int, entry_id: int, names: Sequence[str]) -> Sequence[LabelView]:
        """Exactly these; those that do not exist are made."""
        ...


class Costs(Protocol):
    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[CostView]:
        """Of the person's feeds, newest day first; None: of all."""
        ...
