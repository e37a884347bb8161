"""The HTTP service of the browser search: `POST /search` with a token, `GET /health` without."""

import hmac
import math
from http import HTTPStatus
from typing import Protocol

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.footy.x.contracts import SearchQuery, SearchResponse, SearchStatus

log = get_logger(__name__)

LARGEST_REQUEST = 1_000_000
_STATUS = {
    SearchStatus.SUCCESS: HTTPStatus.OK,
    SearchStatus.AUTHENTICATION_REQUIRED: HTTPStatus.SERVICE_UNAVAILABLE,
    SearchStatus.BUSY: HTTPStatus.TOO_MANY_REQUESTS,
    SearchStatus.FAILED: HTTPStatus.BAD_GATEWAY,
}


class Searcher(Protocol):
    @property
    def authenticated(self) -> bool: ...

    async def search(self, question: SearchQuery) -> SearchResponse: ...


class Health(BaseModel):
    status: str
    authenticated: bool


def build_service(searcher: Searcher, token: str) -> FastAPI:
    """Every search must send `token`."""
    app = FastAPI(title="Pressbox X search", docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/health")
    async def health() -> Health:
        try:
            logged_in = searcher.authenticated
        except PressboxError as error:
            log.warning("x_session_unreadable", msg=error.message)
            logged_in = False
        return Health(status="healthy" if logged_in else "authentication_required", authenticated=logged_in)

    @app.post("/search")
    async def search(request: Request) -> Response:
        if not _is_allowed(request.headers.get("authorization", ""), token):
            return _answer(HTTPStatus.UNAUTHORIZED, SearchStatus.FAILED, "The token is missing or wrong.")
        body = await _body(request)
        if body is None:
            return _answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, SearchStatus.FAILED, "The request is too long.")
        try:
            question = SearchQuery.model_validate_json(body)
        except ValidationError as error:
            fields = ", ".join(sorted({str(item["loc"][0]) for item in error.errors() if item["loc"]})) or "JSON"
            return _answer(HTTPStatus.UNPROCESSABLE_ENTITY, SearchStatus.FAILED, f"Invalid: {fields}.")
        answer = await searcher.search(question)
        wait = answer.retry_after_seconds
        headers = {} if wait is None else {"Retry-After": str(max(1, math.ceil(wait)))}
        return JSONResponse(answer.model_dump(mode="json"), _STATUS[answer.status], headers)

    return app


async def _body(request: Request) -> bytes | None:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_REQUEST:
            return None
    return body


def _is_allowed(header: str, token: str) -> bool:
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _answer(code: HTTPStatus, status: SearchStatus, message: str) -> Response:
    return JSONResponse(SearchResponse(status=status, message=message).model_dump(mode="json"), code)
