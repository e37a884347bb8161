"""Parses one element of API-Football's `response` into an `ObservedFixture`. Pure.

The API repeats events, lists the penalties of a shoot-out as goals, and sometimes keeps a goal that VAR disallowed.
All of that is kept as it is listed; which entries count is decided in `evidence`, where the known goals are known too.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pressbox.core.errors import PermanentError
from pressbox.footy.domain.fixtures import Dismissal, FixtureStatus, League, LineUp, ObservedFixture, Team
from pressbox.footy.domain.goals import GOAL_TYPE, Cancellation, GoalDetail, Observation
from pressbox.footy.domain.raw_values import object_in, read_count, read_id, read_name, read_text, word_in

SHOOT_OUT = "penalty shootout"
MISSED_PENALTY = "missed penalty"
_DISMISSALS = ("red card", "second yellow card")
_DETAILS = {detail.value.lower(): detail for detail in GoalDetail}


class MalformedAnswerError(PermanentError):
    """A fixture that cannot be used at all: without id, date or teams, or with an unknown status."""

    code = "malformed_answer"
    status = 502


def fixture_id_of(raw: Mapping[str, Any]) -> int | None:
    """The id, or None when the answer has none."""
    return read_id(object_in(raw, "fixture").get("id"))


def parse_fixture(raw: Mapping[str, Any]) -> ObservedFixture:
    """Parse a fixture. A bad event is named in `problems`; an unusable fixture raises MalformedAnswerError."""
    fixture_id = fixture_id_of(raw)
    if fixture_id is None:
        raise MalformedAnswerError("A fixture in the answer has no id.")
    fixture, goals = object_in(raw, "fixture"), object_in(raw, "goals")
    state = object_in(fixture, "status")
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
        elapsed=read_count(state.get("elapsed")),
        extra=read_count(state.get("extra")),
        home_goals=read_count(goals.get("home")),
        away_goals=read_count(goals.get("away")),
        penalties=_parse_penalties(raw),
        winner_id=_parse_winner(raw, home, away),
        venue=read_text(object_in(fixture, "venue").get("name")),
        events=events,
        cancellations=_find_cancellations(raw.get("events")),
        problems=problems,
        half_time=_parse_half_time(raw),
        dismissals=_find_dismissals(raw.get("events")),
        lineups=_parse_line_ups(raw.get("lineups"), (home, away)),
        has_list=isinstance(raw.get("events"), list) and bool(raw["events"]),
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
        elif word_in(event, "type") == GOAL_TYPE.lower():
            _parse_goal(place, event, teams, goals, problems)
    goals.sort(key=lambda goal: (goal.elapsed, goal.extra or 0))
    return tuple(goals), tuple(problems)


def _parse_goal(
    place: int, event: Mapping[str, Any], teams: frozenset[int], goals: list[Observation], problems: list[str]
) -> None:
    detail = word_in(event, "detail")
    comment = word_in(event, "comments")
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
    team, player, time = object_in(event, "team"), object_in(event, "player"), object_in(event, "time")
    team_id, elapsed = read_id(team.get("id")), read_count(time.get("elapsed"))
    if team_id is None or elapsed is None:
        return None
    name = read_name(player.get("name"))
    return Observation(
        team_id=team_id,
        team_name=read_text(team.get("name")),
        # An id without a name cannot be searched for; the API gives such ids to placeholders.
        player_id=read_id(player.get("id")) if name else None,
        player_name=name,
        detail=detail,
        elapsed=elapsed,
        extra=read_count(time.get("extra")) or None,
        assist_name=read_name(object_in(event, "assist").get("name")),
    )


def _find_cancellations(listed: object) -> tuple[Cancellation, ...]:
    """Decisions of the video referee that disallow a goal. The API changed their wording twice."""
    found: list[Cancellation] = []
    for event in listed if isinstance(listed, Sequence) else ():
        if not isinstance(event, Mapping) or word_in(event, "type") != "var":
            continue
        detail, time = word_in(event, "detail"), object_in(event, "time")
        team, elapsed = object_in(event, "team"), read_count(time.get("elapsed"))
        number = read_id(team.get("id"))
        if "goal" in detail and ("disallowed" in detail or "cancel" in detail) and number and elapsed is not None:
            player = object_in(event, "player")
            found.append(
                Cancellation(
                    team_id=number,
                    player_id=read_id(player.get("id")),
                    player_name=read_name(player.get("name")),
                    elapsed=elapsed,
                    extra=read_count(time.get("extra")) or None,
                )
            )
    return tuple(found)


def _parse_half_time(raw: Mapping[str, Any]) -> tuple[int, int] | None:
    """During the first half the API gives the running score here."""
    score = object_in(object_in(raw, "score"), "halftime")
    home, away = read_count(score.get("home")), read_count(score.get("away"))
    return None if home is None or away is None else (home, away)


def _find_dismissals(listed: object) -> tuple[Dismissal, ...]:
    """Each player once, by the first card that sent them off."""
    found: dict[tuple[int, str], Dismissal] = {}
    for event in listed if isinstance(listed, Sequence) else ():
        if not isinstance(event, Mapping) or word_in(event, "type") != "card":
            continue
        team, elapsed = object_in(event, "team"), read_count(object_in(event, "time").get("elapsed"))
        number, name = read_id(team.get("id")), read_name(object_in(event, "player").get("name"))
        if word_in(event, "detail") in _DISMISSALS and number and name and elapsed is not None:
            extra = read_count(object_in(event, "time").get("extra")) or None
            found.setdefault((number, name), Dismissal(number, read_text(team.get("name")), name, elapsed, extra))
    return tuple(found.values())


def _parse_line_ups(listed: object, sides: tuple[Team, Team]) -> tuple[LineUp, ...]:
    """Of both sides or of none: half of it would be told as all of it."""
    found: dict[int, LineUp] = {}
    for raw in listed if isinstance(listed, Sequence) else ():
        if not isinstance(raw, Mapping):
            continue
        number, begins = read_id(object_in(raw, "team").get("id")), raw.get("startXI")
        names = [
            read_name(object_in(player, "player").get("name"))
            for player in (begins if isinstance(begins, list) else ())
            if isinstance(player, Mapping)
        ]
        players = tuple(name for name in names if name)
        side = next((team for team in sides if team.id == number), None)
        if side is not None and players:
            found[side.id] = LineUp(side.id, side.name, players, read_text(raw.get("formation")))
    return tuple(found[side.id] for side in sides) if len(found) == len(sides) else ()


def _parse_status(fixture_id: int, short: object) -> FixtureStatus:
    try:
        return FixtureStatus(str(short).strip().upper())
    except ValueError as error:
        raise MalformedAnswerError(
            f"Fixture {fixture_id} has the unknown status {str(short)[:20]!r}.", fixture_id=fixture_id
        ) from error


def _parse_kickoff(fixture_id: int, fixture: Mapping[str, Any]) -> datetime:
    timestamp = read_id(fixture.get("timestamp"))
    try:
        if timestamp is not None:
            return datetime.fromtimestamp(timestamp, UTC)
        kickoff = datetime.fromisoformat(read_text(fixture.get("date")))
    except (ValueError, OverflowError, OSError) as error:
        raise MalformedAnswerError(f"Fixture {fixture_id} has no usable date.", fixture_id=fixture_id) from error
    # Without a time zone in the request the API answers in UTC.
    return kickoff.replace(tzinfo=UTC) if kickoff.tzinfo is None else kickoff.astimezone(UTC)


def _parse_team(fixture_id: int, raw: Mapping[str, Any], side: str) -> Team:
    team = object_in(object_in(raw, "teams"), side)
    number, name = read_id(team.get("id")), read_text(team.get("name"))
    if number is None or not name:
        raise MalformedAnswerError(f"Fixture {fixture_id} has no {side} team.", fixture_id=fixture_id)
    return Team(number, name)


def _parse_league(raw: Mapping[str, Any]) -> League:
    league = object_in(raw, "league")
    return League(
        id=read_id(league.get("id")) or 0,
        name=read_text(league.get("name")),
        country=read_text(league.get("country")),
        round=read_text(league.get("round")),
    )


def _parse_penalties(raw: Mapping[str, Any]) -> tuple[int, int] | None:
    shoot_out = object_in(object_in(raw, "score"), "penalty")
    home, away = read_count(shoot_out.get("home")), read_count(shoot_out.get("away"))
    return None if home is None or away is None else (home, away)


def _parse_winner(raw: Mapping[str, Any], home: Team, away: Team) -> int | None:
    teams = object_in(raw, "teams")
    if object_in(teams, "home").get("winner") is True:
        return home.id
    return away.id if object_in(teams, "away").get("winner") is True else None
