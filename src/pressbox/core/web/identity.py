"""Who asks: from the session cookie, from a bearer token on `/api/…`, or by the open mode on loopback.

Pages and APIs take one of the dependencies: `current_identity` (may be nobody), `signed_in`, `administrator`.
`signed_in` also wants the token's scope to fit the method, so that a route is safe without saying more.
"""

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from structlog.contextvars import bind_contextvars

from pressbox.core.accounts.admission import ExternalPerson
from pressbox.core.accounts.models import Actor, Authenticated, Client, Proof, Role, Scope, SignedIn
from pressbox.core.accounts.trusted_header import Ambiguous
from pressbox.core.audiences.members import Viewer
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, ForbiddenError, NotSignedInError, SecondFactorNeededError
from pressbox.core.web.connection import account_service, external_sign_in

COOKIE = "pressbox_session"
DEVICE_COOKIE = "pressbox_device"
PROOF_LIFE = timedelta(minutes=10)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
API_PREFIX = "/api/"
SECOND_FACTOR_PATH = "/account/second-factor"
# What somebody may open who must set up a second factor first.
_BEFORE_SECOND_FACTOR = (SECOND_FACTOR_PATH, "/account/proof", "/sign-in", "/sign-out", "/static/")

# The server decides when a session ends; the cookie only has to live longer, and no browser keeps one longer.
_COOKIE_SECONDS = 400 * 24 * 3600


# For the description of the API only; what is sent is read below.
_DESCRIBED = HTTPBearer(auto_error=False, scheme_name="token", description="A token of your account page: pbx_…")


class Via(StrEnum):
    SESSION = "session"
    TOKEN = "token"  # noqa: S105
    OPEN = "open"
    # A trusted proxy says who it is, with every request.
    PROXY = "proxy"


@dataclass(frozen=True)
class Identity:
    """Somebody who was recognised, and what this request may do in their name."""

    user_id: int
    email: str
    name: str
    role: Role
    scopes: frozenset[Scope]
    via: Via
    language: str | None
    # When they last showed, in this session or with this token, that it is really them.
    proved_at: datetime | None = None
    proof: Proof | None = None

    @property
    def proved_recently(self) -> bool:
        """Whether lasting credentials may be made now. The open mode has nobody to ask."""
        if self.via is Via.OPEN:
            return True
        return self.proved_at is not None and utc_now() - self.proved_at < PROOF_LIFE

    @property
    def is_administrator(self) -> bool:
        return self.role is Role.ADMIN and Scope.ADMIN in self.scopes


async def current_identity(
    request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_DESCRIBED)] = None
) -> Identity | None:
    """Whoever asks, or None. Found once per request; templates read it from `request.state.identity`."""
    if not hasattr(request.state, "identity"):
        request.state.identity = await _identify(request)
        if request.state.identity is not None:
            bind_contextvars(person_id=request.state.identity.user_id)
    identity: Identity | None = request.state.identity
    return identity


async def signed_in(request: Request, identity: Annotated[Identity | None, Depends(current_identity)]) -> Identity:
    """Somebody, who may read; and write, unless the method only reads."""
    if identity is None:
        raise NotSignedInError("Sign in to go on.")
    _demand(identity, Scope.READ if request.method in SAFE_METHODS else Scope.WRITE)
    return identity


async def administrator(identity: Annotated[Identity, Depends(signed_in)]) -> Identity:
    if not identity.is_administrator:
        raise ForbiddenError("Only an administrator may do this.")
    return identity


MaybeIdentity = Annotated[Identity | None, Depends(current_identity)]
SignedInIdentity = Annotated[Identity, Depends(signed_in)]
AdministratorIdentity = Annotated[Identity, Depends(administrator)]


def viewer_of(request: Request, identity: Identity) -> Viewer:
    """The same person, for what decides who may read of which work and follow which thing."""
    return Viewer(identity.user_id, identity.is_administrator, request.app.state.audiences)


async def current_viewer(request: Request, identity: SignedInIdentity) -> Viewer:
    return viewer_of(request, identity)


def client_of(request: Request) -> Client:
    """Where the request comes from, for rate limits and the list of sessions."""
    address: str = getattr(request.state, "client_address", "")
    device = request.cookies.get(device_cookie_name(request.app.state.settings), "")
    return Client(address=address, agent=request.headers.get("user-agent", ""), device=device)


def actor_of(request: Request) -> Actor:
    """Who asks, for the audit log."""
    identity: Identity | None = getattr(request.state, "identity", None)
    return Actor(identity.user_id if identity else None, client_of(request))


def session_secret(request: Request) -> str | None:
    """The value of the session cookie, good or not."""
    return request.cookies.get(session_cookie_name(request.app.state.settings)) or None


def session_cookie_name(settings: Settings) -> str:
    # The prefix makes browsers refuse the cookie unless it is secure and of this host alone.
    return f"__Host-{COOKIE}" if is_secure(settings) else COOKIE


def device_cookie_name(settings: Settings) -> str:
    return f"__Host-{DEVICE_COOKIE}" if is_secure(settings) else DEVICE_COOKIE


def set_session_cookies(response: Response, settings: Settings, begun: SignedIn) -> None:
    """The session, and the device by which this browser is known after the session has ended."""
    cookies = {session_cookie_name(settings): begun.secret, device_cookie_name(settings): begun.device}
    for name, value in cookies.items():
        response.set_cookie(
            name,
            value,
            max_age=_COOKIE_SECONDS,
            path="/",
            secure=is_secure(settings),
            httponly=True,
            samesite="lax",
        )


def clear_session_cookie(response: Response, settings: Settings) -> None:
    secure = is_secure(settings)
    response.delete_cookie(session_cookie_name(settings), path="/", secure=secure, httponly=True, samesite="lax")


def bearer_token(path: str, authorization: str) -> str | None:
    """The token of an API request. Elsewhere the header means nothing to us."""
    scheme, _, token = authorization.partition(" ")
    if not is_api(path) or scheme.lower() != "bearer":
        return None
    return token.strip()


def is_api(path: str) -> bool:
    return path.startswith(API_PREFIX)


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return address == "localhost"


def refuse_open_beyond_loopback(settings: Settings) -> None:
    """The open mode has no password, so it must not be reachable from elsewhere."""
    if not settings.open:
        return
    if not is_loopback(settings.web.host):
        raise ConfigurationError(
            f"PRESSBOX_OPEN=1 lets everybody in, so it works on loopback only, but PRESSBOX_WEB_HOST is "
            f"{settings.web.host}. Unset one of them."
        )
    public_host = urlsplit(settings.web.public_url or "http://localhost").hostname or ""
    if not is_loopback(public_host):
        raise ConfigurationError(
            "PRESSBOX_OPEN=1 lets everybody in, so it cannot be used together with PRESSBOX_WEB_PUBLIC_URL of "
            "another machine. Unset one of them."
        )


async def _identify(request: Request) -> Identity | None:
    settings: Settings = request.app.state.settings
    token = bearer_token(request.url.path, request.headers.get("authorization", ""))
    if token is not None:
        return await _by_token(request, token)
    person = getattr(request.state, "proxy_person", None)
    if person is not None:
        return await _by_proxy(request, person)
    secret = session_secret(request)
    if secret is not None:
        found = await account_service(request).authenticate_session(secret)
        if found is not None:
            if found.lacks_second_factor and not request.url.path.startswith(_BEFORE_SECOND_FACTOR):
                raise SecondFactorNeededError(
                    "Accounts like yours need a second factor here. Set one up on the account page first."
                )
            return _identity(found, Via.SESSION)
    if settings.open and getattr(request.state, "direct_loopback", False):
        return _identity(await account_service(request).open_owner(), Via.OPEN)
    return None


async def _by_token(request: Request, token: str) -> Identity:
    found = await account_service(request).authenticate_token(token, client=client_of(request))
    if found is None:
        raise NotSignedInError("This token is not valid. It may have expired or been removed.")
    return _identity(found, Via.TOKEN)


async def _by_proxy(request: Request, person: ExternalPerson | Ambiguous) -> Identity:
    if isinstance(person, Ambiguous):
        raise ForbiddenError(
            "The proxy's header that names the user came twice, or is no name. The proxy must remove the one that "
            "visitors send."
        )
    settings: Settings = request.app.state.settings
    found = await external_sign_in(request).authenticate_header(
        person, settings.trusted_header, client=client_of(request)
    )
    return _identity(found, Via.PROXY)


def _identity(found: Authenticated, via: Via) -> Identity:
    user = found.user
    return Identity(
        user_id=user.id,
        email=user.email,
        name=user.name,
        role=user.role,
        scopes=found.scopes,
        via=via,
        language=user.language,
        proved_at=found.proved_at,
        proof=found.proof,
    )


def _demand(identity: Identity, scope: Scope) -> None:
    if scope not in identity.scopes:
        raise ForbiddenError(f"This token does not have the scope {scope}.")


def is_secure(settings: Settings) -> bool:
    """Whether people come over https, so that cookies may demand it."""
    return (settings.web.public_url or "").lower().startswith("https://")
