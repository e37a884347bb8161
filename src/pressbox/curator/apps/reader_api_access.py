"""Requests of reader apps: who they act for and what they send; and the responses that apps understand."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape, quoteattr

from fastapi import Depends, Request
from fastapi.responses import PlainTextResponse, Response
from fastapi.routing import APIRoute

from pressbox.core.errors import InvalidInputError, NotSignedInError, PressboxError
from pressbox.core.logs import redact
from pressbox.core.web.errors import refusal_headers
from pressbox.core.web.identity import client_of
from pressbox.core.web.pages.access import Parts, provide
from pressbox.curator.apps.domain import AppPerson, Stream, read_stream
from pressbox.curator.apps.formats import Json
from pressbox.curator.apps.service import AppService, StreamService
from pressbox.curator.apps.wiring import app_service, stream_service
from pressbox.curator.reading.sidebar import SqlSidebar
from pressbox.curator.sources.service import OutlineService, SourceService
from pressbox.curator.sources.wiring import outline_service, source_service

Apps = Annotated[AppService, Depends(provide(app_service))]
SCHEME = "googlelogin"
# Ten thousand items, each named once, and what belongs to them.
MOST_VALUES = 10_100
FORM = "application/x-www-form-urlencoded"

Handler = Callable[[Request], Awaitable[Response]]


class AppRoute(APIRoute):
    """Apps know states and short texts, not our error pages: every refusal becomes one."""

    def get_route_handler(self) -> Callable[[Request], Any]:
        answer: Handler = super().get_route_handler()

        async def answer_apps(request: Request) -> Response:
            try:
                return await answer(request)
            except PressboxError as error:
                return refused(error)

        return answer_apps


def refused(error: PressboxError) -> Response:
    headers = refusal_headers(error)
    if isinstance(error, NotSignedInError):
        # The scheme is no registered one, but it is what apps answer with; some look for the second header.
        headers = {"WWW-Authenticate": "GoogleLogin", "Google-Bad-Token": "true", "X-Reader-Google-Bad-Token": "true"}
        return PlainTextResponse("Unauthorized", HTTPStatus.UNAUTHORIZED, headers)
    status = HTTPStatus.BAD_REQUEST if isinstance(error, InvalidInputError) else error.status
    return PlainTextResponse(f"Error: {redact(error.message)}", status, headers)


class Values:
    """What an app sent, in the address and in the body alike; a name may come many times."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        self._values: dict[str, list[str]] = {}
        for name, value in pairs:
            self._values.setdefault(name, []).append(value)

    def many(self, name: str) -> Sequence[str]:
        return [value for value in self._values.get(name, ()) if value]

    def one(self, name: str, default: str = "") -> str:
        """The last one that says something."""
        said = self.many(name)
        return said[-1] if said else default

    def count(self, name: str, default: int, most: int) -> int:
        text = self.one(name)
        if not text:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise InvalidInputError(f"{name} is a number.", field=name)
        return max(1, min(int(text), most))

    def streams(self, name: str) -> tuple[Stream, ...]:
        return tuple(checked_stream(text) for text in self.many(name))


@dataclass(frozen=True)
class App:
    """An app that is signed in, with its request."""

    request: Request
    sidebar: SqlSidebar
    sources: SourceService
    outlines: OutlineService
    streams: StreamService
    person: AppPerson
    values: Values

    @property
    def user_id(self) -> int:
        return self.person.user_id


async def values_of(request: Request) -> Values:
    pairs = _pairs(request.url.query)
    if request.headers.get("content-type", FORM).partition(";")[0].strip().lower() == FORM:
        body = await request.body()
        # Names in apps' bodies are not always escaped as they should be; whatever they are, they are not an error.
        pairs += await asyncio.to_thread(_pairs, body.decode("utf-8", "replace"))
    return Values(pairs)


async def app_of(
    request: Request,
    parts: Parts,
    apps: Apps,
    sources: Annotated[SourceService, Depends(provide(source_service))],
    outlines: Annotated[OutlineService, Depends(provide(outline_service))],
    streams: Annotated[StreamService, Depends(provide(stream_service))],
) -> App:
    person = await apps.authenticate(_sent_token(request), client_of(request))
    return App(request, SqlSidebar(parts.database), sources, outlines, streams, person, await values_of(request))


Asking = Annotated[App, Depends(app_of)]


def checked_stream(text: str) -> Stream:
    stream = read_stream(text)
    if stream is None:
        raise InvalidInputError("This is not the name of a stream.", field="s")
    return stream


def _sent_token(request: Request) -> str:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    name, _, token = sent.strip().partition("=")
    if scheme.lower() != SCHEME or name.strip().lower() != "auth":
        raise NotSignedInError("Sign in with an app password.")
    return token.strip().strip('"')


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_VALUES)
    except ValueError as error:
        raise InvalidInputError(f"At most {MOST_VALUES} values at a time.") from error
    # No text in the database can hold a NUL.
    return [(name, value.replace("\x00", "")) for name, value in pairs]


# Small answers do not get smaller; the lowest level packs texts almost as well as the others, in a third of the time.
PACKED_FROM = 2_000
PACKING = 1


def said(app: App, data: Mapping[str, Json]) -> Response:
    if app.values.one("output") == "xml":
        content = f'<?xml version="1.0" encoding="UTF-8"?>{_element(data, "")}'.encode()
        return packed(app.request, content, "application/xml; charset=utf-8")
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return packed(app.request, content, "application/json; charset=utf-8")


def done() -> Response:
    return PlainTextResponse("OK")


def packed(request: Request, content: bytes, media_type: str) -> Response:
    headers = {"Vary": "Accept-Encoding"}
    if len(content) >= PACKED_FROM and "gzip" in request.headers.get("accept-encoding", ""):
        content = gzip.compress(content, PACKING)
        headers["Content-Encoding"] = "gzip"
    return Response(content, media_type=media_type, headers=headers)


def _element(value: Json, name: str) -> str:
    """Objects, lists, strings and numbers, each with its name, as the first reader wrote them."""
    named = f" name={quoteattr(name)}" if name else ""
    match value:
        case bool():
            return f"<boolean{named}>{str(value).lower()}</boolean>"
        case int() | float():
            return f"<number{named}>{value}</number>"
        case str():
            return f"<string{named}>{escape(value)}</string>"
        case Mapping():
            return f"<object{named}>{''.join(_element(one, key) for key, one in value.items())}</object>"
        case None:
            return ""
        case _:
            return f"<list{named}>{''.join(_element(one, '') for one in value)}</list>"
