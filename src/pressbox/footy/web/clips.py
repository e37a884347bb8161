"""The page that shares one clip, with its video and poster. Anybody with the link may see it, and nothing else."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from pressbox.core.errors import GoneError, NotFoundError
from pressbox.core.web.pages.access import Parts
from pressbox.core.web.rendering import render
from pressbox.footy.domain.errors import CoveredError
from pressbox.footy.ids import PATH
from pressbox.footy.web.access import Clips, Goals, Matches, ShareId, Visitor, zone
from pressbox.footy.web.matches import show_disallowed, show_match
from pressbox.footy.web.streaming import StoredFile, direct_link, serve

router = APIRouter(include_in_schema=False)

READING = ["GET", "HEAD"]


# Before the page, whose address would match these names too.
@router.api_route(f"{PATH}/clips/{{share_id}}.mp4", methods=READING)
async def video(
    request: Request, clips: Clips, parts: Parts, share_id: ShareId, direct: Annotated[bool, Query()] = False
) -> Response:
    """Send the file or a part of it. `?direct=1` redirects to the object store where that is reachable from outside.

    Our own pages never use that: their content rules allow video from here only, and browsers often cannot reach the
    store of a cluster.
    """
    found = await clips.find(share_id)
    name = f"goal-{found.event_id}.mp4"
    file = StoredFile(found.object_key, found.content_type, quote_etag(found.etag), name)
    if direct and (link := await direct_link(parts.objects, file)) is not None:
        return link
    return await serve(request, parts.objects, file)


@router.api_route(f"{PATH}/clips/{{share_id}}.jpg", methods=READING)
async def poster(request: Request, clips: Clips, parts: Parts, share_id: ShareId) -> Response:
    found = await clips.find(share_id)
    name = f"goal-{found.event_id}.jpg"
    return await serve(
        request, parts.objects, StoredFile(found.poster_key, found.poster_type, quote_etag(found.etag), name)
    )


@router.get(f"{PATH}/clips/{{share_id}}")
async def share_page(
    request: Request, clips: Clips, goals: Goals, matches: Matches, visitor: Visitor, share_id: ShareId
) -> Response:
    try:
        found = await clips.find(share_id)
        goal = await goals.load_goal(found.event_id)
    except GoneError as error:
        return show_disallowed(request, error, str(error.details.get("event_id") or ""))
    except CoveredError as error:
        return show_match(request, error)
    clip = next((clip for clip in goal.clips if clip.share_id == found.share_id), None)
    if clip is None:
        raise NotFoundError("There is no such clip.")
    fixture = await matches.load_fixture(goal.fixture_id)
    day = fixture.kickoff.astimezone(zone(request)).date()
    return render(request, "footy/clip.html", identity=visitor, clip=clip, goal=goal, fixture=fixture, day=day)


def quote_etag(etag: str) -> str:
    return etag if etag.startswith('"') else f'"{etag}"'
