"""The Google Reader API: signing in, the account, subscriptions, streams and tags of items."""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from pressbox.core.errors import InvalidInputError, NotFoundError, NotSignedInError, PermanentError, TransientError
from pressbox.core.web.identity import client_of
from pressbox.curator.apps.domain import (
    FEED,
    LABEL,
    READING_LIST,
    STARRED,
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
from pressbox.curator.apps.reader_api_access import (
    FORM,
    App,
    AppRoute,
    Apps,
    Asking,
    Values,
    checked_stream,
    done,
    packed,
    said,
    values_of,
)
from pressbox.curator.apps.service import MOST_CONTENTS, MOST_REFERENCES
from pressbox.curator.sources.domain import FeedView

router = APIRouter(include_in_schema=False, route_class=AppRoute)

API = "/reader/api/0"
# As long as the first reader's were; some apps check that.
TOKEN_LENGTH = 57


@router.post("/accounts/ClientLogin")
@router.get("/accounts/ClientLogin")
async def sign_in(request: Request, apps: Apps) -> Response:
    """The same refusal for an unknown person and a wrong password."""
    values = await values_of(request)
    # A password in an address ends up in the logs of proxies: only a body counts.
    email, password = (values.one("Email"), values.one("Passwd")) if request.method == "POST" else ("", "")
    try:
        token = await apps.sign_in(email, password, client_of(request))
    except NotSignedInError:
        return PlainTextResponse("Error=BadAuthentication\n", HTTPStatus.UNAUTHORIZED)
    if values.one("output") == "json":
        return JSONResponse({"SID": token, "LSID": token, "Auth": token})
    return PlainTextResponse(f"SID={token}\nLSID={token}\nAuth={token}\n")


@router.get(f"{API}/token")
@router.post(f"{API}/token")
async def action_token(app: Asking) -> Response:
    """Apps send it with every change. It proves nothing beyond the header that comes with it, so we do not ask for it:
    no browser sends that header by itself."""
    shown = hashlib.sha256(f"{app.user_id}".encode()).hexdigest()[:TOKEN_LENGTH]
    return PlainTextResponse(shown)


@router.get(f"{API}/user-info")
@router.get("/reader/user-info")
async def user_info(app: Asking) -> Response:
    person = app.person
    return said(
        app,
        {
            "userId": str(person.user_id),
            "userName": person.name or person.email,
            "userProfileId": str(person.user_id),
            "userEmail": person.email,
            "isBloggerUser": False,
            "signupTimeSec": int(person.since.timestamp()),
            "isMultiLoginEnabled": False,
        },
    )


@router.get("/reader/ping")
async def ping(app: Asking) -> Response:
    return PlainTextResponse("OK")


@router.get(f"{API}/preference/list")
async def preferences(app: Asking) -> Response:
    return said(app, {"prefs": []})


@router.get(f"{API}/preference/stream/list")
async def stream_preferences(app: Asking) -> Response:
    return said(app, {"streamprefs": {}})


@router.get(f"{API}/friend/list")
async def friends(app: Asking) -> Response:
    return said(app, {"friends": []})


@router.get(f"{API}/subscription/list")
async def subscriptions(app: Asking) -> Response:
    sources = await app.sources.sources(app.user_id)
    return said(app, {"subscriptions": [_subscription(feed) for feed in sources.feeds]})


@router.post(f"{API}/subscription/edit")
async def edit_subscription(app: Asking) -> Response:
    values = app.values
    titles = values.many("t")
    named = values.streams("s")
    if not named or any(stream.kind is not StreamKind.FEED for stream in named):
        raise InvalidInputError("Name feeds with s.", field="s")
    streams, action = app.streams, values.one("ac")
    for place, stream in enumerate(named):
        title = titles[place] if place < len(titles) else ""
        if action == "subscribe":
            await streams.subscribe(app.user_id, stream, title, _tag(values, "a"))
        elif action == "unsubscribe":
            await streams.unsubscribe(app.user_id, stream)
        elif action == "edit":
            left = [one.name for one in values.streams("r") if one.kind is StreamKind.TAG]
            await streams.place(app.user_id, stream, title=title, folder=_tag(values, "a"), left=left)
        else:
            raise InvalidInputError("ac is subscribe, unsubscribe or edit.", field="ac")
    return done()


@router.post(f"{API}/subscription/quickadd")
async def quick_add(app: Asking) -> Response:
    """Any address of a site; the feed is looked for."""
    address = app.values.one("quickadd").removeprefix(FEED)
    try:
        feed = await app.sources.add(app.user_id, address)
    except (InvalidInputError, NotFoundError, PermanentError, TransientError) as error:
        return said(app, {"query": address, "numResults": 0, "error": error.message})
    told: dict[str, Json] = {
        "query": address,
        "numResults": 1,
        "streamId": f"{FEED}{feed.id}",
        "streamName": feed.title,
    }
    return said(app, told)


@router.get(f"{API}/subscription/export")
async def export(app: Asking) -> Response:
    return Response(await app.outlines.export(app.user_id), media_type="text/x-opml; charset=utf-8")


@router.post(f"{API}/subscription/import")
async def import_(app: Asking, request: Request) -> Response:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    content = await request.body()
    # Some apps call everything a form; an outline begins with a tag all the same.
    if sent == FORM and not content.lstrip().startswith(b"<"):
        content = app.values.one("opml").encode()
    report = await app.outlines.take(app.user_id, content)
    return Response(f"OK: {report.added + report.known}", media_type="text/plain; charset=utf-8")


@router.get(f"{API}/tag/list")
async def tags(app: Asking) -> Response:
    sources = await app.sidebar.load(app.user_id)
    told: list[Json] = [{"id": STARRED, "sortid": "01"}]
    told += [{"id": f"{LABEL}{one.name}", "type": "folder", "unread_count": one.unread} for one in sources.categories]
    folders = {one.name for one in sources.categories}
    told += [{"id": f"{LABEL}{one.name}", "type": "tag"} for one in sources.labels if one.name not in folders]
    return said(app, {"tags": told})


@router.post(f"{API}/rename-tag")
async def rename_tag(app: Asking) -> Response:
    await app.streams.rename_tag(app.user_id, _named(app, "s", "t"), _named(app, "dest", ""))
    return done()


@router.post(f"{API}/disable-tag")
async def disable_tag(app: Asking) -> Response:
    await app.streams.delete_tag(app.user_id, _named(app, "s", "t"))
    return done()


def _subscription(feed: FeedView) -> dict[str, Json]:
    folder = [{"id": f"{LABEL}{feed.category}", "label": feed.category}] if feed.category else []
    return {
        "id": f"{FEED}{feed.id}",
        "title": feed.title,
        "categories": folder,
        "sortid": f"{feed.id:08X}",
        "firstitemmsec": str(microseconds(feed.subscribed_at) // 1000),
        "url": feed.url,
        "htmlUrl": feed.site_url,
        "iconUrl": feed.icon_url,
    }


def _tag(values: Values, name: str) -> str:
    return next((one.name for one in values.streams(name) if one.kind is StreamKind.TAG), "")


def _named(app: App, full: str, bare: str) -> str:
    """A tag by its full name or, where apps do so, by what people call it."""
    text = app.values.one(full)
    if not text and bare and app.values.one(bare):
        return app.values.one(bare)
    stream = checked_stream(text)
    if stream.kind is not StreamKind.TAG:
        raise InvalidInputError("Only folders and labels can be changed.", field=full)
    return stream.name


SHOWN = 20


@router.get(f"{API}/stream/items/ids")
@router.post(f"{API}/stream/items/ids")
async def item_ids(app: Asking) -> Response:
    page = await app.streams.references(app.user_id, _query(app, app.values.one("s"), MOST_REFERENCES))
    return await asyncio.to_thread(_references, app, page)


@router.get(f"{API}/stream/items/contents")
@router.post(f"{API}/stream/items/contents")
async def item_contents(app: Asking) -> Response:
    page = await app.streams.some(app.user_id, _entry_ids(app))
    return await asyncio.to_thread(_contents, app, READING_LIST, page)


@router.get(f"{API}/stream/contents")
@router.post(f"{API}/stream/contents")
@router.post(f"{API}/stream/contents/{{stream:path}}")
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


@router.api_route("/reader/api/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
async def unknown(app: Asking, path: str) -> Response:
    """Last of all: apps that ask for what there is not, or by another method, get no page of ours."""
    raise NotFoundError(f"There is no {app.request.method} {path} here.")


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
