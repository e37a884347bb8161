"""Parses one element of API-Football's `response` into an `ObservedFixture`. Pure.

The API repeats events, lists the penalties of a shoot-out as goals, and sometimes keeps a goal that VAR disallowed.
All of that is kept as it is listed; which entries count is decided in `evidence`, where the known goals are known too.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pressbox.core.errors import PermanentError
from pressbox.footy.domain.fixtures import FixtureStatus, League, ObservedFixture, Team
from pressbox.footy.domain.goals import GOAL_TYPE, Cancellation, GoalDetail, Observation

SHOOT_OUT = "penalty shootout"
MISSED_PENALTY = "missed penalty"
NO_NAMES = frozenset({"", "unknown", "tbd", "null", "none", "n/a"})
_DETAILS = {detail.value.lower(): detail for detail in GoalDetail}


class MalformedAnswerError(PermanentError):
    """A fixture that cannot be used at all: without id, date or teams, or with an unknown status."""

    code = "malformed_answer"
    status = 502


def fixture_id_of(raw: Mapping[str, Any]) -> int | None:
    """The id, or None when the answer has none."""
    return _number(_object_in(raw, "fixture").get("id"))


def parse_fixture(raw: Mapping[str, Any]) -> ObservedFixture:
    """Parse a fixture. A bad event is named in `problems`; an unusable fixture raises MalformedAnswerError."""
    fixture_id = fixture_id_of(raw)
    if fixture_id is None:
        raise MalformedAnswerError("A fixture in the answer has no id.")
    fixture, goals = _object_in(raw, "fixture"), _object_in(raw, "goals")
    state = _object_in(fixture, "status")
    status = _parse_status(fixture_id, state.get("short"))
    home, away = _parse_team(fixture_id, raw, "home"), _parse_team(fixture_id, raw, "away")
    events, problems = _parse_events(raw, frozenset({home.id, away.id}))
    return ObservedFixture(
        fixture_id=fixture_id,
        kickoff=_parse_kickoff(fixture_id, fixture),
        status=status,
        league=_parse_league(raw),
        home=home,
        away=away,
        elapsed=_count(state.get("elapsed")),
        extra=_count(state.get("extra")),
        home_goals=_count(goals.get("home")),
        away_goals=_count(goals.get("away")),
        penalties=_parse_penalties(raw),
        winner_id=_parse_winner(raw, home, away),
        venue=_text(_object_in(fixture, "venue").get("name")),
        events=events,
        cancellations=_find_cancellations(raw.get("events")),
        problems=problems,
    )


def parse_fixtures(raw: Mapping[int, Mapping[str, Any]]) -> tuple[list[ObservedFixture], dict[int, str]]:
    """Return the fixtures that can be used, and why each of the others cannot."""
    observed: list[ObservedFixture] = []
    malformed: dict[int, str] = {}
    for fixture_id, fixture in raw.items():
        try:
            observed.append(parse_fixture(fixture))
        except MalformedAnswerError as error:
            malformed[fixture_id] = error.message
    return observed, malformed


def _parse_events(
    raw: Mapping[str, Any], teams: frozenset[int]
) -> tuple[tuple[Observation, ...] | None, tuple[str, ...]]:
    listed = raw.get("events")
    if listed is None:
        return None, ()
    if not isinstance(listed, list):
        return None, ("The events are not a list.",)
    goals: list[Observation] = []
    problems: list[str] = []
    for place, event in enumerate(listed, start=1):
        if not isinstance(event, Mapping):
            problems.append(f"Event {place} is not an object.")
        elif _word(event, "type") == GOAL_TYPE.lower():
            _parse_goal(place, event, teams, goals, problems)
    goals.sort(key=lambda goal: (goal.elapsed, goal.extra or 0))
    return tuple(goals), tuple(problems)


def _parse_goal(
    place: int, event: Mapping[str, Any], teams: frozenset[int], goals: list[Observation], problems: list[str]
) -> None:
    detail = _word(event, "detail")
    comment = _word(event, "comments")
    if detail == MISSED_PENALTY or comment == SHOOT_OUT:
        return
    if detail not in _DETAILS:
        problems.append(f"Event {place} is a goal of an unknown kind: {detail[:60] or 'nothing'}.")
        return
    goal = _parse_observation(event, _DETAILS[detail])
    if goal is None or goal.team_id not in teams:
        problems.append(f"Event {place} is a goal without a usable team or minute.")
        return
    goals.append(goal)


def _parse_observation(event: Mapping[str, Any], detail: GoalDetail) -> Observation | None:
    team, player, time = _object_in(event, "team"), _object_in(event, "player"), _object_in(event, "time")
    team_id, elapsed = _number(team.get("id")), _count(time.get("elapsed"))
    if team_id is None or elapsed is None:
        return None
    name = _name(player.get("name"))
    return Observation(
        team_id=team_id,
        team_name=_text(team.get("name")),
        # An id without a name cannot be searched for; the API gives such ids to placeholders.
        player_id=_number(player.get("id")) if name else None,
        player_name=name,
        detail=detail,
        elapsed=elapsed,
        extra=_count(time.get("extra")) or None,
        assist_name=_name(_object_in(event, "assist").get("name")),
    )


def _find_cancellations(listed: object) -> tuple[Cancellation, ...]:
    """Decisions of the video referee that disallow a goal. The API changed their wording twice."""
    found: list[Cancellation] = []
    for event in listed if isinstance(listed, Sequence) else ():
        if not isinstance(event, Mapping) or _word(event, "type") != "var":
            continue
        detail, time = _word(event, "detail"), _object_in(event, "time")
        team, elapsed = _object_in(event, "team"), _count(time.get("elapsed"))
        number = _number(team.get("id"))
        if "goal" in detail and ("disallowed" in detail or "cancel" in detail) and number and elapsed is not None:
            player = _object_in(event, "player")
            found.append(
                Cancellation(
                    team_id=number,
                    player_id=_number(player.get("id")),
                    player_name=_name(player.get("name")),
                    elapsed=elapsed,
                    extra=_count(time.get("extra")) or None,
                )
            )
    return tuple(found)


def _parse_status(fixture_id: int, short: object) -> FixtureStatus:
    try:
        return FixtureStatus(str(short).strip().upper())
    except ValueError as error:
        raise MalformedAnswerError(
            f"Fixture {fixture_id} has the unknown status {str(short)[:20]!r}.", fixture_id=fixture_id
        ) from error


def _parse_kickoff(fixture_id: int, fixture: Mapping[str, Any]) -> datetime:
    timestamp = _number(fixture.get("timestamp"))
    try:
        if timestamp is not None:
            return datetime.fromtimestamp(timestamp, UTC)
        kickoff = datetime.fromisoformat(_text(fixture.get("date")))
    except (ValueError, OverflowError, OSError) as error:
        raise MalformedAnswerError(f"Fixture {fixture_id} has no usable date.", fixture_id=fixture_id) from error
    # Without a time zone in the request the API answers in UTC.
    return kickoff.replace(tzinfo=UTC) if kickoff.tzinfo is None else kickoff.astimezone(UTC)


def _parse_team(fixture_id: int, raw: Mapping[str, Any], side: str) -> Team:
    team = _object_in(_object_in(raw, "teams"), side)
    number, name = _number(team.get("id")), _text(team.get("name"))
    if number is None or not name:
        raise MalformedAnswerError(f"Fixture {fixture_id} has no {side} team.", fixture_id=fixture_id)
    return Team(number, name)


def _parse_league(raw: Mapping[str, Any]) -> League:
    league = _object_in(raw, "league")
    return League(
        id=_number(league.get("id")) or 0,
        name=_text(league.get("name")),
        country=_text(league.get("country")),
        round=_text(league.get("round")),
    )


def _parse_penalties(raw: Mapping[str, Any]) -> tuple[int, int] | None:
    shoot_out = _object_in(_object_in(raw, "score"), "penalty")
    home, away = _count(shoot_out.get("home")), _count(shoot_out.get("away"))
    return None if home is None or away is None else (home, away)


def _parse_winner(raw: Mapping[str, Any], home: Team, away: Team) -> int | None:
    teams = _object_in(raw, "teams")
    if _object_in(teams, "home").get("winner") is True:
        return home.id
    return away.id if _object_in(teams, "away").get("winner") is True else None


def _object_in(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, Mapping) else {}


def _word(event: Mapping[str, Any], name: str) -> str:
    return _text(event.get(name)).lower()


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _name(value: object) -> str | None:
    name = _text(value)
    return None if name.lower() in NO_NAMES else name


def _number(value: object) -> int | None:
    """An id: a whole number above zero."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _count(value: object) -> int | None:
    """A minute or a score: a whole number from zero on."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
