"""What the pages of the reader ask of a request: who reads, where they are, and what they may load."""

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import HTMLResponse

from pressbox.core.config import Settings
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.identity import SignedInIdentity, is_secure
from pressbox.core.web.security import CONTENT_SECURITY_POLICY
from pressbox.curator.names import PATH as PATH

LARGEST_ID = 2**63 - 1
EntryId = Annotated[int, Path(ge=1, le=LARGEST_ID)]
FeedId = Annotated[int, Path(ge=1, le=LARGEST_ID)]

Reader = SignedInIdentity

IMAGES_COOKIE = "pressbox_images"


async def cursor(request: Request) -> int:
    """From where a page follows changes. Read before the page's own data, so that nothing falls between."""
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()


def wants_images(request: Request) -> bool:
    return request.cookies.get(IMAGES_COOKIE) != "off"


def allow_images(request: Request, page: HTMLResponse) -> HTMLResponse:
    """Articles may show pictures of their publishers, unless the reader switched that off; nothing else changes."""
    if wants_images(request):
        settings: Settings = request.app.state.settings
        # Over https a browser would not load them anyhow; where we ourselves are plain http nothing is lost.
        sources = "https:" if is_secure(settings) else "https: http:"
        policy = CONTENT_SECURITY_POLICY.replace("img-src 'self' data:", f"img-src 'self' data: {sources}")
        page.headers["content-security-policy"] = policy
    return page


def wants_part(request: Request) -> bool:
    """Our script asks for the changed part only; a form without it gets a page."""
    return "x-part" in request.headers
