"""A match with its goals and the clips of one of them; a goal; and why a goal has the clips it has."""

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from pressbox.core.errors import GoneError
from pressbox.core.web.errors import wants_json
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.goal_reader import GoalReader
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.trail import build_rows
from pressbox.footy.domain.views import AuditView, Corrections, FixtureView, GoalState, GoalView
from pressbox.footy.ids import FIXTURE_TOPIC, GOAL_TOPIC, PATH
from pressbox.footy.web.access import EventId, FixtureId, Goals, Matches, Reader, cursor, zone

router = APIRouter(include_in_schema=False)

CANDIDATES_SHOWN = 100


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
    if chosen and goal is None:
        gone = (await goals.load_audit(chosen, limit=1)).goal
    audit = await goals.load_audit(goal.event_id, limit=1) if goal and not goal.clips else None
    return MatchPage(fixture, goal, chosen, gone, audit, await matches.load_corrections(fixture_id), at)


def _show(
    request: Request, identity: Identity, view: MatchPage, template: str = "footy/match.html", status: int = 200
) -> HTMLResponse:
    attempts = FootyPolicy().attempts
    day = view.fixture.kickoff.astimezone(zone(request)).date()
    return render(request, template, status, identity=identity, view=view, attempts=attempts, day=day)


@router.get(f"{PATH}/matches/{{fixture_id}}")
async def match_page(
    request: Request, matches: Matches, goals: Goals, identity: Reader, fixture_id: FixtureId
) -> HTMLResponse:
    return _show(request, identity, await read_match(request, matches, goals, fixture_id))


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
    request: Request, matches: Matches, goals: Goals, identity: Reader, event_id: EventId
) -> HTMLResponse:
    try:
        goal = await goals.load_goal(event_id)
    except GoneError as error:
        return show_disallowed(request, error, event_id)
    return _show(request, identity, await read_match(request, matches, goals, goal.fixture_id, event_id))


@router.get(f"{PATH}/goals/{{event_id}}/why")
async def why_page(request: Request, goals: Goals, identity: Reader, event_id: EventId) -> HTMLResponse:
    audit = await goals.load_audit(event_id, limit=CANDIDATES_SHOWN)
    return render(
        request,
        "footy/why.html",
        identity=identity,
        audit=audit,
        goal=audit.goal,
        rows=build_rows(audit),
        removed=audit.goal.state is GoalState.REMOVED,
    )


def show_disallowed(request: Request, error: GoneError, event_id: str) -> HTMLResponse:
    """Show people a page with a link to the match; programs get the usual error."""
    if wants_json(request):
        raise error
    fixture_id = _fixture_id(event_id)
    return render(request, "footy/disallowed.html", error.status, event_id=event_id, fixture_id=fixture_id)


def _fixture_id(event_id: str) -> int | None:
    """The match of a removed goal, from the id in an address, which may be anything."""
    number = event_id.partition("_")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None
