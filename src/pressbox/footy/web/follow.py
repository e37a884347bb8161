"""What a person follows, and what else is fetched here. Administrators decide what is fetched for everybody."""

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.follows import SqlFollows
from pressbox.footy.domain.views import FollowKind, FollowView
from pressbox.footy.ids import DAY_TOPIC, PATH, team_path
from pressbox.footy.service.following import Following, Found
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.access import Administrator, Follows, OurSettings, Reader, Teams, cursor, zone

router = APIRouter(include_in_schema=False)

FOLLOW_PATH = f"{PATH}/follow"
LARGEST_ID = 2**31 - 1
Words = Annotated[str, Query(max_length=100)]
TypedWords = Annotated[str, Form(max_length=100)]


@dataclass(frozen=True)
class FollowPage:
    """`done` is what was just followed; `late` when its matches wait for the daily fetch.

    `own` is what the person follows, `others` what is fetched here beside it.
    """

    own: list[FollowView]
    others: list[FollowView]
    found: Found
    query: str
    done: FollowView | None
    late: bool
    has_key: bool
    cursor: int
    error: str = ""

    @property
    def follow(self) -> str:
        return DAY_TOPIC


@router.get(FOLLOW_PATH)
async def follow_page(
    request: Request,
    follows: Follows,
    teams: Teams,
    settings: OurSettings,
    identity: Reader,
    q: Words = "",
    done: Words = "",
    late: bool = False,
) -> HTMLResponse:
    page = await _read(request, identity, follows, teams, settings, q, done, late)
    return _show(request, identity, page)


@router.get(f"{FOLLOW_PATH}/found")
async def found_part(request: Request, teams: Teams, identity: Reader, q: Words = "") -> HTMLResponse:
    """Only what a search finds. It costs no request, so it is asked for while somebody types."""
    return render(
        request,
        "footy/_found.html",
        identity=identity,
        found=await teams.search(q, await teams.load_own(identity.user_id)),
        query=q,
        may_ask=identity.is_administrator,
    )


@router.get(f"{FOLLOW_PATH}/live")
async def followed_part(
    request: Request, follows: Follows, teams: Teams, settings: OurSettings, identity: Reader
) -> HTMLResponse:
    """Only what is followed, with the next matches."""
    page = await _read(request, identity, follows, teams, settings)
    return _show(request, identity, page, "footy/_followed.html")


@router.post(f"{FOLLOW_PATH}/search")
async def ask(
    request: Request,
    follows: Follows,
    teams: Teams,
    settings: OurSettings,
    identity: Administrator,
    q: TypedWords = "",
) -> Response:
    """Have API-Football search. What it finds is kept, so the page that follows costs nothing."""
    try:
        await teams.ask(q)
    except PressboxError as error:
        page = await _read(request, identity, follows, teams, settings, q, error=error.message)
        return _show(request, identity, page)
    return RedirectResponse(f"{FOLLOW_PATH}?{urlencode({'q': q})}", status_code=303)


@router.post(FOLLOW_PATH)
async def follow(
    request: Request,
    follows: Follows,
    teams: Teams,
    settings: OurSettings,
    identity: Reader,
    kind: Annotated[FollowKind, Form()],
    id: Annotated[str, Form(max_length=20)] = "",
    q: TypedWords = "",
    origin: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    """From the page of a team the way leads back there."""
    try:
        outcome = await teams.follow_for(identity.user_id, kind, parse_id(id), str(zone(request)))
    except PressboxError as error:
        page = await _read(request, identity, follows, teams, settings, q, error=error.message)
        return _show(request, identity, page, status=error.status)
    if origin == "team" and outcome.entry.id > 0:
        late = "" if outcome.fetching else "?late=1"
        return RedirectResponse(f"{team_path(outcome.entry.id)}{late}", status_code=303)
    told = {"done": f"{kind}:{outcome.entry.id}"} | ({} if outcome.fetching else {"late": "1"})
    return RedirectResponse(f"{FOLLOW_PATH}?{urlencode({'q': q} | told)}", status_code=303)


@router.post(f"{FOLLOW_PATH}/remove")
async def unfollow(
    teams: Teams,
    identity: Reader,
    kind: Annotated[FollowKind, Form()],
    id: Annotated[str, Form(max_length=20)],
    q: TypedWords = "",
    origin: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    number = parse_id(id)
    await teams.unfollow_for(identity.user_id, kind, number)
    if origin == "team" and number > 0:
        return RedirectResponse(team_path(number), status_code=303)
    return RedirectResponse(f"{FOLLOW_PATH}?{urlencode({'q': q})}", status_code=303)


@router.post(f"{FOLLOW_PATH}/stop")
async def stop(
    teams: Teams, identity: Administrator, kind: Annotated[FollowKind, Form()], id: Annotated[str, Form(max_length=20)]
) -> Response:
    """No longer fetch it for everybody. Its matches still come while somebody follows it."""
    await teams.unfollow(kind, parse_id(id))
    return RedirectResponse(FOLLOW_PATH, status_code=303)


def parse_id(text: str) -> int:
    """Parse the id of a league or team, which is negative where only the program's own list has it."""
    text = text.strip()
    digits = text.removeprefix("-")
    # More digits than a number may have would be an error of another kind.
    if not digits.isascii() or not digits.isdigit() or not 1 <= int(digits[:20]) <= LARGEST_ID:
        raise InvalidInputError("There is no such league or team. Search for it by its name.", field="id")
    return int(text)


async def _read(
    request: Request,
    identity: Identity,
    follows: SqlFollows,
    teams: Following,
    settings: FootySettings,
    query: str = "",
    done: str = "",
    late: bool = False,
    error: str = "",
) -> FollowPage:
    at = await cursor(request)
    mine = await teams.load_own(identity.user_id)
    own: list[FollowView] = []
    others: list[FollowView] = []
    for view in await follows.load_follows():
        numbers = mine.leagues if view.kind is FollowKind.LEAGUE else mine.teams
        (own if view.id in numbers else others).append(view)
    new = next((view for view in own if f"{view.kind}:{view.id}" == done), None)
    has_key = settings.api_key is not None
    return FollowPage(own, others, await teams.search(query, mine), query, new, late, has_key, at, error)


def _show(
    request: Request, identity: Identity, page: FollowPage, template: str = "footy/follow.html", status: int = 200
) -> HTMLResponse:
    return render(
        request,
        template,
        status,
        identity=identity,
        view=page,
        found=page.found,
        query=page.query,
        error=page.error,
        may_ask=identity.is_administrator,
    )
