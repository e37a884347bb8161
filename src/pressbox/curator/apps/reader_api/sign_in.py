"""How a reader app signs in, and what it asks about the person."""

import hashlib
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from pressbox.core.errors import NotSignedInError
from pressbox.core.web.identity import client_of
from pressbox.curator.apps.reader_api.requests import AppRoute, Apps, Asking, values_of
from pressbox.curator.apps.reader_api.responses import said

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
