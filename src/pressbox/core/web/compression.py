"""Answers to HEAD, and smaller answers.

What has a known length and is text is compressed; streams and clips pass as they are. Answers that carry something
secret are left alone, since their length would tell of it to whoever can have words of their own shown beside it
(BREACH): everything about accounts, links with a token in them, and whatever sets a cookie.
"""

import gzip
import re
from collections.abc import Sequence
from http import HTTPStatus

import brotli  # type: ignore[import-untyped]
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 600
GZIP_LEVEL = 5
BROTLI_QUALITY = 4
COMPRESSIBLE = re.compile(r"(text/(?!event-stream)|application/(json|javascript|[\w.-]+\+(json|xml))|image/svg\+xml)")
# Pages of the core that show a lasting secret, or are reached by one. Applications name theirs in their manifests.
OWN_SECRET_PATHS = (
    r"/(account|sign-in|set-up|choose-password|forgotten|confirm-email|users|settings|temporal|api/account|api/users)\b",
)
# What answers for ever is asked for with GET only.
ENDLESS = "/api/stream"


class HeadAnswer:
    """Answers HEAD wherever GET is answered: the same headers, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].startswith(ENDLESS):
            await self._app(scope, receive, send)
            return
        refused = False

        async def send_unless_refused(message: Message) -> None:
            nonlocal refused
            refused = refused or message.get("status") == HTTPStatus.METHOD_NOT_ALLOWED
            if not refused:
                await send(message)

        # Clips answer HEAD themselves, without reading a file.
        await self._app({**scope}, receive, send_unless_refused)
        if refused:
            await self._app({**scope, "method": "GET"}, receive, _without_body(send))


def _without_body(send: Send) -> Send:
    async def send_head(message: Message) -> None:
        if message["type"] != "http.response.body":
            await send(message)
        elif not message.get("more_body"):
            await send({**message, "body": b""})

    return send_head


class Compression:
    def __init__(self, app: ASGIApp, secret_paths: Sequence[str] = ()) -> None:
        self._app = app
        self._secret = re.compile("|".join((*OWN_SECRET_PATHS, *secret_paths)))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or self._secret.match(scope["path"]):
            await self._app(scope, receive, send)
            return
        encoding = choose_encoding(Headers(scope=scope).get("accept-encoding", ""))
        start: Message | None = None

        async def send_smaller(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and is_worthwhile(message):
                start = message
                return
            if start is None:
                await send(message)
                return
            # An answer of a known length comes in one piece; one that does not is left as it is.
            whole = not message.get("more_body")
            headers = MutableHeaders(raw=start["headers"])
            headers.add_vary_header("Accept-Encoding")
            if whole and encoding:
                body = compress(message.get("body", b""), encoding)
                headers["Content-Encoding"], headers["Content-Length"] = encoding, str(len(body))
                message = {**message, "body": body}
            begun, start = start, None
            await send(begun)
            await send(message)

        await self._app(scope, receive, send_smaller)


def choose_encoding(accepted: str) -> str | None:
    offers = {}
    for entry in accepted.split(",")[:20]:
        name, _, weight = entry.strip().partition(";")
        offers[name.strip().lower()] = weight.strip() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return next((name for name in ("br", "gzip") if offers.get(name)), None)


def is_worthwhile(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    length = headers.get("content-length", "0")
    return (
        start["status"] == HTTPStatus.OK
        and int(length) >= SMALLEST
        and COMPRESSIBLE.match(headers.get("content-type", "")) is not None
        and "content-encoding" not in headers
        and "set-cookie" not in headers
    )


def compress(body: bytes, encoding: str, *, thorough: bool = False) -> bytes:
    """Compress quickly, as for an answer that is sent once, or thoroughly."""
    if encoding == "br":
        smaller: bytes = brotli.compress(body, quality=11 if thorough else BROTLI_QUALITY)
        return smaller
    return gzip.compress(body, 9 if thorough else GZIP_LEVEL, mtime=0)
