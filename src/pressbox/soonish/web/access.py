"""What the pages and the API of events ask of a request: the service, who looks, and how often they may."""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Path, Request
from fastapi.responses import RedirectResponse

from pressbox.core.app import Resources
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.web.identity import Identity, MaybeIdentity, SignedInIdentity, client_of
from pressbox.soonish.domain.views import Viewer
from pressbox.soonish.service.soonish import Soonish

PATH = "/events"
RowId = Annotated[int, Path(ge=1, le=2**63 - 1)]
# What a form shows again with its reason, instead of an error page.
REFUSALS = (InvalidInputError, ConflictError, RateLimitedError)

MakeService = Callable[[Resources], Soonish]
Reader = SignedInIdentity
Visitor = MaybeIdentity


def _service(request: Request) -> Soonish:
    service: Soonish = request.state.soonish
    return service


Service = Annotated[Soonish, Depends(_service)]


def viewer(identity: Identity | None, invitation: str = "") -> Viewer:
    return Viewer(identity.user_id if identity else None, invitation or None)


def client(request: Request) -> str:
    return client_of(request).address


def see(target: str) -> RedirectResponse:
    return RedirectResponse(target, status_code=303)


def path_of(url: str) -> str:
    """The path of an address of ours: a redirect after a form stays on the name under which the page was opened."""
    return urlsplit(url).path


def field_of(error: PressboxError | None) -> str | None:
    return error.field if isinstance(error, InvalidInputError) else None


def words_of(error: PressboxError | None) -> str | None:
    return error.message if error else None


def base_url(request: Request) -> str:
    """The address under which people reach this instance."""
    public: str | None = request.app.state.settings.web.public_url
    return (public or str(request.base_url)).rstrip("/")
