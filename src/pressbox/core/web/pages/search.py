"""The search over everything: as a page, and as the list below the field while somebody types."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.db.words import fits
from pressbox.core.progress import reader
from pressbox.core.stored_settings.sections import declared_sections
from pressbox.core.today.contracts import FoundThing, Place
from pressbox.core.today.searching import FoundGroup, search_everything
from pressbox.core.web.identity import Identity
from pressbox.core.web.pages.access import Parts, Reader, WorkViewer
from pressbox.core.web.pages.branches import leaf, walk
from pressbox.core.web.rendering import render, translator

SEARCHED_FINISHED = 200
TASKS_AT_MOST = 25
OF_EACH = 8
OF_EACH_TYPED = 4

router = APIRouter(include_in_schema=False)
Words = Annotated[str, Query(max_length=200)]


SETTINGS = (
    Place("Settings", "/settings", "key football model mail smtp address contact configuration", True),
    Place("Users", "/users", "people invite role disable", True),
    Place("Account", "/account", "password tokens sessions language sign out second factor passkey"),
    Place("Digest", "/digest", "daily weekly summary mail time zone newsletter"),
    Place("Arrange the first page", "/today/arrange", "today front page sections order hide"),
    Place("Your data", "/account/data", "export download delete account privacy"),
)
HELP = (
    Place("Activity", "/activity", "workflows running failed finished progress retry cancel"),
    Place("Status", "/status", "health parts versions schedules pause errors"),
    Place("API", "/api/docs", "openapi reference curl"),
    Place("Style guide", "/styleguide", "components colours type"),
)


@router.get("/search")
async def search(request: Request, parts: Parts, identity: Reader, viewer: WorkViewer, q: Words = "") -> HTMLResponse:
    groups = await search_everything(parts, viewer, request.app.state.manifests, q, OF_EACH)
    groups = [*groups, *_find_places(request, identity, q)]
    view = await reader.activity(parts.database, viewer, finished_limit=SEARCHED_FINISHED)
    work = [node for node in walk(view.nodes) if _has_all(q, f"{node.title} {node.workflow_id} {node.error}")]
    return render(
        request,
        "search.html",
        identity=identity,
        query=q,
        groups=groups,
        work=[leaf(node) for node in work[:TASKS_AT_MOST]],
        found=sum(len(group.things) for group in groups) + len(work),
        may_control=identity.is_administrator,
    )


@router.get("/search/part")
async def search_part(
    request: Request, parts: Parts, identity: Reader, viewer: WorkViewer, q: Words = ""
) -> HTMLResponse:
    """The list below the field."""
    groups = await search_everything(parts, viewer, request.app.state.manifests, q, OF_EACH_TYPED)
    places = _find_places(request, identity, q)
    return render(request, "_found.html", identity=identity, query=q, groups=[*groups, *places])


def _find_places(request: Request, identity: Identity, typed: str) -> Iterator[FoundGroup]:
    """Pages by their names and by what they are for, in the language of whoever asks and in English."""
    translate = translator(request)
    manifests = request.app.state.manifests
    sections = [
        Place(
            section.title,
            f"/settings/{section.key}",
            f"{section.summary} {' '.join(field.label for field in section.fields)}",
            True,
        )
        for section in declared_sections(manifests)
    ]
    applications = [
        Place(manifest.navigation.title, manifest.navigation.path, manifest.summary)
        for manifest in manifests
        if manifest.navigation
    ]
    for key, title, places in (
        ("settings", "Settings", (*SETTINGS, *sections)),
        ("help", "Help and pages", (*applications, *(place for one in manifests for place in one.help), *HELP)),
    ):
        found = [
            FoundThing(place.title, place.path, ours=True)
            for place in places
            if (identity.is_administrator or not place.for_administrators)
            and fits(f"{place.title} {place.about} {translate(place.title)} {translate(place.about)}", typed)
        ]
        if found:
            yield FoundGroup(key, title, found[:OF_EACH])


def _has_all(typed: str, text: str) -> bool:
    folded = text.casefold()
    return bool(typed.split()) and all(word in folded for word in typed.casefold().split())
