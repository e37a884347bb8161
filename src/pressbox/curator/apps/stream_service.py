"""What reader apps do: synchronise streams, tag items, and put feeds into folders."""

from collections.abc import Sequence
from datetime import datetime

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.curator.apps.domain import (
    Contents,
    References,
    Stream,
    StreamKind,
    StreamQuery,
    tag_change,
)
from pressbox.curator.apps.stream_store import SqlStreams
from pressbox.curator.reading.domain import ListKind, Selection, SourceLine, SourcesView, check_name
from pressbox.curator.reading.service import MOST_AT_ONCE, StateService
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.sources.domain import FeedView
from pressbox.curator.sources.service import SourceService

MOST_REFERENCES = 10_000
MOST_CONTENTS = 1_000
MOST_TAGGED = 10_000


class StreamService:
    """Folders and labels have one kind of name in apps: a feed's tag is its folder, an item's tag its label."""

    def __init__(
        self,
        streams: SqlStreams,
        sidebar: SqlSidebar,
        sources: SourceService,
        states: StateService,
        now: Clock = utc_now,
    ) -> None:
        self._streams = streams
        self._sidebar = sidebar
        self._sources = sources
        self._states = states
        self._now = now

    async def references(self, user_id: int, query: StreamQuery) -> References:
        return await self._streams.references(user_id, query)

    async def contents(self, user_id: int, query: StreamQuery) -> Contents:
        return await self._streams.contents(user_id, query)

    async def some(self, user_id: int, entry_ids: Sequence[int]) -> Contents:
        if len(entry_ids) > MOST_CONTENTS:
            raise InvalidInputError(f"At most {MOST_CONTENTS} items at a time.", field="i")
        return await self._streams.some(user_id, entry_ids)

    async def tag(
        self, user_id: int, entry_ids: Sequence[int], added: Sequence[Stream], removed: Sequence[Stream]
    ) -> None:
        """Read, starred and labels of items; what is not the person's is left alone."""
        if len(entry_ids) > MOST_TAGGED:
            raise InvalidInputError(f"At most {MOST_TAGGED} items at a time.", field="i")
        change = tag_change(added, removed)
        if change.read is not None:
            for start in range(0, len(entry_ids), MOST_AT_ONCE):
                await self._states.mark_read(user_id, entry_ids[start : start + MOST_AT_ONCE], read=change.read)
        if change.starred is not None:
            await self._streams.star(user_id, entry_ids, change.starred, self._now())
        for name in change.labels_added:
            await self._streams.label(user_id, entry_ids, check_name(name), add=True)
        for name in change.labels_removed:
            await self._streams.label(user_id, entry_ids, name, add=False)

    async def mark_all_read(self, user_id: int, stream: Stream, until: datetime | None) -> None:
        """What had come at `until`; later arrivals stay unread."""
        for selection in await self._selections(user_id, stream):
            await self._states.mark_all_read(user_id, selection, until=until or self._now())

    async def subscribe(self, user_id: int, stream: Stream, title: str, folder: str) -> FeedView:
        """By the feed's own address: apps look for it themselves, and expect the one they found."""
        category_id = await self._folder(user_id, folder)
        return await self._sources.subscribe(user_id, stream.name, title=title, category_id=category_id)

    async def unsubscribe(self, user_id: int, stream: Stream) -> None:
        await self._sources.unsubscribe(user_id, await self._streams.feed_id(user_id, stream))

    async def place(self, user_id: int, stream: Stream, *, title: str, folder: str, left: Sequence[str]) -> None:
        """What is not said stays: another title, into a folder, or out of the one it is in."""
        feed = await self._sources.feed(user_id, await self._streams.feed_id(user_id, stream))
        category_id = feed.category_id
        if folder:
            category_id = await self._folder(user_id, folder)
        elif feed.category in left:
            category_id = None
        await self._sources.place(user_id, feed.id, title=title or feed.own_title, category_id=category_id)

    async def rename_tag(self, user_id: int, old: str, new: str) -> None:
        """A folder, a label, or both when they have the same name."""
        sources = await self._sidebar.load(user_id)
        folders, labels = _named(sources, old)
        for number in folders:
            await self._sources.rename_category(user_id, number, new)
        for number in labels:
            await self._states.rename_label(user_id, number, new)
        if not folders and not labels:
            raise NotFoundError("There is no folder and no label of this name.")

    async def delete_tag(self, user_id: int, name: str) -> None:
        folders, labels = _named(await self._sidebar.load(user_id), name)
        for number in folders:
            await self._sources.delete_category(user_id, number)
        for number in labels:
            await self._states.delete_label(user_id, number)
        if not folders and not labels:
            raise NotFoundError("There is no folder and no label of this name.")

    async def _folder(self, user_id: int, name: str) -> int | None:
        return (await self._sources.create_category(user_id, name)).id if name.strip() else None

    async def _selections(self, user_id: int, stream: Stream) -> Sequence[Selection]:
        match stream.kind:
            case StreamKind.ALL | StreamKind.UNREAD:
                return [Selection(ListKind.ALL)]
            case StreamKind.STARRED:
                return [Selection(ListKind.STARRED)]
            case StreamKind.FEED:
                return [Selection(ListKind.FEED, await self._streams.feed_id(user_id, stream))]
            case StreamKind.TAG:
                folders, labels = _named(await self._sidebar.load(user_id), stream.name)
                chosen = [(ListKind.CATEGORY, number) for number in folders]
                chosen += [(ListKind.LABEL, number) for number in labels]
                return [Selection(kind, number) for kind, number in chosen]
            case _:
                return []


def _named(sources: SourcesView[SourceLine], name: str) -> tuple[list[int], list[int]]:
    folders = [category.id for category in sources.categories if category.name == name]
    return folders, [label.id for label in sources.labels if label.name == name]
