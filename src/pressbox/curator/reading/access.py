"""What the pages of the reader ask of a request: who reads, which list they are at, and what they may load."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import Field

from pressbox.core.config import Settings
from pressbox.core.errors import InvalidInputError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.api_models import RequestBody
from pressbox.core.web.identity import SignedInIdentity, is_secure
from pressbox.core.web.security import CONTENT_SECURITY_POLICY
from pressbox.curator.names import PATH as PATH
from pressbox.curator.reading.domain import ListKind, Selection, Sort
from pressbox.curator.reading.pictures import picture_addresses
from pressbox.curator.settings import CuratorSettings

LARGEST_ID = 2**63 - 1
EntryId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
FeedId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
# An id inside a body.
Identifier = Annotated[int, Field(ge=1, le=LARGEST_ID)]

Reader = SignedInIdentity

IMAGES_COOKIE = "pressbox_images"


class NameBody(RequestBody):
    name: str


async def cursor(request: Request) -> int:
    """Return where a page begins to follow changes. Read it before the page's data, so that no change is missed."""
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()


def wants_images(request: Request) -> bool:
    return request.cookies.get(IMAGES_COOKIE) != "off"


def proxies_images(request: Request) -> bool:
    settings: Settings = request.app.state.settings
    return settings.group(CuratorSettings).picture_proxy


def allow_images(request: Request, page: HTMLResponse) -> HTMLResponse:
    """Show pictures of publishers in articles, unless the person switched them off.

    They come through us, so the browser may still ask nobody else; without the proxy it may ask the publishers.
    """
    if not wants_images(request):
        return page
    settings: Settings = request.app.state.settings
    if proxies_images(request):
        page.body = picture_addresses(settings).rewrite(bytes(page.body).decode()).encode()
        page.headers["content-length"] = str(len(page.body))
    else:
        # Over https a browser would not load pictures over http anyway.
        sources = "https:" if is_secure(settings) else "https: http:"
        policy = CONTENT_SECURITY_POLICY.replace("img-src 'self' data:", f"img-src 'self' data: {sources}")
        page.headers["content-security-policy"] = policy
    return page


def wants_part(request: Request) -> bool:
    """Whether our script asks, which needs only the changed part; a plain form gets a page."""
    return "x-part" in request.headers


# The year 2200: later times in an address are wrong.
LAST_MOMENT = 7_258_118_400_000


@dataclass(frozen=True)
class Place:
    """The list that a person is at. Of a source or category only unread entries, unless `everything` is wanted."""

    selection: Selection
    everything: bool

    def query(self, *, keep_moment: bool = True) -> str:
        """Return the query of the address. With the moment the list was opened, entries read since stay in it."""
        return urlencode(self.pairs(keep_moment=keep_moment))

    def pairs(self, *, keep_moment: bool = True) -> Sequence[tuple[str, str]]:
        """Return the same values, as form fields."""
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
        if keep_moment and chosen.opened_at is not None:
            pairs["at"] = str(milliseconds(chosen.opened_at))
        return tuple(pairs.items())

    def elsewhere(self, kind: ListKind, id: int | None = None) -> str:
        """Return the address of another list, in the same order."""
        sort = Sort.NEWEST if self.selection.sort is Sort.RELEVANCE else self.selection.sort
        return _address(Place(Selection(kind=kind, id=id, sort=sort), everything=False).query())

    def around_id(self, kind: ListKind) -> tuple[str, str]:
        """Return the address of other lists of this kind, before and after their id: a page has hundreds of them."""
        before, after = self.elsewhere(kind, 0).split("=0", 1)
        return f"{before}=", after

    def ordered(self, sort: Sort) -> str:
        """Return the address of the same list in another order."""
        return _address(self._changed(sort=sort).query(keep_moment=False))

    def with_everything(self, everything: bool) -> str:
        return _address(replace(self._changed(), everything=everything).query(keep_moment=False))

    def without_words(self) -> str:
        return _address(self._changed(query="").query(keep_moment=False))

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
    # A search covers everything that the person has, read or not; a list without its id is the first one.
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


def read_number(text: str, field: str) -> int:
    """Return the whole number that somebody typed into a form."""
    stripped = text.strip()
    if not stripped.isascii() or not stripped.isdigit() or len(stripped) > 18:
        raise InvalidInputError("Write a whole number.", field=field)
    return int(stripped)
