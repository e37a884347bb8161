"""Whoever was refused for asking too often is refused again at once: before the database is asked who it is."""

import hashlib
import time
from collections.abc import Callable
from datetime import timedelta

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from pressbox.core.errors import RateLimitedError
from pressbox.core.web.identity import is_api

MOST_REMEMBERED = 10_000
# A place among the streams may become free sooner than we told the client to come back.
STREAM_SECONDS = 2.0

Seconds = Callable[[], float]


class Refusals:
    """By what a program shows of itself, hashed: its token, or its cookies. Pages are for people and not refused."""

    def __init__(self, now: Seconds = time.monotonic) -> None:
        self._now = now
        self._until: dict[tuple[bytes, str], tuple[float, RateLimitedError]] = {}

    def note(self, scope: Scope, error: RateLimitedError, *, seconds: float, path: str = "") -> None:
        """Refuse this client for so long; with `path`, only there."""
        credential = _credential(scope)
        if credential is None:
            return
        self._until.pop((credential, path), None)
        self._until[credential, path] = (self._now() + seconds, error)
        while len(self._until) > MOST_REMEMBERED:
            del self._until[next(iter(self._until))]

    def find(self, scope: Scope) -> RateLimitedError | None:
        credential = _credential(scope) if self._until and is_api(scope["path"]) else None
        if credential is None:
            return None
        for path in ("", scope["path"]):
            until, error = self._until.get((credential, path), (0.0, None))
            if error is not None and until > self._now():
                rest = timedelta(seconds=until - self._now())
                return RateLimitedError(error.message, retry_after=max(rest, error.retry_after or rest))
        return None


class EarlyRefusal:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            refusals: Refusals = scope["app"].state.refusals
            error = refusals.find(scope)
            if error is not None:
                raise error
        await self._app(scope, receive, send)


def _credential(scope: Scope) -> bytes | None:
    headers = Headers(scope=scope)
    shown = headers.get("authorization") or headers.get("cookie")
    return hashlib.sha256(shown.encode("latin-1", "replace")).digest() if shown else None
