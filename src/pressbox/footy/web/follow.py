"""What is followed, for everybody to see and for administrators to change."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ids import PATH
from pressbox.footy.web.access import Administrator, Follows, Reader

router = APIRouter(include_in_schema=False)

TEAMS_SHOWN = 25
FOLLOW_PATH = f"{PATH}/follow"
LARGEST_ID = 2**31 - 1


@router.get(FOLLOW_PATH)
async def follow_page(
    request: Request,
    follows: Follows,
    identity: Reader,
    q: Annotated[str, Query(max_length=100)] = "",
    after: Annotated[int, Query(ge=0, le=LARGEST_ID)] = 0,
) -> HTMLResponse:
    return await _show(request, follows, identity, q, after)


@router.post(FOLLOW_PATH)
async def follow(
    request: Request,
    follows: Follows,
    identity: Administrator,
    kind: Annotated[FollowKind, Form()],
    id: Annotated[str, Form(max_length=20)] = "",
    name: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    try:
        await follows.follow(kind, parse_id(id), name)
    except InvalidInputError as error:
        return await _show(request, follows, identity, "", 0, error.message, error.status)
    return RedirectResponse(f"{FOLLOW_PATH}#followed", status_code=303)


@router.post(f"{FOLLOW_PATH}/remove")
async def unfollow(
    follows: Follows, identity: Administrator, kind: Annotated[FollowKind, Form()], id: Annotated[str, Form()]
) -> Response:
    await follows.unfollow(kind, parse_id(id))
    return RedirectResponse(f"{FOLLOW_PATH}#followed", status_code=303)


def parse_id(text: str) -> int:
    """Parse an id of API-Football as somebody typed it."""
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit() or not 1 <= int(digits) <= LARGEST_ID:
        raise InvalidInputError("The id of a league or team is a number, 1 or higher.", field="id")
    return int(digits)


async def _show(
    request: Request,
    follows: SqlFollows,
    identity: Identity,
    query: str,
    after: int,
    error: str = "",
    status: int = 200,
) -> HTMLResponse:
    return render(
        request,
        "footy/follow.html",
        status,
        identity=identity,
        follows=await follows.load_follows(),
        teams=await follows.search_teams(query.split(), after=after, limit=TEAMS_SHOWN),
        query=query,
        error=error,
        may_change=identity.is_administrator,
    )
