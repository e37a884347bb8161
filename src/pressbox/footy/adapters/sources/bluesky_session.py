"""A session at Bluesky: signed in with an app password, refreshed when it ends, signed in again when that is refused.

Uses the lexicons `com.atproto.server.createSession` and `com.atproto.server.refreshSession`. An access token lives for
about two hours, and a refresh token is good for one refresh.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import Field

from pressbox.footy.adapters.sources.client import LOGIN_PAUSE, SourceClient, SourceModel
from pressbox.footy.domain.errors import SourceBlockedError, SourceLoginError, SourceRefusedError

ResultT = TypeVar("ResultT")
Headers = dict[str, str]
# An expired token is a 400 here, like a question that is wrong.
_ENDED = frozenset({"ExpiredToken", "InvalidToken", "AuthMissing", "AuthenticationRequired"})
_UNAUTHORIZED = 401
_WORDS = {
    "AuthFactorTokenRequired": "the account wants a code by mail, so this is not an app password. Make one",
    "AccountTakedown": "the account was taken down. Use another",
    "AccountSuspended": "the account is suspended. Use another",
    "AccountDeactivated": "the account is deactivated. Use another",
}
_WRONG = "the handle or its app password is wrong or revoked. Make a new one"
_WHERE = "at bsky.app (Settings → Privacy and security → App passwords)"


class Session(SourceModel):
    access: str = Field(alias="accessJwt", min_length=1)
    refresh: str = Field("", alias="refreshJwt")


@dataclass(frozen=True, repr=False)
class BlueskyLogin:
    url: str
    handle: str
    app_password: str


class BlueskySession:
    """Requests at the same time share one session: the first of them renews it for all."""

    def __init__(self, client: SourceClient, login: BlueskyLogin) -> None:
        self._client = client
        self._login = login
        self._session: Session | None = None
        self._renewing = asyncio.Lock()

    async def call(self, send: Callable[[Headers], Awaitable[ResultT]]) -> ResultT:
        """Send with the session, and once more with a new one when it has ended."""
        session = self._session or await self._renew(None)
        try:
            return await send(_bearer(session.access))
        except (SourceLoginError, SourceRefusedError) as error:
            if not _has_ended(error):
                raise
        return await send(_bearer((await self._renew(session)).access))

    async def _renew(self, ended: Session | None) -> Session:
        async with self._renewing:
            if self._session is None or self._session is ended:
                self._session = None
                self._session = (await self._refresh(ended) if ended else None) or await self._sign_in()
            return self._session

    async def _refresh(self, ended: Session) -> Session | None:
        if not ended.refresh:
            return None
        try:
            return await self._client.post(self._url("refreshSession"), b"", Session, headers=_bearer(ended.refresh))
        except SourceBlockedError:
            raise
        except (SourceLoginError, SourceRefusedError):
            return None

    async def _sign_in(self) -> Session:
        self._client.check_pause()
        body = json.dumps({"identifier": self._login.handle, "password": self._login.app_password}).encode()
        headers = {"Content-Type": "application/json"}
        try:
            return await self._client.post(self._url("createSession"), body, Session, headers=headers)
        except SourceBlockedError:
            raise
        except (SourceLoginError, SourceRefusedError) as error:
            why = _WORDS.get(str(error.details.get("reason") or ""), _WRONG)
            refused = SourceLoginError(f"{self._client.source}: login refused: {why} {_WHERE}.")
            raise self._client.hold(refused, LOGIN_PAUSE) from error

    def _url(self, method: str) -> str:
        return f"{self._login.url.rstrip('/')}/xrpc/com.atproto.server.{method}"


def _bearer(token: str) -> Headers:
    return {"Authorization": f"Bearer {token}"}


def _has_ended(error: SourceLoginError | SourceRefusedError) -> bool:
    if isinstance(error, SourceBlockedError):
        return False
    return error.details.get("status") == _UNAUTHORIZED or error.details.get("reason") in _ENDED
