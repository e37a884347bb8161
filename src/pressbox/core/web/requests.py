"""The outermost layer of the web application: request id, client, safe headers, counts; no error gets past it."""

import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars, unbind_contextvars

from pressbox.core.accounts.trusted_header import read_person
from pressbox.core.config import Settings
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.tracing import trace_request
from pressbox.core.web import errors, metrics
from pressbox.core.web.addresses import client_address, host_name, is_trusted, trusted_networks, untrusted_proxy
from pressbox.core.web.identity import is_loopback
from pressbox.core.web.security import SECURITY_HEADERS

log = get_logger(__name__)

_FORWARDING_HEADERS = ("x-forwarded-for", "forwarded", "x-real-ip", "x-forwarded-host")
_PROBES = frozenset({"/healthz", "/readyz"})


class RequestContext:
    """Gives each request its id and its client, and each answer its headers; failures get a line in the log."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._trusted = trusted_networks(settings.web)
        self._header = settings.trusted_header

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        self._note_client(scope)
        answer = _Answer(send, request_id)
        begun = time.perf_counter()
        with bound_contextvars(request_id=request_id):
            try:
                with trace_request(scope, lambda: answer.status):
                    await self._app(scope, receive, answer.send)
            finally:
                answer.account_for(scope, time.perf_counter() - begun)
                unbind_contextvars("person_id")

    def _note_client(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        peer = (scope.get("client") or ("", 0))[0]
        state = scope["state"]
        state["client_address"] = client_address(peer, headers.getlist("x-forwarded-for"), self._trusted)
        # Somebody behind a proxy on this machine also looks like loopback, but is not here: the proxy says so in a
        # header of its own, or by the public name in the Host header.
        forwarded = any(name in headers for name in _FORWARDING_HEADERS)
        named_here = is_loopback(host_name(headers.get("host", "")) or "")
        state["direct_loopback"] = is_loopback(peer) and named_here and not forwarded
        state["untrusted_proxy"] = untrusted_proxy(peer, "x-forwarded-for" in headers, self._trusted)
        scheme = headers.get("x-forwarded-proto", "")
        if scheme in ("http", "https") and is_trusted(peer, self._trusted):
            scope["scheme"] = scheme
        if self._header.enabled and is_trusted(peer, self._trusted):
            named = (self._header.user, self._header.email, self._header.name, self._header.groups)
            state["proxy_person"] = read_person(self._header, {name.lower(): headers.getlist(name) for name in named})


class _Answer:
    """Watches an answer on its way out."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._request_id = send, request_id
        self.status = 0
        self._streamed = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            headers["x-request-id"] = self._request_id
            self._streamed = headers.get("content-type", "").startswith("text/event-stream")
        await self._send(message)

    def account_for(self, scope: Scope, seconds: float) -> None:
        if not self.status:
            # The client went away before there was an answer.
            return
        route = getattr(scope.get("route"), "path", "unmatched")
        metrics.observe(scope["method"], route, self.status, seconds, streamed=self._streamed)
        # Probes ask every few seconds, and what they hear is in the log already.
        if self.status >= 400 and scope["path"] not in _PROBES:
            write = log.warning if self.status >= 500 else log.info
            write(
                "request_refused",
                msg=f"{scope['method']} answered with {self.status}",
                path=errors.describe_path(scope),
                status=self.status,
                milliseconds=round(seconds * 1000),
                address=scope["state"]["client_address"],
            )


class ErrorBoundary:
    """Turns what is raised outside of the routes, and every surprise, into an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        # The boundary itself: whatever is wrong, the client gets an answer and the log gets the reason.
        except Exception as error:
            if started:
                # Half an answer is out; only breaking the connection tells the client that it is not whole.
                raise
            request = Request(scope, receive)
            if isinstance(error, PressboxError):
                response = await errors.answer(request, error)
            elif isinstance(error, HTTPException):
                response = await errors.answer_http(request, error)
            else:
                response = await errors.answer_unexpected(request, error)
            await response(scope, receive, send)
