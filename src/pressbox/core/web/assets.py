"""Static files: our own and the one library we serve, addressed by a hash of their content."""

import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from mimetypes import guess_type

from fastapi import APIRouter, Request, Response

from pressbox.core.errors import NotFoundError

STATIC_PATH = "/static"
HTMX = "htmx.min.js"

router = APIRouter(prefix=STATIC_PATH, include_in_schema=False)


@cache
def _assets() -> dict[str, Traversable]:
    # A closed list: a path from outside is only ever a key of it, so there is nothing to traverse.
    ours = {entry.name: entry for entry in (files("pressbox.core.web") / "static").iterdir() if entry.is_file()}
    return {**ours, HTMX: files("js_lib_htmx") / "static" / "htmx" / HTMX}


@cache
def _content(name: str) -> tuple[bytes, str]:
    body = _assets()[name].read_bytes()
    if name.endswith(".css"):
        body = _without_notes(body)
    return body, hashlib.sha256(body).hexdigest()[:12]


def _without_notes(styles: bytes) -> bytes:
    """Removes comments, and the spaces and zeros that only people need. Spaces inside values stay."""
    text = re.sub(rb"/\*.*?\*/", b"", styles, flags=re.DOTALL)
    text = re.sub(rb"\s+", b" ", text)
    text = re.sub(rb" ?([{};,>]) ?", rb"\1", text)
    text = re.sub(rb"(?<=[ :,(-])0\.(?=\d)", b".", text)
    return re.sub(rb"(?<=[a-z-]): ", b":", text).replace(b";}", b"}").strip()


def static_url(name: str) -> str:
    """Address of a file in this version of it: a browser may keep it for ever."""
    return f"{STATIC_PATH}/{name}?v={_content(name)[1]}"


@router.get("/{name}")
async def static_file(request: Request, name: str) -> Response:
    if name not in _assets():
        raise NotFoundError("There is no such file.", name=name)
    body, digest = _content(name)
    fixed = request.query_params.get("v") == digest
    headers = {
        "ETag": f'"{digest}"',
        # Modules import each other without the hash, so those requests ask whether the file is still the same.
        "Cache-Control": "public, max-age=31536000, immutable" if fixed else "no-cache",
    }
    if request.headers.get("if-none-match") == f'"{digest}"':
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=_media_type(name))


def _media_type(name: str) -> str:
    if name.endswith("speculation.json"):
        return "application/speculationrules+json"
    if name.endswith(".js"):
        return "text/javascript"
    return guess_type(name)[0] or "application/octet-stream"
