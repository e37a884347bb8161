"""The first page: what is next and new, what needs somebody, then what runs. And the search over everything."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.app import AppManifest, FoundThing
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.progress import reader
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.web.pages.access import Parts, Reader, WorkViewer
from pressbox.core.web.pages.branches import leaf, split, walk
from pressbox.core.web.rendering import render

LATEST = 6
LOOKED_AT = 30
SEARCHED_FINISHED = 200
FOUND_AT_MOST = 25
FOUND_OF_EACH = 8
NEWS = 5

log = get_logger(__name__)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Found:
    """What one application has."""

    manifest: AppManifest
    things: Sequence[FoundThing]


@dataclass(frozen=True)
class Place:
    """A page that can be found by its name or by what it is for."""

    title: str
    path: str
    about: str


PLACES = (
    Place("Activity", "/activity", "workflows running failed finished progress retry cancel"),
    Place("Status", "/status", "health parts versions schedules pause errors"),
    Place("Settings", "/settings", "key football model mail smtp address contact configuration"),
    Place("Users", "/users", "people invite role disable"),
    Place("Account", "/account", "password tokens sessions language sign out"),
    Place("API", "/api/docs", "openapi reference curl"),
    Place("Style guide", "/styleguide", "components colours type"),
)


@router.get("/")
async def home(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer) -> HTMLResponse:
    view = await reader.activity(parts.database, viewer, finished_limit=LOOKED_AT)
    news = [
        Found(manifest, await _look(manifest.news(parts, viewer, NEWS)))
        for manifest in request.app.state.manifests
        if manifest.news is not None
    ]
    opened, closed = split(view.nodes)
    failed = [node for node in walk(opened) if node.state is ProgressState.FAILED]
    return render(
        request,
        "home.html",
        identity=identity,
        view=view,
        news=[found for found in news if found.things],
        running=[leaf(node) for node in opened if node.state is ProgressState.RUNNING][:LATEST],
        failed=failed[:LATEST],
        latest=closed[:LATEST],
        may_control=identity.is_administrator,
    )


@router.get("/search")
async def search(
    request: Request,
    parts: Parts,
    identity: Reader,
    viewer: WorkViewer,
    q: Annotated[str, Query(max_length=200)] = "",
) -> HTMLResponse:
    words = q.casefold().split()
    view = await reader.activity(parts.database, viewer, finished_limit=SEARCHED_FINISHED)
    work = [node for node in walk(view.nodes) if _fits(words, f"{node.title} {node.workflow_id} {node.error}")]
    found = [
        Found(manifest, await _look(manifest.find(parts, viewer, q, FOUND_OF_EACH)))
        for manifest in request.app.state.manifests
        if words and manifest.find is not None
    ]
    applications = [
        Place(manifest.navigation.title, manifest.navigation.path, manifest.summary)
        for manifest in request.app.state.manifests
        if manifest.navigation
    ]
    places = [place for place in (*applications, *PLACES) if _fits(words, f"{place.title} {place.about}")]
    return render(
        request,
        "search.html",
        identity=identity,
        query=q,
        places=places,
        things=[one for one in found if one.things],
        work=[leaf(node) for node in work[:FOUND_AT_MOST]],
        found=sum(len(one.things) for one in found) + len(places) + len(work),
        may_control=identity.is_administrator,
    )


async def _look(asked: Awaitable[Sequence[FoundThing]]) -> Sequence[FoundThing]:
    """One application that does not answer leaves the others standing."""
    try:
        return await asked
    except PressboxError as error:
        log.warning("things_not_found", msg="An application does not answer", error=error.message)
        return ()


def _fits(words: list[str], text: str) -> bool:
    folded = text.casefold()
    return bool(words) and all(word in folded for word in words)
