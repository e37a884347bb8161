"""The Google Reader API: signing in, the account, subscriptions and tags."""

import hashlib
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from pressbox.core.errors import InvalidInputError, NotFoundError, NotSignedInError, PermanentError, TransientError
from pressbox.core.web.identity import client_of
from pressbox.curator.apps.domain import FEED, LABEL, STARRED, StreamKind, microseconds
from pressbox.curator.apps.formats import Json
from pressbox.curator.apps.reader_api_access import (
    FORM,
    App,
    AppRoute,
    Apps,
    Asking,
    Values,
    checked_stream,
    done,
    said,
    values_of,
)
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
