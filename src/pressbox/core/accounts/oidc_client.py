"""Talks to the OpenID provider: its description, its keys, the exchange of a code. Through the guard, as everything."""

import base64
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from http import HTTPStatus
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from pressbox.core.accounts.oidc import (
    DISCOVERY_PATH,
    OidcError,
    Provider,
    Request,
    UnknownKeyError,
    callback_url,
    read_id_token,
    read_provider,
)
from pressbox.core.clock import utc_now
from pressbox.core.config import HttpSettings, OidcSettings
from pressbox.core.errors import PermanentError, PressboxError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.http.guard import endpoint
from pressbox.core.logs import get_logger

log = get_logger(__name__)

MAX_BYTES = 500_000
TIMEOUT = timedelta(seconds=15)
DESCRIPTION_SECONDS = 3600.0
# A token with an unknown key makes us look again, but nobody can make us look all the time.
KEYS_AGAIN_SECONDS = 30.0


class OidcClient:
    """One per process. The provider is an administrator's choice, so it may be on a private address."""

    def __init__(self, settings: OidcSettings, http: HttpSettings, public_url: str) -> None:
        self.settings = settings
        self.redirect_uri = callback_url(public_url)
        context = httpx.create_ssl_context(verify=str(settings.ca_file)) if settings.ca_file else None
        allow = (*http.allow, _issuer_endpoint(settings.issuer or ""))
        self._http = GuardedClient(http.model_copy(update={"allow": allow}), ssl_context=context)
        self._provider: tuple[float, Provider] | None = None
        self._keys: tuple[float, KeySet] | None = None

    async def __aenter__(self) -> "OidcClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._http.close()

    async def provider(self) -> Provider:
        """What the provider says of itself, asked once an hour."""
        if self._provider is None or time.monotonic() - self._provider[0] > DESCRIPTION_SECONDS:
            issuer = self.settings.issuer or ""
            document = await self._fetch_json(issuer.rstrip("/") + DISCOVERY_PATH)
            self._provider = (time.monotonic(), read_provider(document, issuer))
        return self._provider[1]

    async def redeem(self, request: Request, code: str) -> dict[str, Any]:
        """The claims about the person for whom the provider gave this code."""
        provider = await self.provider()
        tokens = await self._exchange(provider, request, code)
        token = tokens.get("id_token")
        if not isinstance(token, str):
            raise OidcError("The provider's answer does not say who you are. Begin again.", reason="no id_token")
        claims = await self._check(provider, token, request.nonce)
        return await self._complete(provider, claims, tokens.get("access_token"))

    async def _exchange(self, provider: Provider, request: Request, code: str) -> dict[str, Any]:
        client_id = self.settings.client_id or ""
        secret = self.settings.client_secret.get_secret_value() if self.settings.client_secret else None
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": request.verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        if secret is not None and provider.basic_authentication:
            # RFC 6749 wants both encoded as in a form before they are joined.
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form |= {"client_id": client_id} | ({"client_secret": secret} if secret is not None else {})
        answer = await self._ask(provider.token_endpoint, headers, urlencode(form).encode())
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _away()
        if answer.status != HTTPStatus.OK:
            # The code was used, is too old, or the client is not the one the provider knows.
            raise OidcError("The provider did not accept the sign-in. Begin again.", reason=_reason(answer))
        return read_object(answer.body)

    async def _check(self, provider: Provider, token: str, nonce: str) -> dict[str, Any]:
        keys = await self._load_keys(provider)
        try:
            return read_id_token(token, keys, provider, self.settings, nonce, utc_now())
        except UnknownKeyError:
            keys = await self._load_keys(provider, older_than=KEYS_AGAIN_SECONDS)
        try:
            return read_id_token(token, keys, provider, self.settings, nonce, utc_now())
        except UnknownKeyError as error:
            raise OidcError("The provider's answer is signed by a key that it does not publish.") from error

    async def _complete(self, provider: Provider, claims: dict[str, Any], access_token: object) -> dict[str, Any]:
        """Add what the provider only tells when asked: some keep address and groups out of the token."""
        groups = self.settings.groups_claim.partition(".")[0]
        if provider.userinfo_endpoint is None or not isinstance(access_token, str) or {"email", groups} <= set(claims):
            return claims
        try:
            headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
            more = await self._fetch_json(provider.userinfo_endpoint, headers)
        except PermanentError as error:
            log.warning("oidc_userinfo_refused", msg="The provider told no more about somebody", error=error.message)
            return claims
        if not isinstance(more, dict) or more.get("sub") != claims["sub"]:
            raise OidcError("The provider speaks of somebody else. Begin again.", reason="userinfo sub")
        return {**more, **claims}

    async def _load_keys(self, provider: Provider, *, older_than: float = DESCRIPTION_SECONDS) -> KeySet:
        if self._keys is None or time.monotonic() - self._keys[0] > older_than:
            document = await self._fetch_json(provider.jwks_uri)
            try:
                keys = KeySet.import_key_set(document)  # type: ignore[arg-type]
            except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
                raise OidcError("The provider's keys cannot be read.", reason=str(error)[:200]) from error
            self._keys = (time.monotonic(), keys)
        return self._keys[1]

    async def _fetch_json(self, url: str, headers: Mapping[str, str] | None = None) -> object:
        answer = await self._ask(url, headers or {"Accept": "application/json"})
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise _away()
        if answer.status != HTTPStatus.OK:
            raise OidcError("The provider does not answer as one. Check PRESSBOX_OIDC_ISSUER.", reason=_reason(answer))
        return read_object(answer.body)

    async def _ask(self, url: str, headers: Mapping[str, str], form: bytes | None = None) -> Response:
        try:
            if form is None:
                return await self._http.get(url, headers=headers, max_bytes=MAX_BYTES, timeout=TIMEOUT)
            return await self._http.post(url, form, headers=headers, max_bytes=MAX_BYTES, timeout=TIMEOUT)
        except TransientError as error:
            log.warning("oidc_away", msg="The OpenID provider does not answer", error=error.message)
            raise _away() from error
        except PressboxError as error:
            words = "The provider cannot be asked. Check PRESSBOX_OIDC_ISSUER."
            raise OidcError(words, reason=error.message) from error


def _issuer_endpoint(issuer: str) -> str:
    parts = urlsplit(issuer)
    return endpoint(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))


def read_object(body: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        found = json.loads(body)
        if isinstance(found, dict):
            return found
    raise OidcError("The provider's answer cannot be read.", reason="not a JSON object")


def _reason(answer: Response) -> str:
    """What the provider says, for the log only: it may be anything."""
    return f"{answer.status} {answer.body[:200].decode(errors='replace')}"


def _away() -> TransientError:
    return TransientError("The sign-in provider does not answer. Try again in a moment.")
