"""Every error as an answer: one JSON shape for programs, one page for people, the same words in both."""

import re
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from pydantic import BaseModel
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope
from temporalio.service import RPCError, RPCStatusCode

from pressbox.core.errors import (
    InvalidInputError,
    NotFoundError,
    NotSignedInError,
    PermanentError,
    PressboxError,
    ProofNeededError,
    RateLimitedError,
    SecondFactorNeededError,
    TransientError,
)
from pressbox.core.logs import get_logger, redact
from pressbox.core.temporal.client import AWAY
from pressbox.core.web.identity import SAFE_METHODS, SECOND_FACTOR_PATH, current_identity, is_api
from pressbox.core.web.rendering import render

log = get_logger(__name__)

RETRY_SECONDS = 5
# Words of our own addresses; what opens something is longer, or has digits and capitals.
_FIRST_WORD = re.compile(r"/[a-z-]{1,15}(?=/|$)")
SIGN_IN_PATH = "/sign-in"
PROOF_PATH = "/account/proof"
# The description of the API is for people.
API_PAGES = "/api/docs"
LONGEST_NEXT = 1000

_WORDS = {
    HTTPStatus.BAD_REQUEST: "This request cannot be understood.",
    HTTPStatus.NOT_FOUND: "There is nothing at this address.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not answer to that method.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "This is too large to be accepted.",
}


class ErrorDetail(BaseModel):
    code: str
    message: str
    field: str | None
    request_id: str


class ErrorResponse(BaseModel):
    """The body of every refusal on `/api/…`."""

    error: ErrorDetail


class RequestError(PermanentError):
    """A request that is refused before it reaches a page. Its status is its own."""

    def __init__(self, status: HTTPStatus, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.code = status.value, code
        self.headers = dict(headers or {})


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(PressboxError, _answer_expected)
    app.add_exception_handler(HTTPException, answer_http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(RPCError, _temporal)
    app.add_exception_handler(PoolTimeoutError, _busy)
    app.add_exception_handler(OverflowError, _too_large)


async def answer(request: Request, error: PressboxError) -> Response:
    """The one place where an error becomes a response."""
    if not wants_json(request):
        if isinstance(error, NotSignedInError):
            return _to_sign_in(request)
        if isinstance(error, ProofNeededError):
            return _redirect(request, proof_location(_page_of(request)))
        if isinstance(error, SecondFactorNeededError):
            return _redirect(request, SECOND_FACTOR_PATH)
        return await _page(request, error)
    detail = ErrorDetail(
        code=error.code,
        message=redact(error.message),
        field=getattr(error, "field", None),
        request_id=request_id(request),
    )
    body = ErrorResponse(error=detail).model_dump()
    return JSONResponse(body, status_code=error.status, headers=refusal_headers(error))


async def answer_unexpected(request: Request, error: Exception) -> Response:
    """A mistake of ours: everything for the log, nothing but an id for the outside."""
    log.error("unexpected_error", msg="A request failed", path=describe_path(request.scope), exc_info=error)
    return await answer(request, PressboxError("Something went wrong on our side. The log has the details."))


def describe_path(scope: Scope) -> str:
    """For the log: the pattern of the route. Parts of an address may open something by themselves."""
    route: str | None = getattr(scope.get("route"), "path", None)
    if route is not None:
        return route
    path: str = scope["path"]
    found = _FIRST_WORD.match(path)
    return "/" if path == "/" else f"{found[0]}{path[found.end() :] and '/…'}" if found else "/…"


def wants_json(request: Request) -> bool:
    accepted, path = request.headers.get("accept", ""), request.url.path
    return (is_api(path) and not path.startswith(API_PAGES)) or (
        "application/json" in accepted and "text/html" not in accepted
    )


def request_id(request: Request) -> str:
    return str(getattr(request.state, "request_id", ""))


def safe_next(target: str | None, default: str = "/") -> str:
    """Where to go after signing in: a path of ours, never another site."""
    if not target or len(target) > LONGEST_NEXT or not target.startswith("/") or target.startswith("//"):
        return default
    # Browsers read a backslash as a slash and drop control characters: both can turn a path into a host.
    if "\\" in target or not target.isprintable():
        return default
    return default if urlsplit(target).path in (SIGN_IN_PATH, PROOF_PATH, "/sign-out", "/set-up") else target


def sign_in_location(target: str | None) -> str:
    chosen = safe_next(target)
    return SIGN_IN_PATH if chosen == "/" else f"{SIGN_IN_PATH}?next={quote(chosen, safe='/')}"


def proof_location(target: str | None) -> str:
    """The page on which somebody shows again that it is them, and from which they come back to `target`."""
    return f"{PROOF_PATH}?next={quote(safe_next(target, '/account'), safe='/')}"


def _to_sign_in(request: Request) -> Response:
    shown = _page_of(request) if request.method in SAFE_METHODS or _by_htmx(request) else None
    if _by_htmx(request):
        return _redirect(request, sign_in_location(shown), HTTPStatus.UNAUTHORIZED)
    return _redirect(request, sign_in_location(shown))


def _by_htmx(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def _page_of(request: Request) -> str:
    """The page that somebody sees, or was about to: for a form, the one that it stands on."""
    if _by_htmx(request):
        shown = urlsplit(request.headers.get("hx-current-url", ""))
    elif request.method in SAFE_METHODS:
        shown = urlsplit(str(request.url))
    else:
        shown = urlsplit(request.headers.get("referer", ""))
    return shown.path + (f"?{shown.query}" if shown.query else "")


def _redirect(request: Request, target: str, htmx_status: HTTPStatus = HTTPStatus.OK) -> Response:
    if _by_htmx(request):
        # A redirect would put the other page into a corner of this one; htmx moves the whole page instead.
        return Response(status_code=htmx_status, headers={"HX-Redirect": target})
    return RedirectResponse(target, status_code=HTTPStatus.SEE_OTHER)


async def _page(request: Request, error: PressboxError) -> Response:
    await _identify_for_frame(request)
    try:
        page = render(
            request,
            "error.html",
            error.status,
            code=error.code,
            message=redact(error.message),
            request_id=request_id(request),
            retry_after=error.retry_after if isinstance(error, RateLimitedError) else None,
        )
    # Whatever is wrong with the page, the answer must still say what was wrong before.
    except Exception as problem:
        log.error("error_page_broken", msg="The error page itself cannot be drawn", exc_info=problem)
        page = HTMLResponse(_plain_page(error, request_id(request)), status_code=error.status)
    page.headers.update(refusal_headers(error))
    return page


async def _identify_for_frame(request: Request) -> None:
    """The frame shows who is signed in, also on an error page; a failure here must not hide the first one."""
    try:
        await current_identity(request)
    except PressboxError:
        request.state.identity = None


def _plain_page(error: PressboxError, identifier: str) -> str:
    return (
        f'<!doctype html><html lang="en"><title>{error.status}</title><h1>{error.status}</h1>'
        f"<p>{escape(redact(error.message))}</p><p>{escape(identifier)}</p></html>"
    )


def refusal_headers(error: PressboxError) -> dict[str, str]:
    if isinstance(error, RequestError):
        return error.headers
    if isinstance(error, RateLimitedError) and error.retry_after is not None:
        return {"Retry-After": str(max(1, round(error.retry_after.total_seconds())))}
    if isinstance(error, TransientError):
        return {"Retry-After": str(RETRY_SECONDS)}
    if isinstance(error, NotSignedInError):
        return {"WWW-Authenticate": 'Bearer realm="Pressbox"'}
    return {}


async def _answer_expected(request: Request, error: Exception) -> Response:
    assert isinstance(error, PressboxError)
    return await answer(request, error)


async def answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if status is HTTPStatus.NOT_FOUND:
        return await answer(request, NotFoundError(_WORDS[status]))
    words = _WORDS.get(status, f"{status.phrase}.")
    return await answer(request, RequestError(status, status.name.lower(), words, error.headers))


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = [str(part) for part in first["loc"]]
    field = ".".join(place[1:]) or place[0]
    return await answer(request, InvalidInputError(f"{field}: {first['msg']}", field=field))


async def _temporal(request: Request, error: Exception) -> Response:
    assert isinstance(error, RPCError)
    if error.status is RPCStatusCode.NOT_FOUND:
        return await answer(request, NotFoundError("Temporal does not know this workflow or schedule (any more)."))
    if error.status in AWAY:
        return await answer(request, TransientError("Temporal does not answer."))
    return await answer_unexpected(request, error)


async def _busy(request: Request, _: Exception) -> Response:
    return await answer(request, TransientError("The database is busy."))


async def _too_large(request: Request, _: Exception) -> Response:
    """A number of the request that no date, duration or counter can hold."""
    return await answer(request, InvalidInputError("A number is too large."))
