"""What the pages and the API of events ask of a request: the service, who looks, and from where."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from fastapi import Depends, Path, Query, Request
from fastapi.responses import RedirectResponse

from pressbox.core.app import Resources
from pressbox.core.errors import ConflictError, InvalidInputError, PressboxError, RateLimitedError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.identity import Identity, client_of
from pressbox.core.web.languages import choose_language
from pressbox.core.web.times import ZONE_COOKIE
from pressbox.soonish.domain.views import Viewer
from pressbox.soonish.service.soonish import Soonish

RowId = Annotated[int, Path(ge=1, le=2**63 - 1)]
After = Annotated[int, Query(ge=0, le=2**63 - 1, description="The last id of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=500)]
# A form is shown again with these errors, instead of an error page.
FORM_ERRORS = (InvalidInputError, ConflictError, RateLimitedError)

MakeService = Callable[[Resources], Soonish]


def _get_service(request: Request) -> Soonish:
    service: Soonish = request.state.soonish
    return service


Service = Annotated[Soonish, Depends(_get_service)]


def make_viewer(identity: Identity | None, invitation: str = "") -> Viewer:
    return Viewer(identity.user_id if identity else None, invitation or None)


def make_reader(request: Request, identity: Identity | None, invitation: str = "") -> Viewer:
    """The viewer with the language and the time zone in which they read pages, for messages to them."""
    zone = request.cookies.get(ZONE_COOKIE, "")
    language = choose_language(identity.language if identity else None, request.headers.get("accept-language", ""))
    timezone = zone if zone in available_timezones() else ""
    return replace(make_viewer(identity, invitation), language=language, timezone=timezone)


def client_address(request: Request) -> str:
    return client_of(request).address


def redirect(target: str) -> RedirectResponse:
    return RedirectResponse(target, status_code=303)


def path_of(url: str) -> str:
    """The path of one of our own addresses, so that a redirect stays on the host under which the page was opened."""
    return urlsplit(url).path


async def newest_change(request: Request) -> int:
    """Where a live stream of this page continues. Read it before the page: what changes meanwhile is shown twice."""
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()


def error_field(error: PressboxError | None) -> str | None:
    return error.field if isinstance(error, InvalidInputError) else None


def error_text(error: PressboxError | None) -> str | None:
    return error.message if error else None


def base_url(request: Request) -> str:
    """The address under which people reach this instance."""
    public: str | None = request.app.state.settings.web.public_url
    return (public or str(request.base_url)).rstrip("/")
