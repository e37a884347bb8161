"""A list as its address names it, and the addresses that lead to it and to others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query

from pressbox.curator.library.domain.views import ListKind, Selection, Sort
from pressbox.curator.reading.access import LARGEST_ID, PATH

# The year 2200: beyond it lies nothing that somebody opened.
LAST_MOMENT = 7_258_118_400_000


@dataclass(frozen=True)
class Place:
    """Where a reader is. Of a source or category only what is unread, unless `everything` is wanted."""

    selection: Selection
    everything: bool

    def query(self, *, keeping_moment: bool = True) -> str:
        """The address without its path. With the moment the list was opened: what was read since stays in it."""
        return urlencode(self.pairs(keeping_moment=keeping_moment))

    def pairs(self, *, keeping_moment: bool = True) -> Sequence[tuple[str, str]]:
        """The same, as a form carries it."""
        chosen, pairs = self.selection, {}
        if chosen.kind is not ListKind.UNREAD:
            pairs["list"] = chosen.kind.value
        if chosen.id is not None:
            pairs["id"] = str(chosen.id)
        if self.everything:
            pairs["all"] = "1"
        if chosen.sort is not Sort.NEWEST:
            pairs["sort"] = chosen.sort.value
        if chosen.query:
            pairs["q"] = chosen.query
        if keeping_moment and chosen.opened_at is not None:
            pairs["at"] = str(milliseconds(chosen.opened_at))
        return tuple(pairs.items())

    def elsewhere(self, kind: ListKind, id: int | None = None) -> str:
        """Another list, in the same order."""
        sort = Sort.NEWEST if self.selection.sort is Sort.RELEVANCE else self.selection.sort
        return _address(Place(Selection(kind=kind, id=id, sort=sort), everything=False).query())

    def ordered(self, sort: Sort) -> str:
        """The same list anew in another order."""
        return _address(self._changed(sort=sort).query(keeping_moment=False))

    def with_everything(self, everything: bool) -> str:
        return _address(replace(self._changed(), everything=everything).query(keeping_moment=False))

    def without_words(self) -> str:
        return _address(self._changed(query="").query(keeping_moment=False))

    def is_at(self, kind: ListKind, id: int | None = None) -> bool:
        return self.selection.kind is kind and self.selection.id == id and not self.selection.query

    def _changed(self, **changes: Any) -> "Place":
        return replace(self, selection=replace(self.selection, **changes))


def place(
    list: Annotated[ListKind, Query()] = ListKind.UNREAD,
    id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    all: Annotated[bool, Query()] = False,
    sort: Annotated[Sort, Query()] = Sort.NEWEST,
    q: Annotated[str, Query(max_length=500)] = "",
    at: Annotated[int | None, Query(ge=0, le=LAST_MOMENT)] = None,
) -> Place:
    words = " ".join(q.split())
    named = list.named and id is not None
    # A search looks at everything that the person has, read or not; a list that lost its id is the first one.
    kind = list if named or not list.named else ListKind.UNREAD
    if words and kind is ListKind.UNREAD:
        kind = ListKind.ALL
    chosen = Selection(
        kind=kind,
        id=id if named else None,
        unread_only=kind in (ListKind.FEED, ListKind.CATEGORY) and not all and not words,
        sort=sort,
        query=words,
        opened_at=moment(at) if at is not None else datetime.now(UTC),
    )
    return Place(chosen, all)


Here = Annotated[Place, Depends(place)]


def milliseconds(value: datetime) -> int:
    return int(value.timestamp() * 1000)


def moment(value: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)


def _address(query: str) -> str:
    return f"{PATH}?{query}" if query else PATH
