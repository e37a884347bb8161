"""JSON: match days, fixtures, goals and their trails, search, teams, and what is followed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from pressbox.core.clock import utc_now
from pressbox.core.web.api_models import RequestBody
from pressbox.core.web.joining import join_routers
from pressbox.footy.domain.names import search_words
from pressbox.footy.domain.views import (
    AuditView,
    DayView,
    FixtureView,
    FollowKind,
    FollowView,
    FoundByName,
    FoundEntry,
    GoalView,
    Page,
    TeamView,
)
from pressbox.footy.web.access import Administrator, EventId, FixtureId, Follows, Goals, Matches, Reader, Teams

# A group is a page of the reference: one for everything would be too long.
matches = APIRouter(prefix="/api/footy", tags=["matches"])
goals = APIRouter(prefix="/api/footy", tags=["goals"])
following = APIRouter(prefix="/api/footy", tags=["teams"])

Day = Annotated[date | None, Query(ge=date(1900, 1, 1), le=date(2200, 1, 1), description="A day of UTC; or today.")]
Span = Annotated[int, Query(ge=0, le=62)]
Words = Annotated[str, Query(max_length=100)]
After = Annotated[int | None, Query(ge=0, le=2**63 - 1, description="The `after` of the page before.")]
PageSize = Annotated[int, Query(ge=1, le=200)]
FollowedId = Annotated[int, Path(ge=-(2**31), le=2**31 - 1)]


class SearchBody(RequestBody):
    q: str = Field(max_length=100)


class FollowBody(RequestBody):
    kind: FollowKind
    id: int = Field(ge=-(2**31), le=2**31 - 1, description="As API-Football numbers it, or as the directory says.")
    name: str = Field("", max_length=100)


@matches.get("/dates", summary="Days around one, with how many fixtures each has")
async def dates(
    store: Matches, identity: Reader, around: Day = None, before: Span = 14, after: Span = 14
) -> Sequence[DayView]:
    day = around or utc_now().date()
    return await store.load_days(day - timedelta(days=before), day + timedelta(days=after))


@matches.get("/fixtures", summary="Fixtures of a day with goals and clips, by competition and kick-off")
async def fixtures(
    store: Matches, identity: Reader, date: Day = None, after: After = None, limit: PageSize = 50
) -> Page[FixtureView]:
    return await store.load_fixtures(date or utc_now().date(), after=after, limit=limit)


@matches.get("/fixtures/{fixture_id}", summary="One fixture with its goals and clips")
async def fixture(store: Matches, identity: Reader, fixture_id: FixtureId) -> FixtureView:
    return await store.load_fixture(fixture_id)


@goals.get("/goals/{event_id}", summary="One goal with its clips; 410 when it was disallowed")
async def goal(store: Goals, identity: Reader, event_id: EventId) -> GoalView:
    return await store.load_goal(event_id)


@goals.get("/goals/{event_id}/audit", summary="Why a goal has the clips it has, also when it was disallowed")
async def audit(
    store: Goals, identity: Reader, event_id: EventId, after: After = None, limit: PageSize = 100
) -> AuditView:
    found = await store.load_audit(event_id, limit=limit)
    if after is None:
        return found
    return replace(found, candidates=await store.load_candidates(event_id, after=after, limit=limit))


@matches.get("/search", summary="Matches by team and goals by scorer, newest first")
async def search(
    store: Matches,
    identity: Reader,
    q: Words,
    after_fixtures: After = None,
    after_goals: After = None,
    limit: PageSize = 20,
) -> FoundByName:
    words = search_words(q)
    return FoundByName(
        fixtures=await store.search_fixtures(words, after=after_fixtures, limit=limit),
        goals=await store.search_goals(words, after=after_goals or 0, limit=limit),
    )


@following.get("/teams", summary="Teams that were met in a fixture, with the names that searches use")
async def teams(
    store: Follows, identity: Reader, q: Words = "", after: After = None, limit: PageSize = 50
) -> Page[TeamView]:
    return await store.search_teams(q.split(), after=after or 0, limit=limit)


@following.get("/directory", summary="Leagues and teams by name, also such as no fixture has been met with")
async def directory(teams: Teams, identity: Reader, q: Words) -> Sequence[FoundEntry]:
    """Asks nobody: what API-Football was asked for before is known."""
    return (await teams.search(q)).entries


@following.post("/directory", summary="The same, asking API-Football where it was not asked yet; administrators only")
async def ask_directory(teams: Teams, identity: Administrator, body: SearchBody) -> Sequence[FoundEntry]:
    """Costs two requests of the day's budget the first time, and none for a month."""
    await teams.ask(body.q)
    return (await teams.search(body.q)).entries


@following.get("/follow", summary="Leagues and teams that are followed")
async def follows(store: Follows, identity: Reader) -> Sequence[FollowView]:
    return await store.load_follows()


@following.post("/follow", status_code=201, summary="Follow a league or a team, for everybody; administrators only")
async def follow(store: Follows, teams: Teams, identity: Administrator, body: FollowBody) -> Sequence[FollowView]:
    await teams.follow(body.kind, body.id, body.name)
    return await store.load_follows()


@following.put("/follow/own/{kind}/{id}", status_code=204, summary="Follow a league or a team and hear of its goals")
async def follow_own(teams: Teams, identity: Reader, kind: FollowKind, id: FollowedId) -> None:
    """What you follow, with mute and end, is at `/api/follows`."""
    await teams.follow_for(identity.user_id, kind, id)


@following.delete("/follow/{kind}/{id}", summary="No longer follow a league or a team; administrators only")
async def unfollow(store: Follows, identity: Administrator, kind: FollowKind, id: FollowedId) -> Sequence[FollowView]:
    await store.unfollow(kind, id)
    return await store.load_follows()


router = join_routers(matches, goals, following)
