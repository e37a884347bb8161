"""What stands before every page: which host, which origin, how much, and what the browser may do with the answer.

Pure ASGI, so that streams pass unbuffered. The decisions are functions; the classes only apply them.
"""

import re
from collections.abc import Sequence
from http import HTTPStatus
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pressbox.core.web.addresses import OwnAddresses, host_name, origin_of
from pressbox.core.web.errors import RequestError
from pressbox.core.web.identity import SAFE_METHODS, bearer_token

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "media-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    # Our own origin check falls back on it, nobody else needs it.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
MOST_HEADER_BYTES = 32_768
# Far more than browsers and proxies send: many short ones make work that their bytes do not show.
MOST_HEADERS = 200
MOST_COOKIES = 300
MOST_QUERY_FIELDS = 1000
# Forms and JSON are read at once, on the event loop. Files come in parts, which pass piece by piece.
MOST_BODY_BYTES = 256_000
# Python refuses to read numbers of thousands of digits.
LONGEST_LENGTH = 18


def origin_is_ours(
    own_origins: frozenset[str], *, origin: str | None, fetch_site: str | None, referer: str | None, has_cookie: bool
) -> bool:
    """Whether a request that changes something comes from our own pages.

    Browsers say so in one of three headers. A program says nothing, and is let through unless it carries cookies: an
    old browser might have been made to send those.
    """
    if origin is not None:
        return origin_of(origin) in own_origins
    if fetch_site is not None:
        return fetch_site in ("same-origin", "none")
    if referer is not None:
        return origin_of(referer) in own_origins
    return not has_cookie


class HostCheck:
    """Refuses names that are not ours: a page elsewhere can point its own name at this machine (DNS rebinding)."""

    def __init__(self, app: ASGIApp, own: OwnAddresses) -> None:
        self._app, self._own = app, own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._check(scope)
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        _check_size(scope)
        hosts = Headers(scope=scope).getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            raise RequestError(HTTPStatus.BAD_REQUEST, "bad_host", "The request has no usable Host header.")
        if not self._own.knows(name) and not _is_own_socket(name, scope):
            raise RequestError(
                HTTPStatus.BAD_REQUEST,
                "unknown_host",
                f"Pressbox does not answer to the name {name}. An administrator can add it to "
                "PRESSBOX_WEB_ALLOWED_HOSTS, or set PRESSBOX_WEB_PUBLIC_URL.",
            )


class OriginCheck:
    """Refuses changes that another site asks a browser for (CSRF). A bearer token is proof enough: no site has it.

    Where no cookie counts, a browser has nothing that another site could make use of.
    """

    def __init__(self, app: ASGIApp, own: OwnAddresses, cookieless: tuple[str, ...] = ()) -> None:
        self._app, self._own, self._cookieless = app, own, cookieless

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changes = scope["type"] == "http" and scope["method"] not in SAFE_METHODS
        if changes and not scope["path"].startswith(self._cookieless or ("\0",)):
            self._check(scope)
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if bearer_token(scope["path"], headers.get("authorization", "")) is not None:
            return
        here = origin_of(f"{scope['scheme']}://{headers['host']}")
        ours = origin_is_ours(
            frozenset(origin for origin in (here, self._own.public_origin) if origin),
            origin=headers.get("origin"),
            fetch_site=headers.get("sec-fetch-site"),
            referer=headers.get("referer"),
            # What a proxy says of a browser goes with every request, as a cookie does.
            has_cookie="cookie" in headers or scope.get("state", {}).get("proxy_person") is not None,
        )
        if not ours:
            raise RequestError(
                HTTPStatus.FORBIDDEN,
                "wrong_origin",
                "This request did not come from a page of this Pressbox. Reload the page and try again. Behind a "
                "proxy, PRESSBOX_WEB_PUBLIC_URL must be the address that people use.",
            )


class BodyLimits:
    """How large a body may be. Some paths take more than others: what they do with it is made for that."""

    def __init__(self, most_bytes: int, larger: Sequence[tuple[str, int]] = ()) -> None:
        self._most_bytes = most_bytes
        self._larger = [(re.compile(pattern), size) for pattern, size in larger]

    def of(self, path: str, content_type: str) -> int:
        if content_type.lower().lstrip().startswith("multipart/"):
            return self._most_bytes
        known = (size for pattern, size in self._larger if pattern.fullmatch(path))
        return min(self._most_bytes, next(known, MOST_BODY_BYTES))


class BodyLimit:
    """Stops reading a body that is larger than allowed, whether or not it said so before."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        most_bytes = self._limits.of(scope["path"], headers.get("content-type", ""))
        declared = headers.get("content-length", "0")
        if not declared.isascii() or not declared.isdigit():
            raise RequestError(HTTPStatus.BAD_REQUEST, "bad_length", "The Content-Length header is not a number.")
        if len(declared) > LONGEST_LENGTH or int(declared) > most_bytes:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        read = 0

        async def limited_receive() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most_bytes:
                # Of this type because the framework takes any other, while it reads a body, for bad syntax.
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return message

        await self._app(scope, limited_receive, send)


def _check_size(scope: Scope) -> None:
    headers = scope["headers"]
    cookies = sum(1 + value.count(b";") for name, value in headers if name == b"cookie")
    too_large = sum(len(name) + len(value) for name, value in headers) > MOST_HEADER_BYTES
    if too_large or len(headers) > MOST_HEADERS or cookies > MOST_COOKIES:
        raise RequestError(
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "headers_too_large", "The headers of the request are too large."
        )
    # No text in the database can hold a NUL, so no address of ours has one.
    query = scope.get("query_string", b"")
    if query.count(b"&") >= MOST_QUERY_FIELDS:
        raise RequestError(
            HTTPStatus.REQUEST_URI_TOO_LONG, "query_too_long", f"An address has at most {MOST_QUERY_FIELDS} values."
        )
    if "\0" in scope["path"] or b"%00" in query or b"\0" in query:
        raise RequestError(HTTPStatus.BAD_REQUEST, "bad_request", "The address contains a NUL character.")


def _is_own_socket(name: str, scope: Scope) -> bool:
    """A numeric address that is the very one the connection came in on was not found through DNS."""
    server = scope.get("server")
    try:
        return server is not None and ip_address(name) == ip_address(server[0])
    except ValueError:
        return False
