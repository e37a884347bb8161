"""What is followed, for everybody to see and for administrators to change; and the search for matches and goals."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.domain.views import FixtureView, FollowKind, GoalHit, Page
from pressbox.footy.service.footy import Footy
from pressbox.footy.web.access import PATH, Administrator, Reader, Service

router = APIRouter(include_in_schema=False)

TEAMS_SHOWN = 25
FOUND_SHOWN = 15
FOLLOW_PATH = f"{PATH}/follow"
LARGEST_ID = 2**31 - 1


@router.get(FOLLOW_PATH)
async def follow_page(
    request: Request,
    service: Service,
    identity: Reader,
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0,
) -> HTMLResponse:
    return await _page(request, service, identity, q, after)


@router.post(FOLLOW_PATH)
async def follow(
    request: Request,
    service: Service,
    identity: Administrator,
    kind: Annotated[FollowKind, Form()],
    id: Annotated[str, Form(max_length=20)] = "",
    name: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    try:
        await service.teams.follow(kind, number_of(id), name)
    except InvalidInputError as error:
        return await _page(request, service, identity, "", 0, error.message, error.status)
    return RedirectResponse(f"{FOLLOW_PATH}#followed", status_code=303)


@router.post(f"{FOLLOW_PATH}/remove")
async def unfollow(
    service: Service, identity: Administrator, kind: Annotated[FollowKind, Form()], id: Annotated[str, Form()]
) -> Response:
    await service.teams.unfollow(kind, number_of(id))
    return RedirectResponse(f"{FOLLOW_PATH}#followed", status_code=303)


@router.get(f"{PATH}/search")
async def search_page(
    request: Request, service: Service, identity: Reader, q: Annotated[str, Query(max_length=100)] = ""
) -> HTMLResponse:
    fixtures, goals, problem = Page[FixtureView](()), Page[GoalHit](()), ""
    if q.strip():
        try:
            fixtures = await service.matches.search_fixtures(q, limit=FOUND_SHOWN)
            goals = await service.matches.search_goals(q, limit=FOUND_SHOWN)
        except InvalidInputError as error:
            problem = error.message
    return render(
        request, "footy/search.html", identity=identity, query=q, fixtures=fixtures, goals=goals, problem=problem
    )


def number_of(text: str) -> int:
    """Ids are those of API-Football; a form sends what was typed."""
    if not text.strip().isascii() or not text.strip().isdigit() or int(text) > LARGEST_ID:
        raise InvalidInputError("The id of a league or team is a number from 1 on.", field="id")
    return int(text)


async def _page(
    request: Request, service: Footy, identity: Identity, query: str, after: int, error: str = "", status: int = 200
) -> HTMLResponse:
    return render(
        request,
        "footy/follow.html",
        status,
        identity=identity,
        follows=await service.teams.follows(),
        teams=await service.teams.teams(query, after=after, limit=TEAMS_SHOWN),
        query=query,
        error=error,
        may_change=identity.is_administrator,
    )
