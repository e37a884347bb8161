"""The embedded Temporal's own web UI under /temporal/, for administrators: the server itself nobody else reaches."""

import base64
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote, unquote

import httpx
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from pressbox.core.accounts.audit import Action, AuditLog
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.core.temporal.client import socket_of
from pressbox.core.web.identity import actor_of
from pressbox.core.web.pages.access import Administrator, Parts
from pressbox.core.web.security import CONTENT_SECURITY_POLICY

PREFIX = "/temporal"
# The UI waits for news of a workflow for up to a minute.
_SECONDS = 75.0
_NAMED_BY_CONTENT = "_app/immutable/"
_CSRF_COOKIE = "_csrf"
# What the UI needs to know of a request. Our own cookies and credentials are none of its business.
_PASSED_ON = frozenset({"accept", "accept-language", "content-type", "if-none-match", "x-csrf-token", "caller-type"})
_PASSED_BACK = frozenset({"content-type", "etag", "location", "cache-control"})
# A workflow's id may be encoded once more than its page; nothing of ours is oftener.
_MOST_ENCODED = 3
_SLASHES = re.compile(r"[/\\]")
_INLINE_SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)

router = APIRouter(include_in_schema=False)


@router.get(PREFIX)
async def temporal_home(identity: Administrator) -> RedirectResponse:
    return RedirectResponse(f"{PREFIX}/", status_code=HTTPStatus.TEMPORARY_REDIRECT)


@router.api_route(f"{PREFIX}/{{path:path}}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def temporal_ui(request: Request, parts: Parts, identity: Administrator, path: str) -> Response:
    """Pass the request on. Who may, from which page and by which name was checked before, as for every page."""
    socket = socket_of(parts.settings.temporal.address or "")
    if socket is None:
        raise NotFoundError("Temporal runs elsewhere, and so does its web UI.")
    if not stays_below(path):
        raise NotFoundError("There is nothing at this address.")
    if _opens_a_page(request, path):
        await AuditLog(parts.database).record(Action.TEMPORAL_UI_OPENED, actor_of(request))
    stack = AsyncExitStack()
    try:
        answer = await stack.enter_async_context(_Exchange(socket, request, quote(path, safe="/:@!$&+,;=~")))
    except httpx.HTTPError as error:
        await stack.aclose()
        raise TransientError("Temporal's web UI does not answer. Try again in a moment.") from error
    if answer.status_code == HTTPStatus.NOT_FOUND and "content-type" not in answer.headers:
        await stack.aclose()
        raise NotFoundError(
            "Temporal's web UI is off, because this system gives Temporal no network of its own. "
            "`pressbox doctor` says more."
        )
    return await _pass_back(path, answer, stack)


def stays_below(path: str) -> bool:
    """Whether this leads nowhere but down, however the server that we ask decodes it."""
    for _ in range(_MOST_ENCODED):
        if any(part in (".", "..") for part in _SLASHES.split(path)):
            return False
        decoded = unquote(path)
        if decoded == path:
            return True
        path = decoded
    return False


def _opens_a_page(request: Request, path: str) -> bool:
    """What a person opens, and not what the page loads for itself."""
    return request.method == "GET" and not path.startswith(("_app/", "api/")) and _wants_html(request)


def _wants_html(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


class _Exchange:
    """One request over a connection of its own."""

    def __init__(self, socket: Path, request: Request, path: str) -> None:
        self._client = httpx.AsyncClient(
            # No TLS on a socket of our own, so no authorities to load.
            transport=httpx.AsyncHTTPTransport(uds=str(socket), verify=False, trust_env=False),
            timeout=_SECONDS,
        )
        self._request = request
        self._url = httpx.URL(f"http://temporal.invalid{PREFIX}/{path}", query=request.url.query.encode())

    async def __aenter__(self) -> httpx.Response:
        headers = {name: value for name, value in self._request.headers.items() if name in _PASSED_ON}
        token = self._request.cookies.get(_CSRF_COOKIE)
        outgoing = self._client.build_request(
            self._request.method,
            self._url,
            headers={
                **headers,
                "accept-encoding": "identity",
                **({"cookie": f"{_CSRF_COOKIE}={token}"} if token else {}),
            },
            content=await self._request.body(),
        )
        return await self._client.send(outgoing, stream=True)

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()


async def _pass_back(path: str, answer: httpx.Response, stack: AsyncExitStack) -> Response:
    headers = {name: value for name, value in answer.headers.items() if name in _PASSED_BACK}
    if path.startswith(_NAMED_BY_CONTENT):
        headers["cache-control"] = "private, max-age=31536000, immutable"
    if answer.headers.get("content-type", "").startswith("text/html"):
        async with stack:
            page = await answer.aread()
        headers["content-security-policy"] = content_security_policy(page)
        response = Response(page, answer.status_code, headers)
    else:
        response = StreamingResponse(_pieces(answer, stack), answer.status_code, headers)
    for cookie in answer.headers.get_list("set-cookie"):
        if cookie.startswith(f"{_CSRF_COOKIE}="):
            response.headers.append("set-cookie", cookie)
    return response


async def _pieces(answer: httpx.Response, stack: AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        async for piece in answer.aiter_raw():
            yield piece


def content_security_policy(page: bytes) -> str:
    """Ours, with what this UI cannot do without: the very scripts of its page, and styles that its scripts set."""
    scripts = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
        for script in _INLINE_SCRIPT.findall(page)
    )
    replaced = {
        "script-src 'self'": f"script-src 'self' {scripts}".strip(),
        "style-src 'self'": "style-src 'self' 'unsafe-inline'",
        "font-src 'self'": "font-src 'self' data:",
    }
    return "; ".join(replaced.get(rule, rule) for rule in CONTENT_SECURITY_POLICY.split("; "))
