"""Sends files of the object store whole or in parts, with ETags, so that players can seek."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta
from email.utils import format_datetime

from fastapi import Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse

from pressbox.core.errors import NotFoundError
from pressbox.core.objects.store import ObjectInfo, ObjectStore
from pressbox.footy.web.ranges import Span, UnsatisfiableRange, is_cached, matches_if_range, parse_range

# Long enough to watch the clip, short enough that a shared link soon expires.
LINK_LIFE = timedelta(minutes=15)
# Our pages name the version in the address (`v`), so browsers may cache it; without it they ask each time.
CACHED = "private, max-age=3600"
REVALIDATED = "private, no-cache"


@dataclass(frozen=True)
class StoredFile:
    """`etag` is quoted and changes whenever the content does."""

    key: str
    media_type: str
    etag: str
    name: str


async def serve(request: Request, objects: ObjectStore, file: StoredFile) -> Response:
    """Send the file, the requested part of it, or 304 when the browser has it already."""
    info = await objects.info(file.key)
    if info is None:
        raise NotFoundError("The file of this clip no longer exists.")
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
    """Redirect to the object store, or None when it is not reachable from outside."""
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
        "Cache-Control": CACHED if "v" in request.query_params else REVALIDATED,
        "Content-Disposition": f'inline; filename="{file.name}"',
    }
