"""A match with its goals and the clips of one of them; a goal; and why a goal has the clips it has."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from pressbox.core.app import Resources, WrittenAbout
from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import GoneError
from pressbox.core.web.errors import wants_json
from pressbox.core.web.identity import Identity
from pressbox.core.web.pages.access import Parts, WorkViewer
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.goal_reader import GoalReader, fixture_of
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.domain.errors import CoveredError
from pressbox.footy.domain.moments import MatchRecord, Moment
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.trail import build_decisions, build_rows
from pressbox.footy.domain.views import AuditView, Corrections, FixtureView, GoalState, GoalView
from pressbox.footy.ids import FIXTURE_TOPIC, GOAL_TOPIC, PATH, match_path
from pressbox.footy.service.following import Following
from pressbox.footy.web.access import EventId, FixtureId, Goals, Matches, Reader, Teams, cursor, zone
from pressbox.footy.web.writing import AFTER_MATCH, BEFORE_MATCH, MOST_WRITTEN, Written, choose_names, load_written

router = APIRouter(include_in_schema=False)

CANDIDATES_SHOWN = 100
# The last minute of the first half; added time is counted beside it.
FIRST_HALF = 45


@dataclass(frozen=True)
class MatchPage:
    """`goal` is the one whose clips are shown; `chosen` is its id if the address names it.

    `audit` explains why it has no clip. `gone` is a chosen goal that was disallowed.
    """

    fixture: FixtureView
    goal: GoalView | None
    chosen: str
    gone: GoalView | None
    audit: AuditView | None
    corrections: Corrections
    record: MatchRecord
    cursor: int

    @property
    def follow(self) -> str:
        followed = f"{FIXTURE_TOPIC}:{self.fixture.fixture_id}"
        named = self.chosen or (self.goal.event_id if self.goal else "")
        return f"{followed},{GOAL_TOPIC}:{named}" if named else followed

    @property
    def source(self) -> str:
        path = f"{PATH}/matches/{self.fixture.fixture_id}/live"
        return f"{path}?goal={self.chosen}" if self.chosen else path

    @property
    def timeline(self) -> list[GoalView]:
        """Every goal that was shown as one, disallowed ones too, in the order of the match."""
        shown = (*self.fixture.goals, *self.corrections.disallowed)
        return sorted(shown, key=lambda goal: (goal.elapsed, goal.extra or 0, goal.home_score + goal.away_score))

    @property
    def events(self) -> list[GoalView | Moment]:
        """The whole match in its order. A goal comes before what else happened in its minute."""
        happened: list[GoalView | Moment] = [*self.timeline, *self.record.moments]
        return sorted(happened, key=lambda event: (event.elapsed, event.extra or 0, isinstance(event, Moment)))

    @property
    def first_half(self) -> list[GoalView | Moment]:
        return [event for event in self.events if event.elapsed <= FIRST_HALF]

    @property
    def second_half(self) -> list[GoalView | Moment]:
        return [event for event in self.events if event.elapsed > FIRST_HALF]

    @property
    def attempt(self) -> int:
        return max((search.attempt for search in self.audit.searches), default=0) if self.audit else 0


def choose_goal(fixture: FixtureView, chosen: str) -> GoalView | None:
    """The chosen goal; without a choice the newest one with clips, or else the newest."""
    if chosen:
        return next((goal for goal in fixture.goals if goal.event_id == chosen), None)
    newest_first = fixture.goals[::-1]
    return next((goal for goal in newest_first if goal.clips), next(iter(newest_first), None))


async def read_match(
    request: Request, matches: MatchReader, goals: GoalReader, fixture_id: int, chosen: str = ""
) -> MatchPage:
    at = await cursor(request)
    fixture = await matches.load_fixture(fixture_id)
    goal = choose_goal(fixture, chosen)
    gone = None
    if chosen and goal is None and not fixture.covered:
        gone = (await goals.load_audit(chosen, limit=1)).goal
    audit = await _explain(goals, goal) if goal and not goal.clips else None
    corrections, record = await matches.load_corrections(fixture_id), await matches.load_record(fixture_id)
    return MatchPage(fixture, goal, chosen, gone, audit, corrections, record, at)


async def _explain(goals: GoalReader, goal: GoalView) -> AuditView | None:
    """Why it has no clip; None for who may not know all of it yet."""
    try:
        return await goals.load_audit(goal.event_id, limit=1)
    except CoveredError:
        return None


def _show(
    request: Request,
    identity: Identity,
    view: MatchPage,
    template: str = "footy/match.html",
    written: Written | None = None,
) -> HTMLResponse:
    attempts = FootyPolicy().attempts
    day = view.fixture.kickoff.astimezone(zone(request)).date()
    return render(request, template, identity=identity, view=view, attempts=attempts, day=day, written=written)


async def _load_written(
    request: Request, parts: Resources, teams: Following, viewer: Viewer, fixture: FixtureView
) -> Written:
    """What names both sides, from some days before the match to some days after it."""
    sides = []
    for side in (fixture.home, fixture.away):
        team = await teams.find_team(side.team_id)
        sides.append(choose_names(side.name, team.aliases if team else ()))
    since, until = fixture.kickoff - BEFORE_MATCH, fixture.kickoff + AFTER_MATCH
    return await load_written(request, parts, viewer, WrittenAbout(tuple(sides), since, until, MOST_WRITTEN))


@router.get(f"{PATH}/matches/{{fixture_id}}")
async def match_page(
    request: Request,
    parts: Parts,
    teams: Teams,
    matches: Matches,
    goals: Goals,
    identity: Reader,
    viewer: WorkViewer,
    fixture_id: FixtureId,
) -> HTMLResponse:
    view = await read_match(request, matches, goals, fixture_id)
    written = await _load_written(request, parts, teams, viewer, view.fixture)
    return _show(request, identity, view, written=written)


@router.get(f"{PATH}/matches/{{fixture_id}}/live")
async def match_part(
    request: Request, matches: Matches, goals: Goals, identity: Reader, fixture_id: FixtureId, goal: str = ""
) -> HTMLResponse:
    """Only the part of the page that follows changes. It says when a goal is gone, instead of failing."""
    return _show(
        request, identity, await read_match(request, matches, goals, fixture_id, goal[:100]), "footy/_match.html"
    )


@router.get(f"{PATH}/goals/{{event_id}}")
async def goal_page(
    request: Request,
    parts: Parts,
    teams: Teams,
    matches: Matches,
    goals: Goals,
    identity: Reader,
    viewer: WorkViewer,
    event_id: EventId,
) -> Response:
    try:
        goal = await goals.load_goal(event_id)
    except GoneError as error:
        return show_disallowed(request, error, event_id)
    except CoveredError as error:
        return show_match(request, error)
    view = await read_match(request, matches, goals, goal.fixture_id, event_id)
    written = await _load_written(request, parts, teams, viewer, view.fixture)
    return _show(request, identity, view, written=written)


@router.get(f"{PATH}/goals/{{event_id}}/why")
async def why_page(request: Request, goals: Goals, identity: Reader, event_id: EventId) -> Response:
    try:
        audit = await goals.load_audit(event_id, limit=CANDIDATES_SHOWN)
    except CoveredError as error:
        return show_match(request, error)
    return render(
        request,
        "footy/why.html",
        identity=identity,
        audit=audit,
        goal=audit.goal,
        decisions=build_decisions(audit),
        rows=build_rows(audit),
        removed=audit.goal.state is GoalState.REMOVED,
    )


def show_match(request: Request, error: CoveredError) -> Response:
    """Lead people to the match, where they can look; programs get the error."""
    if wants_json(request):
        raise error
    return RedirectResponse(match_path(error.fixture_id), status_code=303)


def show_disallowed(request: Request, error: GoneError, event_id: str) -> HTMLResponse:
    """Show people a page with a link to the match; programs get the usual error."""
    if wants_json(request):
        raise error
    fixture_id = fixture_of(event_id) or None
    return render(request, "footy/disallowed.html", error.status, event_id=event_id, fixture_id=fixture_id)
