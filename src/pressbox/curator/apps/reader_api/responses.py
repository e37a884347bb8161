"""Answers for reader apps: JSON as nearly all of them want it, the old XML for those that ask, packed when large."""

import gzip
import json
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response

from pressbox.curator.apps.reader_api.requests import App

# Small answers do not get smaller; the lowest level packs texts almost as well as the others, in a third of the time.
PACKED_FROM = 2_000
PACKING = 1

Json = str | int | float | bool | None | Mapping[str, "Json"] | Sequence["Json"]


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
