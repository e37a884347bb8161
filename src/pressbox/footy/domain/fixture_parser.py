"""Parses one element of API-Football's `response` into an `ObservedFixture`. Pure.

The API repeats events, lists the penalties of a shoot-out as goals, and sometimes keeps a goal that VAR disallowed.
Such entries are doubtful and count only as far as the score of their side needs them. So an event that is listed twice
is one goal, unless the score has room for a second one. All other entries count whatever the score says: score and
list disagree in about one answer of a hundred.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pressbox.core.errors import PermanentError
from pressbox.footy.domain.fixtures import FixtureStatus, League, ObservedFixture, Team
from pressbox.footy.domain.goals import GOAL_TYPE, GoalDetail, Observation

SHOOT_OUT = "penalty shootout"
MISSED_PENALTY = "missed penalty"
NO_NAMES = frozenset({"", "unknown", "tbd", "null", "none", "n/a"})
LAST_MINUTE = 120
# At most this long after a goal the video referee disallows it.
REVIEW_MINUTES = 6
_DETAILS = {detail.value.lower(): detail for detail in GoalDetail}
_SHOOT_OUT_STATUSES = frozenset({FixtureStatus.PENALTIES, FixtureStatus.AFTER_PENALTIES})


class MalformedAnswerError(PermanentError):
    """A fixture that cannot be used at all: without id, date or teams, or with an unknown status."""

    code = "malformed_answer"
    status = 502


@dataclass(frozen=True)
class _Entry:
    """A goal of the list, and whether it may belong to the shoot-out."""

    goal: Observation
    in_shoot_out: bool = False


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
    scored = {home.id: _count(goals.get("home")), away.id: _count(goals.get("away"))}
    events, problems = _parse_events(raw, status, scored)
    return ObservedFixture(
        fixture_id=fixture_id,
        kickoff=_parse_kickoff(fixture_id, fixture),
        status=status,
        league=_parse_league(raw),
        home=home,
        away=away,
        elapsed=_count(state.get("elapsed")),
        extra=_count(state.get("extra")),
        home_goals=scored[home.id],
        away_goals=scored[away.id],
        penalties=_parse_penalties(raw),
        winner_id=_parse_winner(raw, home, away),
        venue=_text(_object_in(fixture, "venue").get("name")),
        events=events,
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
    raw: Mapping[str, Any], status: FixtureStatus, scored: Mapping[int, int | None]
) -> tuple[tuple[Observation, ...] | None, tuple[str, ...]]:
    listed = raw.get("events")
    if listed is None:
        return None, ()
    if not isinstance(listed, list):
        return None, ("The events are not a list.",)
    entries: list[_Entry] = []
    problems: list[str] = []
    for place, event in enumerate(listed, start=1):
        if not isinstance(event, Mapping):
            problems.append(f"Event {place} is not an object.")
        elif _word(event, "type") == GOAL_TYPE.lower():
            _parse_goal(place, event, status, scored, entries, problems)
    cancelled = _find_cancellations(listed)
    goals = [goal for team in scored for goal in _goals_of_side(team, entries, cancelled, scored[team])]
    goals.sort(key=lambda goal: (goal.elapsed, goal.extra or 0))
    return tuple(goals), tuple(problems)


def _parse_goal(
    place: int,
    event: Mapping[str, Any],
    status: FixtureStatus,
    teams: Mapping[int, int | None],
    entries: list[_Entry],
    problems: list[str],
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
    late = goal.detail is GoalDetail.PENALTY and goal.elapsed >= LAST_MINUTE and status in _SHOOT_OUT_STATUSES
    entries.append(_Entry(goal, in_shoot_out=late))


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


def _goals_of_side(
    team_id: int, entries: Sequence[_Entry], cancelled: Counter[tuple[int, int, int]], score: int | None
) -> list[Observation]:
    """The goals of one side: the certain ones, and as many doubtful ones as the score has room for."""
    certain: list[Observation] = []
    doubtful: list[Observation] = []
    for entry in entries:
        if entry.goal.team_id == team_id:
            doubted = entry.in_shoot_out or entry.goal in certain or _is_cancelled(entry.goal, cancelled)
            (doubtful if doubted else certain).append(entry.goal)
    doubtful.sort(key=lambda goal: (goal.elapsed, goal.extra or 0))
    room = 0 if score is None else max(score - len(certain), 0)
    return certain + doubtful[:room]


def _find_cancellations(listed: Sequence[Any]) -> Counter[tuple[int, int, int]]:
    """Count decisions that disallow a goal, by team, player and minute. The API changed their wording twice."""
    found: Counter[tuple[int, int, int]] = Counter()
    for event in listed:
        if not isinstance(event, Mapping) or _word(event, "type") != "var":
            continue
        detail, time = _word(event, "detail"), _object_in(event, "time")
        team, elapsed = _number(_object_in(event, "team").get("id")), _count(time.get("elapsed"))
        if "goal" in detail and ("disallowed" in detail or "cancel" in detail) and team and elapsed is not None:
            player = _number(_object_in(event, "player").get("id")) or 0
            found[team, player, elapsed + (_count(time.get("extra")) or 0)] += 1
    return found


def _is_cancelled(goal: Observation, cancelled: Counter[tuple[int, int, int]]) -> bool:
    for (team, player, minute), left in cancelled.items():
        same = team == goal.team_id and (not player or player == goal.player_id)
        if left and same and goal.minute <= minute <= goal.minute + REVIEW_MINUTES:
            cancelled[team, player, minute] -= 1
            return True
    return False


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
