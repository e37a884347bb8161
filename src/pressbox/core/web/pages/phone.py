"""Pages for phones: what is shown without network, and where what is shared with Pressbox goes."""

import re
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import MaybeIdentity
from pressbox.core.web.installable import SHARE_PATH
from pressbox.core.web.pages.access import Reader
from pressbox.core.web.rendering import render

router = APIRouter(include_in_schema=False)

Shared = Annotated[str, Query(max_length=10_000)]
_ADDRESS = re.compile(r"https?://[^\s<>\"]+")
LONGEST_TITLE = 200


@router.get("/offline")
async def offline(request: Request, identity: MaybeIdentity) -> HTMLResponse:
    """The frame for what the service worker kept. It says nothing about anybody."""
    return render(request, "offline.html", identity=identity)


@router.get(SHARE_PATH)
async def share(
    request: Request, _: Reader, title: Shared = "", text: Shared = "", url: Shared = ""
) -> RedirectResponse:
    """An address goes to the reader, anything else becomes a new event."""
    address = find_address(url, text)
    targets = [manifest.share for manifest in request.app.state.manifests if manifest.share is not None]
    if address is not None:
        target = next((one.address for one in targets if one.address), None)
        return _go(target, address=address)
    words = "\n".join(part for part in (title.strip(), text.strip(), url.strip()) if part)
    if not words:
        raise InvalidInputError("Nothing was shared. Share an address or a text with Pressbox.")
    name, _newline, rest = words.partition("\n")
    target = next((one.text for one in targets if one.text), None)
    return _go(target, name=name[:LONGEST_TITLE], description=words if len(name) > LONGEST_TITLE else rest)


def find_address(url: str, text: str) -> str | None:
    """The first address of the web; applications put it into either field, with words around it."""
    found = _ADDRESS.search(url) or _ADDRESS.search(text)
    return found[0].rstrip(".,;:!?)") if found else None


def _go(target: str | None, **fields: str) -> RedirectResponse:
    if target is None:
        raise InvalidInputError("No application here takes what was shared.")
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items() if value)
    return RedirectResponse(f"{target}?{query}", status_code=303)
