"""JSON: match days, fixtures, goals and their trails, search, teams, and what is followed."""

from datetime import UTC, date, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query

from pressbox.footy.domain.views import FollowKind
from pressbox.footy.web.access import Administrator, EventId, FixtureId, Reader, Service
from pressbox.footy.web.api_models import (
    After,
    AuditAnswer,
    CandidateAnswer,
    DayAnswer,
    FixtureAnswer,
    FollowAnswer,
    FollowBody,
    GoalAnswer,
    PageAnswer,
    PageSize,
    SearchAnswer,
    TeamAnswer,
    fixture_page,
    goal_page,
)

router = APIRouter(prefix="/api/footy")
# One group, one page of the reference: together they would not be a small page.
matches = APIRouter(tags=["matches"])
goals = APIRouter(tags=["goals"])
following = APIRouter(tags=["teams"])

Day = Annotated[date | None, Query(ge=date(1900, 1, 1), le=date(2200, 1, 1), description="A day of UTC; or today.")]
Span = Annotated[int, Query(ge=0, le=62)]
Words = Annotated[str, Query(max_length=100)]
FollowedId = Annotated[int, Path(ge=1, le=2**31 - 1)]


@matches.get("/dates", summary="Days around one, with how many fixtures each has")
async def dates(
    service: Service, identity: Reader, around: Day = None, before: Span = 14, after: Span = 14
) -> list[DayAnswer]:
    found = await service.matches.days(around or _today(), before, after)
    return [DayAnswer.model_validate(day) for day in found]


@matches.get("/fixtures", summary="Fixtures of a day with goals and clips, by competition and kick-off")
async def fixtures(
    service: Service, identity: Reader, date: Day = None, after: After = None, limit: PageSize = 50
) -> PageAnswer[FixtureAnswer]:
    return fixture_page(await service.matches.fixtures(date or _today(), after=after, limit=limit))


@matches.get("/fixtures/{fixture_id}", summary="One fixture with its goals and clips")
async def fixture(service: Service, identity: Reader, fixture_id: FixtureId) -> FixtureAnswer:
    return FixtureAnswer.of(await service.matches.fixture(fixture_id))


@goals.get("/goals/{event_id}", summary="One goal with its clips; 410 when it was disallowed")
async def goal(service: Service, identity: Reader, event_id: EventId) -> GoalAnswer:
    return GoalAnswer.of(await service.goals.get(event_id))


@goals.get("/goals/{event_id}/audit", summary="Why a goal has the clips it has, also when it was disallowed")
async def audit(
    service: Service, identity: Reader, event_id: EventId, after: After = None, limit: PageSize = 100
) -> AuditAnswer:
    found = await service.goals.audit(event_id, limit=limit)
    candidates = found.candidates
    if after is not None:
        candidates = await service.goals.candidates(event_id, after=after, limit=limit)
    told = PageAnswer[CandidateAnswer].model_validate(candidates)
    return AuditAnswer.model_validate(vars(found) | {"event_id": event_id, "candidates": told})


@matches.get("/search", summary="Matches by team and goals by scorer, newest first")
async def search(
    service: Service,
    identity: Reader,
    q: Words,
    after_fixtures: After = None,
    after_goals: After = None,
    limit: PageSize = 20,
) -> SearchAnswer:
    return SearchAnswer(
        fixtures=fixture_page(await service.matches.search_fixtures(q, after=after_fixtures, limit=limit)),
        goals=goal_page(await service.matches.search_goals(q, after=after_goals or 0, limit=limit)),
    )


@following.get("/teams", summary="Teams that were met in a fixture, with the names that searches use")
async def teams(
    service: Service, identity: Reader, q: Words = "", after: After = None, limit: PageSize = 50
) -> PageAnswer[TeamAnswer]:
    return PageAnswer[TeamAnswer].model_validate(await service.teams.teams(q, after=after or 0, limit=limit))


@following.get("/follow", summary="Leagues and teams that are followed")
async def follows(service: Service, identity: Reader) -> list[FollowAnswer]:
    return [FollowAnswer.model_validate(follow) for follow in await service.teams.follows()]


@following.post("/follow", status_code=201, summary="Follow a league or a team, for everybody; administrators only")
async def follow(service: Service, identity: Administrator, body: FollowBody) -> list[FollowAnswer]:
    found = await service.teams.follow(body.kind, body.id, body.name)
    return [FollowAnswer.model_validate(follow) for follow in found]


@following.delete("/follow/{kind}/{id}", summary="No longer follow a league or a team; administrators only")
async def unfollow(service: Service, identity: Administrator, kind: FollowKind, id: FollowedId) -> list[FollowAnswer]:
    return [FollowAnswer.model_validate(follow) for follow in await service.teams.unfollow(kind, id)]


def _today() -> date:
    return datetime.now(UTC).date()


for part in (matches, goals, following):
    router.include_router(part)
