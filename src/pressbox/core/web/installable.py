"""What makes Pressbox an application that phones install: the manifest, the service worker and its icon for Apple.

Served without a session and without a database: browsers ask for these by themselves, at any time.
"""

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from pressbox.core.app import AppManifest
from pressbox.core.web.assets import StaticFiles, static_files
from pressbox.core.web.folders import CORE_PACKAGE
from pressbox.core.web.languages import choose_language, translations

MANIFEST_PATH = "/manifest.webmanifest"
WORKER_PATH = "/service-worker.js"
SHARE_PATH = "/share"
# As in the stylesheet: --paper in light colours. In dark ones pages say theirs.
PAPER = "#fcfbf8"
ICON, BADGE = "icon-192.png", "icon-badge.png"
# What the offline page needs to be drawn.
SHELL = ("pressbox.css", "offline.css", "core.js", "offline.js", "icon.svg", ICON, BADGE)

NOTHING_HERE = "There is no network, and nothing of Pressbox is kept on this device yet."
AGAIN = "Try again"
UNREADABLE = "Something new in Pressbox"
DESCRIPTION = "Follows matches, events and feeds for you, and tells you what matters."

router = APIRouter(include_in_schema=False)


@router.get(MANIFEST_PATH)
async def web_manifest(request: Request) -> Response:
    manifests: Sequence[AppManifest] = request.app.state.manifests
    language = _language(request)
    content = describe(manifests, static_files(manifests), language)
    return Response(
        json.dumps(content, ensure_ascii=False),
        media_type="application/manifest+json",
        headers={"Cache-Control": "no-cache", "Vary": "Accept-Language"},
    )


@router.get(WORKER_PATH)
async def service_worker(request: Request) -> Response:
    """Browsers ask for it again with every visit and take another one at once: it is never kept."""
    manifests: Sequence[AppManifest] = request.app.state.manifests
    script = write_worker(static_files(manifests), _language(request))
    return Response(script, media_type="text/javascript", headers={"Cache-Control": "no-cache"})


@router.get("/apple-touch-icon.png")
async def apple_icon(request: Request) -> Response:
    asset = static_files(request.app.state.manifests).load("icon-apple.png")
    return Response(asset.body, media_type=asset.media_type, headers={"Cache-Control": "public, max-age=86400"})


def describe(manifests: Sequence[AppManifest], static: StaticFiles, language: str) -> dict[str, Any]:
    """The web application manifest."""
    packages = (CORE_PACKAGE, *(manifest.package for manifest in manifests if manifest.package))
    say = translations(language, packages).gettext
    places = [manifest.navigation for manifest in manifests if manifest.navigation]
    icon = {"src": static.url(ICON), "sizes": "192x192", "type": "image/png"}
    return {
        "id": "/",
        "name": "Pressbox",
        "short_name": "Pressbox",
        "description": say(DESCRIPTION),
        "lang": language,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,
        "categories": ["news", "sports"],
        "icons": [
            icon | {"purpose": "any"},
            {"src": static.url("icon-512.png"), "sizes": "512x512", "type": "image/png", "purpose": "any"},
            {"src": static.url("icon-maskable.png"), "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
        ],
        "shortcuts": [{"name": say(place.title), "url": place.path, "icons": [icon]} for place in places],
        "share_target": {
            "action": SHARE_PATH,
            "method": "GET",
            "enctype": "application/x-www-form-urlencoded",
            "params": {"title": "title", "text": "text", "url": "url"},
        },
    }


def write_worker(static: StaticFiles, language: str) -> str:
    """The service worker with what it has to know: which version of our files it belongs to, and its words."""
    say = translations(language, (CORE_PACKAGE,)).gettext
    facts = {
        "VERSION": hash_files(static),
        "SHELL": [static.url(name) for name in SHELL],
        "ICON": static.url(ICON),
        "BADGE": static.url(BADGE),
        "WORDS": {
            "language": language,
            "nothing": say(NOTHING_HERE),
            "again": say(AGAIN),
            "unreadable": say(UNREADABLE),
        },
    }
    lines = [f"const {name} = {json.dumps(value, ensure_ascii=False)};" for name, value in facts.items()]
    return "\n".join([*lines, static.load("service-worker.js").body.decode()])


def hash_files(static: StaticFiles) -> str:
    """Another one with every change of any file that pages use, and with every release."""
    digests = [f"{name} {static.load(name).digest}" for name in static.names]
    return hashlib.sha256("\n".join([version("pressbox"), *digests]).encode()).hexdigest()[:16]


def _language(request: Request) -> str:
    return choose_language(None, request.headers.get("accept-language", ""))
