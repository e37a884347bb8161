"""Files of the object store as HTTP answers: whole or in parts, with tags, so that players can seek."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import format_datetime

from fastapi import Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from pressbox.core.errors import NotFoundError
from pressbox.core.objects.store import ObjectInfo, ObjectStore
from pressbox.footy.web.ranges import Span, UnsatisfiableRange, is_cached, matches_if_range, parse_range

# Long enough to watch it, short enough that a link which was passed on ends soon.
LINK_LIFE = timedelta(minutes=15)
# Pages name the copy in the address of player and poster, so those may be kept; without it a browser asks each time.
KEPT = "private, max-age=3600"
ASKED_EACH_TIME = "private, no-cache"


@dataclass(frozen=True)
class StoredFile:
    """An object and what it is. `etag`, with its quotes, changes whenever the content does."""

    key: str
    media_type: str
    etag: str
    name: str


async def serve(request: Request, objects: ObjectStore, file: StoredFile) -> Response:
    """The file, the part of it that was asked for, or the answer that the asker has it already."""
    info = await objects.info(file.key)
    if info is None:
        raise NotFoundError("The file of this clip is not in the store any more.")
    headers = _headers(request, file, info)
    if is_cached(request.headers.get("if-none-match"), file.etag):
        return Response(status_code=304, headers=headers)
    wanted = request.headers.get("range") if matches_if_range(request.headers.get("if-range"), file.etag) else None
    try:
        span = parse_range(wanted, info.size)
    except UnsatisfiableRange:
        return Response(status_code=416, headers={**headers, "Content-Range": f"bytes */{info.size}"})
    return _respond(request, objects, file, info.size, span, headers)


async def direct_link(objects: ObjectStore, file: StoredFile) -> Response | None:
    """A redirect to the store itself, where it can be read from outside; None where it cannot."""
    link = await objects.link(file.key, LINK_LIFE)
    return None if link is None else RedirectResponse(link, status_code=307, headers={"Cache-Control": "no-store"})


def _respond(
    request: Request, objects: ObjectStore, file: StoredFile, size: int, span: Span | None, headers: Mapping[str, str]
) -> Response:
    sent = span or Span(0, size)
    headers = {**headers, "Content-Length": str(sent.length)}
    if span is not None:
        headers["Content-Range"] = span.content_range(size)
    status = 200 if span is None else 206
    if request.method == "HEAD" or not sent.length:
        return Response(status_code=status, headers=headers, media_type=file.media_type)
    return StreamingResponse(_bytes(objects, file.key, sent), status, headers, file.media_type)


async def _bytes(objects: ObjectStore, key: str, span: Span) -> AsyncIterator[bytes]:
    async for piece in objects.stream(key, span.start, span.end):
        yield piece


def _headers(request: Request, file: StoredFile, info: ObjectInfo) -> dict[str, str]:
    return {
        "Accept-Ranges": "bytes",
        "ETag": file.etag,
        "Last-Modified": format_datetime(info.modified_at.astimezone(UTC), usegmt=True),
        "Cache-Control": KEPT if "v" in request.query_params else ASKED_EACH_TIME,
        "Content-Disposition": f'inline; filename="{file.name}"',
    }
