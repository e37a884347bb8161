"""Streams for reader apps: ids, contents, counts of what is unread, and tags of items."""

import asyncio
import time
from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.responses import Response

from pressbox.core.errors import InvalidInputError
from pressbox.curator.apps.domain import (
    FEED,
    LABEL,
    READING_LIST,
    Contents,
    References,
    Stream,
    StreamKind,
    StreamQuery,
    microseconds,
    read_item_id,
    read_moment,
    read_seconds,
)
from pressbox.curator.apps.formats import Json, Told, atom, item, reference
from pressbox.curator.apps.reader_api import API
from pressbox.curator.apps.reader_api_access import App, AppRoute, Asking, checked_stream, done, packed, said
from pressbox.curator.apps.stream_service import MOST_CONTENTS, MOST_REFERENCES

router = APIRouter(include_in_schema=False, route_class=AppRoute)

SHOWN = 20


@router.get(f"{API}/stream/items/ids")
async def item_ids(app: Asking) -> Response:
    page = await app.streams.references(app.user_id, _query(app, app.values.one("s"), MOST_REFERENCES))
    return await asyncio.to_thread(_references, app, page)


@router.get(f"{API}/stream/items/contents")
@router.post(f"{API}/stream/items/contents")
async def item_contents(app: Asking) -> Response:
    page = await app.streams.some(app.user_id, _entry_ids(app))
    return await asyncio.to_thread(_contents, app, READING_LIST, page)


@router.get(f"{API}/stream/contents")
@router.get(f"{API}/stream/contents/{{stream:path}}")
async def stream_contents(app: Asking, stream: str = "") -> Response:
    named = stream or app.values.one("s")
    page = await app.streams.contents(app.user_id, _query(app, named, MOST_CONTENTS))
    return await asyncio.to_thread(_contents, app, named or READING_LIST, page)


@router.get("/reader/atom/{stream:path}")
async def stream_atom(app: Asking, stream: str) -> Response:
    """The same as a feed, for apps that read it with their parser of feeds."""
    page = await app.streams.contents(app.user_id, _query(app, stream, MOST_CONTENTS))
    return await asyncio.to_thread(_atom, app, stream, page)


@router.get(f"{API}/unread-count")
async def unread_count(app: Asking) -> Response:
    sources = await app.sources.sources(app.user_id)
    newest = {feed.id: microseconds(feed.health.last_new_at) for feed in sources.feeds if feed.health.last_new_at}
    counts = [_count(f"{FEED}{feed.id}", feed.unread, newest.get(feed.id, 0)) for feed in sources.feeds if feed.unread]
    counts += [
        _count(f"{LABEL}{one.name}", one.unread, max((newest.get(feed.id, 0) for feed in one.feeds), default=0))
        for one in sources.categories
        if one.unread
    ]
    counts.append(_count(READING_LIST, sources.unread, max(newest.values(), default=0)))
    return said(app, {"max": 1000, "unreadcounts": counts})


@router.post(f"{API}/edit-tag")
async def edit_tag(app: Asking) -> Response:
    values = app.values
    added, removed = values.streams("a"), values.streams("r")
    if not added and not removed:
        raise InvalidInputError("Say what to add (a) or to remove (r).", field="a")
    await app.streams.tag(app.user_id, _entry_ids(app), added, removed)
    return done()


@router.post(f"{API}/mark-all-as-read")
async def mark_all_as_read(app: Asking) -> Response:
    stream = checked_stream(app.values.one("s"))
    said_until = app.values.one("ts")
    until = read_moment(said_until) if said_until else None
    if said_until and until is None:
        raise InvalidInputError("ts is a moment in microseconds.", field="ts")
    await app.streams.mark_all_read(app.user_id, stream, until)
    return done()


def _query(app: App, named: str, most: int) -> StreamQuery:
    values = app.values
    return StreamQuery(
        stream=checked_stream(named) if named else Stream(StreamKind.ALL),
        including=values.streams("it"),
        excluding=values.streams("xt"),
        arrived_after=read_seconds(values.one("ot")),
        arrived_before=read_seconds(values.one("nt")),
        oldest_first=values.one("r") == "o",
        after=_continuation(values.one("c")),
        limit=values.count("n", SHOWN, most),
    )


def _continuation(text: str) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InvalidInputError("This is not a continuation. Begin anew without it.", field="c")
    return int(text)


def _entry_ids(app: App) -> Sequence[int]:
    """What cannot be one of ours is left out, as what is gone is."""
    ids = [number for text in app.values.many("i") if (number := read_item_id(text)) is not None]
    if not app.values.many("i"):
        raise InvalidInputError("Name items with i.", field="i")
    return list(dict.fromkeys(ids))


def _references(app: App, page: References) -> Response:
    """Answers of megabytes are written beside the event loop: others are served meanwhile."""
    told: dict[str, Json] = {"items": [], "itemRefs": [reference(one) for one in page.items]}
    if page.after is not None:
        told["continuation"] = str(page.after)
    return said(app, told)


def _contents(app: App, named: str, page: Contents) -> Response:
    if app.values.one("output") == "atom":
        return _atom(app, named, page)
    told: dict[str, Json] = {
        "id": named,
        "title": page.title,
        "direction": "ltr",
        "updated": int(time.time()),
        "items": [item(entry) for entry in page.items],
    }
    if page.after is not None:
        told["continuation"] = str(page.after)
    return said(app, told)


def _atom(app: App, named: str, page: Contents) -> Response:
    about = Told(
        id=f"tag:google.com,2005:reader/{named}",
        title=page.title or "Pressbox",
        address=str(app.request.url.replace(query="")),
        continuation=str(page.after) if page.after is not None else "",
        for_apps=True,
    )
    return packed(app.request, atom(about, page.items), "application/atom+xml; charset=utf-8")


def _count(named: str, unread: int, newest: int) -> dict[str, Json]:
    return {"id": named, "count": unread, "newestItemTimestampUsec": str(newest)}
