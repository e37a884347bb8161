"""Short-lived cookies by which a browser goes on with what it began: a sign-in in two steps, a passkey, a provider."""

from fastapi import Request
from starlette.responses import Response

from pressbox.core.accounts.ceremonies import LIFE, Kind
from pressbox.core.config import Settings
from pressbox.core.web.identity import is_secure

_PREFIX = "pressbox_"


def set_ceremony(response: Response, settings: Settings, kind: Kind, secret: str) -> None:
    response.set_cookie(
        _name(settings, kind),
        secret,
        max_age=round(LIFE[kind].total_seconds()),
        path="/",
        secure=is_secure(settings),
        httponly=True,
        # The provider sends the browser back from another site.
        samesite="lax" if kind is Kind.OIDC else "strict",
    )


def read_ceremony(request: Request, kind: Kind) -> str:
    """The secret; empty when this browser has begun nothing of the kind."""
    return request.cookies.get(_name(request.app.state.settings, kind), "")


def clear_ceremony(response: Response, settings: Settings, kind: Kind) -> None:
    response.delete_cookie(_name(settings, kind), path="/", secure=is_secure(settings), httponly=True)


def _name(settings: Settings, kind: Kind) -> str:
    name = _PREFIX + kind.replace("-", "_")
    return f"__Host-{name}" if is_secure(settings) else name


def passkey_options_response(request: Request, kind: Kind, secret: str, options: str) -> Response:
    """What the script passkeys.js asks for: a challenge, which only this browser can answer."""
    response = Response(options, media_type="application/json")
    set_ceremony(response, request.app.state.settings, kind, secret)
    return response
