"""Recorded matches, answered minute by minute with the faults of the API that were seen.

The truth is a recorded match. A fault changes the answers, never the match; several faults can meet in one match.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pressbox.footy.domain.evidence import drop_excess, merge_repeats
from pressbox.footy.domain.fixture_parser import parse_fixture
from tests.fakes.football_answers import shoot_out
from tests.shared_data import shared

LAST_POLLS = 8

Raw = dict[str, Any]
Change = Callable[[Raw, float], list[Raw]]


def _load_matches() -> Iterator[Raw]:
    """Recorded matches whose goals are those of their score."""
    folder = shared("providers/api_football")
    answers = [json.loads(path.read_text()) for path in sorted(folder.glob("*fixtures*.json"))] if folder else []
    answers += [json.loads((folder / "live_halftime_own_goal.json").read_text())] if folder else []
    matches = [raw for one in answers for raw in (one["response"] if isinstance(one, dict) else one)]
    for raw in [shoot_out(), *matches]:
        if raw.get("events"):
            fixture = parse_fixture(raw)
            goals = drop_excess(fixture, merge_repeats(fixture), {}, None)
            if goals and len(goals) == (fixture.home_goals or 0) + (fixture.away_goals or 0):
                yield raw


MATCHES = list(_load_matches())


@dataclass
class Goal:
    """A goal of the match, as the API lists it, and from which moment to which.

    `changes` list something else for it: nothing, two entries, or another one. `stays` is set when it is listed after
    it was taken away.
    """

    row: Raw
    begins: float
    ends: float = float("inf")
    changes: list[Change] = field(default_factory=list)
    stays: bool = False

    def stands(self, moment: float) -> bool:
        return self.begins <= moment < self.ends

    def list_rows(self, moment: float) -> list[Raw]:
        if not (self.stands(moment) or (self.stays and self.begins <= moment)):
            return []
        rows = [copy.deepcopy(self.row)]
        for change in self.changes:
            rows = [other for row in rows for other in change(row, moment)]
        return rows


@dataclass
class Match:
    """A recorded match as it was played. `others` are entries beside those of its goals."""

    raw: Raw
    goals: list[Goal]
    ends: float
    others: list[Raw] = field(default_factory=list)
    status: str = "2H"
    order: Callable[[list[Raw]], None] = lambda rows: None

    def answer(self, moment: float) -> Raw:
        standing = [goal.row["team"]["id"] for goal in self.goals if goal.stands(moment)]
        teams = self.raw["teams"]
        raw = copy.deepcopy(self.raw)
        raw["fixture"]["status"] = {
            "short": self.status if moment < self.ends else "FT",
            "elapsed": min(int(moment), 90),
        }
        raw["goals"] = {side: standing.count(teams[side]["id"]) for side in ("home", "away")}
        rows = [row for goal in self.goals for row in goal.list_rows(moment)]
        rows += [copy.deepcopy(one) for one in self.others if moment >= one.get("listed_from", minute_of(one))]
        self.order(rows)
        raw["events"] = rows
        return raw

    def poll_moments(self) -> list[float]:
        """Every half a minute around each goal and its end; nothing changes in between."""
        moments = {self.ends + step / 2 for step in range(LAST_POLLS)}
        for goal in self.goals:
            moments |= {goal.begins + step / 2 for step in range(-1, 24)}
            if goal.ends < float("inf"):
                moments |= {goal.ends + step / 2 for step in range(-1, 8)}
        return sorted({max(moment, 0.0) for moment in moments})

    def count_scored(self, moment: float) -> int:
        return sum(goal.begins <= moment for goal in self.goals)

    def count_standing(self, moment: float) -> int:
        """Goals that may be confirmed: one that was taken away stands for two more polls."""
        return sum(goal.begins <= moment < goal.ends + 1 for goal in self.goals)

    def list_scorers(self) -> list[int]:
        """Who scored the goals that stand in the end."""
        return sorted(goal.row["player"]["id"] or 0 for goal in self.goals if goal.stands(self.ends))


def minute_of(row: Raw) -> int:
    return int(row["time"]["elapsed"]) + int(row["time"].get("extra") or 0)


def play(raw: Raw) -> Match:
    fixture = parse_fixture(raw)
    counted = drop_excess(fixture, merge_repeats(fixture), {}, None)
    keys = [(goal.team_id, goal.elapsed, goal.extra or 0, goal.player_name) for goal in counted]
    goals = []
    for row in raw["events"]:
        key = (row["team"]["id"], row["time"]["elapsed"], row["time"].get("extra") or 0, row["player"]["name"])
        if row["type"] == "Goal" and key in keys:
            keys.remove(key)
            goals.append(Goal(copy.deepcopy(row), minute_of(row)))
    goals.sort(key=lambda goal: goal.begins)
    return Match(raw, goals, max(95.0, goals[-1].begins + 5))


# ---- The faults: each takes a match and one of its goals

Fault = Callable[[Match, int], None]


def with_changes(row: Raw, minutes: int = 0, **changes: Any) -> Raw:
    other = copy.deepcopy(row)
    other.update(changes)
    if minutes:
        other["time"]["elapsed"] = max(other["time"]["elapsed"] + minutes, 1)
    return other


def _repeat(**changes: Any) -> Fault:
    def fault(match: Match, number: int) -> None:
        goal = match.goals[number]
        goal.changes.append(
            lambda row, moment: [row, with_changes(row, **changes)] if moment >= goal.begins + 1 else [row]
        )

    return fault


def _move_minute(by: int, *, extra: bool = False) -> Fault:
    def fault(match: Match, number: int) -> None:
        goal = match.goals[number]

        def change(row: Raw, moment: float) -> list[Raw]:
            moved = with_changes(row, 0 if extra else by)
            if extra:
                moved["time"]["extra"] = (row["time"].get("extra") or 0) + by
            return [moved if moment >= goal.begins + 6 else row]

        goal.changes.append(change)

    return fault


def _lose_row(match: Match, number: int) -> None:
    goal = match.goals[number]
    goal.changes.append(lambda row, moment: [] if goal.begins + 2 <= moment < goal.begins + 5 else [row])


def _learn_name_late(match: Match, number: int) -> None:
    goal, unnamed = match.goals[number], {"player": {"id": None, "name": None}}
    goal.changes.append(lambda row, moment: [{**row, **unnamed} if moment < goal.begins + 2 else row])


def _list_both_scorers(match: Match, number: int) -> None:
    """The first scorer was wrong; for three polls both are listed."""
    goal = match.goals[number]

    def change(row: Raw, moment: float) -> list[Raw]:
        wrong = with_changes(row, player={"id": 990_001, "name": "W. Rong"})
        if moment < goal.begins + 3:
            return [wrong]
        return [wrong, row] if moment < goal.begins + 4.5 else [row]

    goal.changes.append(change)


def _disallow(match: Match, number: int) -> None:
    _end(match.goals[number], 2.5)


def _disallow_and_keep_row(match: Match, number: int) -> None:
    """The score falls, nothing else says so."""
    _end(match.goals[number], 2.5)
    match.goals[number].stays = True


def _disallow_late_and_keep_row(match: Match, number: int) -> None:
    goal = match.goals[number]
    _end(goal, 8)
    goal.stays = True
    match.others.append(with_changes(goal.row, 8, type="Var", detail="Goal Disallowed - offside"))


def _disallow_by_decision(match: Match, number: int) -> None:
    """The row goes, and the decision of the video referee takes its place."""
    goal = match.goals[number]
    _end(goal, 2.5)
    match.others.append(
        with_changes(goal.row, 2, type="Var", detail="Goal cancelled", listed_from=goal.ends, assist={"id": None})
    )


def _disallow_and_score_again(match: Match, number: int) -> None:
    goal = match.goals[number]
    _end(goal, 1)
    again = with_changes(goal.row, 1, player={"id": 990_002, "name": "N. Ext"})
    match.goals.insert(number + 1, Goal(again, goal.begins + 1.5))


def _end(goal: Goal, after: float) -> None:
    goal.ends = min(goal.ends, goal.begins + after)


def _kick_without_comment(status: str, minute: int) -> Fault:
    def fault(match: Match, number: int) -> None:
        home, away = (match.raw["teams"][side]["id"] for side in ("home", "away"))
        match.status = status
        match.others += [
            {
                "time": {"elapsed": minute, "extra": kick},
                "team": {"id": team, "name": "Side"},
                "player": {"id": 991_000 + kick, "name": f"K. Icker{kick}"},
                "assist": {"id": None, "name": None},
                "type": "Goal",
                "detail": "Penalty",
                "comments": None,
                "listed_from": match.ends - 0.5,
            }
            for kick in range(1, 6)
            for team in (home, away)
        ]

    return fault


def _list_twice(match: Match, number: int) -> None:
    match.goals[number].changes.append(lambda row, moment: [row, copy.deepcopy(row)])


FAULTS: dict[str, Fault] = {
    "none": lambda match, number: None,
    "listed twice": _list_twice,
    "second row with an assist": _repeat(assist={"id": 5, "name": "A. Ssist"}),
    "second row with the full name": _repeat(player={"id": None, "name": "Somebody Else"}),
    "second row with another player": _repeat(player={"id": 990_003, "name": "O. Ther"}),
    "second row without a player": _repeat(player={"id": None, "name": None}),
    "second row a minute later": _repeat(minutes=1),
    "second row three minutes earlier": _repeat(minutes=-3),
    "minute moved by three": _move_minute(3),
    "minute moved back by four": _move_minute(-4),
    "stoppage time moved by three": _move_minute(3, extra=True),
    "row missing while the score has it": _lose_row,
    "name known later": _learn_name_late,
    "both scorers for three polls": _list_both_scorers,
    "disallowed": _disallow,
    "disallowed by a decision": _disallow_by_decision,
    "score falls, row stays": _disallow_and_keep_row,
    "decision after eight minutes, row stays": _disallow_late_and_keep_row,
    "disallowed, and another goal in the next minute": _disallow_and_score_again,
    "shoot-out without comment in extra time": _kick_without_comment("ET", 120),
    "shoot-out without comment": _kick_without_comment("P", 120),
    "shoot-out without comment after 90 minutes": _kick_without_comment("P", 90),
}
