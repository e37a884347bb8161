"""Real matches, polled every half a minute, with every fault of the API that was seen: one goal is one goal.

The truth is a recorded match. A fault changes the answers, never the match.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.evidence import drop_excess, merge_repeats
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.matching import compare
from pressbox.footy.domain.policy import FootyPolicy
from tests.fakes.football_answers import shoot_out
from tests.shared_data import shared
from tests.unit.footy.test_footy_random_polls import Ledger

START = datetime(2026, 10, 3, 14, 0, tzinfo=UTC)
POLICY = FootyPolicy()
LAST_POLLS = 8

Raw = dict[str, Any]


def recorded_matches() -> Iterator[Raw]:
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


MATCHES = list(recorded_matches())


@dataclass
class Goal:
    """A goal of the match, as the API lists it, and from which moment to which."""

    row: Raw
    begins: float
    ends: float = float("inf")

    def stands(self, moment: float) -> bool:
        return self.begins <= moment < self.ends


@dataclass
class Match:
    """A recorded match as it was played; a fault changes `rows`, which lists the goals at a moment."""

    raw: Raw
    goals: list[Goal]
    ends: float
    rows: Callable[["Match", float], list[Raw]] = field(default=lambda match, moment: match.true_rows(moment))
    others: list[Raw] = field(default_factory=list)
    status: str = "2H"

    def true_rows(self, moment: float) -> list[Raw]:
        return [copy.deepcopy(goal.row) for goal in self.goals if goal.stands(moment)]

    def answer(self, moment: float) -> Raw:
        standing = [goal.row["team"]["id"] for goal in self.goals if goal.stands(moment)]
        teams = self.raw["teams"]
        raw = copy.deepcopy(self.raw)
        raw["fixture"]["status"] = {
            "short": self.status if moment < self.ends else "FT",
            "elapsed": min(int(moment), 90),
        }
        raw["goals"] = {side: standing.count(teams[side]["id"]) for side in ("home", "away")}
        raw["events"] = [
            *self.rows(self, moment),
            *(copy.deepcopy(one) for one in self.others if minute_of(one) <= moment),
        ]
        return raw


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


def follow(match: Match) -> Ledger:
    """Poll the match to its end; at every poll what is confirmed is what stands."""
    ledger, looked = Ledger(), None
    moments = sorted(
        {moment for goal in match.goals for moment in poll_moments(goal)}
        | {match.ends + step / 2 for step in range(LAST_POLLS)}
    )
    for number, moment in enumerate(moments):
        raw, run_id = match.answer(moment), f"run-{number}"
        now = START + timedelta(minutes=moment)
        known = list(ledger.goals.values())
        result = compare(known, ledger.sequences, parse_fixture(raw), run_id, now, POLICY, looked)
        ledger.apply(result, run_id, now)
        ledger.start_searches()
        looked = raw["fixture"]["status"]["elapsed"]
        scored = sum(goal.begins <= moment for goal in match.goals)
        assert len(ledger.searches) <= scored, f"a search for a goal that never was, at {moment}"
        confirmed = [one for one in ledger.present() if ledger.goals[one].monitor_complete]
        # A goal that was taken away stands for two more polls.
        standing = sum(goal.begins <= moment < goal.ends + 1 for goal in match.goals)
        assert len(confirmed) <= standing, f"a goal is confirmed twice, at {moment}"
    return ledger


def poll_moments(goal: Goal) -> list[float]:
    """Every half a minute around each goal and its end; nothing changes in between."""
    moments = [goal.begins + step / 2 for step in range(-1, 24)]
    if goal.ends < float("inf"):
        moments += [goal.ends + step / 2 for step in range(-1, 8)]
    return [max(moment, 0.0) for moment in moments]


def check(match: Match, ledger: Ledger) -> None:
    """At the end each goal that stands is here once, was searched for once, and has its scorer."""
    standing = [goal.row for goal in match.goals if goal.stands(match.ends)]
    present = [ledger.goals[name] for name in ledger.present()]
    assert sorted(goal.player_id for goal in present) == sorted(row["player"]["id"] or 0 for row in standing)
    assert all(goal.monitor_complete for goal in present)
    assert len(ledger.searches) == len(set(ledger.searches))


# ---- The faults: each takes a match and one of its goals


def change_row(number: int, change: Callable[[Raw, float], list[Raw]]) -> Callable[[Match, float], list[Raw]]:
    """List something else for one goal: nothing, two entries, or another one."""

    def rows(match: Match, moment: float) -> list[Raw]:
        listed: list[Raw] = []
        for index, goal in enumerate(match.goals):
            row = copy.deepcopy(goal.row)
            if goal.begins <= moment and index == number:
                listed += change(row, moment) if goal.stands(moment) else []
            elif goal.stands(moment):
                listed.append(row)
        return listed

    return rows


def with_changes(row: Raw, minutes: int = 0, **changes: Any) -> Raw:
    other = copy.deepcopy(row)
    other.update(changes)
    if minutes:
        other["time"]["elapsed"] = max(other["time"]["elapsed"] + minutes, 1)
    return other


def repeat(**changes: Any) -> Callable[[Match, int], None]:
    def fault(match: Match, number: int) -> None:
        begins = match.goals[number].begins

        def rows(row: Raw, moment: float) -> list[Raw]:
            return [row, with_changes(row, **changes)] if moment >= begins + 1 else [row]

        match.rows = change_row(number, rows)

    return fault


def move_minute(by: int, *, extra: bool = False) -> Callable[[Match, int], None]:
    def fault(match: Match, number: int) -> None:
        begins = match.goals[number].begins

        def rows(row: Raw, moment: float) -> list[Raw]:
            moved = with_changes(row, 0 if extra else by)
            if extra:
                moved["time"]["extra"] = (row["time"].get("extra") or 0) + by
            return [moved if moment >= begins + 6 else row]

        match.rows = change_row(number, rows)

    return fault


def lose_row(match: Match, number: int) -> None:
    begins = match.goals[number].begins
    match.rows = change_row(number, lambda row, moment: [] if begins + 2 <= moment < begins + 5 else [row])


def learn_name_late(match: Match, number: int) -> None:
    begins = match.goals[number].begins
    unnamed: Raw = {"player": {"id": None, "name": None}}
    match.rows = change_row(number, lambda row, moment: [with_changes(row, **unnamed) if moment < begins + 2 else row])


def list_both_scorers(match: Match, number: int) -> None:
    """The first scorer was wrong; for three polls both are listed."""
    goal = match.goals[number]
    wrong = with_changes(goal.row, player={"id": 990_001, "name": "W. Rong"})

    def rows(row: Raw, moment: float) -> list[Raw]:
        if moment < goal.begins + 3:
            return [wrong]
        return [wrong, row] if moment < goal.begins + 4.5 else [row]

    match.rows = change_row(number, rows)


def disallow(match: Match, number: int) -> None:
    match.goals[number].ends = match.goals[number].begins + 2.5


def disallow_and_keep_row(match: Match, number: int) -> None:
    """The score falls, nothing else says so."""
    goal = match.goals[number]
    goal.ends = goal.begins + 2.5
    match.rows = lambda match, moment: [copy.deepcopy(one.row) for one in match.goals if one.begins <= moment]


def disallow_late_and_keep_row(match: Match, number: int) -> None:
    goal = match.goals[number]
    goal.ends = goal.begins + 8
    decision = with_changes(goal.row, 8, type="Var", detail="Goal Disallowed - offside")
    match.others.append(decision)
    match.rows = lambda match, moment: [copy.deepcopy(one.row) for one in match.goals if one.begins <= moment]


def disallow_and_score_again(match: Match, number: int) -> None:
    goal = match.goals[number]
    goal.ends = goal.begins + 1
    again = with_changes(goal.row, 1, player={"id": 990_002, "name": "N. Ext"})
    match.goals.insert(number + 1, Goal(again, goal.begins + 1.5))


def kick_without_comment(status: str, minute: int) -> Callable[[Match, int], None]:
    def fault(match: Match, number: int) -> None:
        home, away = (match.raw["teams"][side]["id"] for side in ("home", "away"))
        kicks = [
            {
                "time": {"elapsed": minute, "extra": kick},
                "team": {"id": team, "name": "Side"},
                "player": {"id": 991_000 + kick, "name": f"K. Icker{kick}"},
                "assist": {"id": None, "name": None},
                "type": "Goal",
                "detail": "Penalty",
                "comments": None,
            }
            for kick in range(1, 6)
            for team in (home, away)
        ]
        match.status = status
        match.rows = lambda match, moment: match.true_rows(moment) + (kicks if moment >= match.ends - 0.5 else [])

    return fault


def list_twice(match: Match, number: int) -> None:
    match.rows = change_row(number, lambda row, moment: [row, copy.deepcopy(row)])


FAULTS: dict[str, Callable[[Match, int], None]] = {
    "none": lambda match, number: None,
    "listed twice": list_twice,
    "second row with an assist": repeat(assist={"id": 5, "name": "A. Ssist"}),
    "second row with the full name": repeat(player={"id": None, "name": "Somebody Else"}),
    "second row with another player": repeat(player={"id": 990_003, "name": "O. Ther"}),
    "second row without a player": repeat(player={"id": None, "name": None}),
    "second row a minute later": repeat(minutes=1),
    "second row three minutes earlier": repeat(minutes=-3),
    "minute moved by three": move_minute(3),
    "minute moved back by four": move_minute(-4),
    "stoppage time moved by three": move_minute(3, extra=True),
    "row missing while the score has it": lose_row,
    "name known later": learn_name_late,
    "both scorers for three polls": list_both_scorers,
    "disallowed": disallow,
    "score falls, row stays": disallow_and_keep_row,
    "decision after eight minutes, row stays": disallow_late_and_keep_row,
    "disallowed, and another goal in the next minute": disallow_and_score_again,
    "shoot-out without comment in extra time": kick_without_comment("ET", 120),
    "shoot-out without comment": kick_without_comment("P", 120),
    "shoot-out without comment after 90 minutes": kick_without_comment("P", 90),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("raw", MATCHES, ids=lambda raw: str(raw["fixture"]["id"]))
def test_one_goal_of_a_recorded_match_is_one_goal_whatever_goes_wrong(raw: Raw, fault: str) -> None:
    for number in range(len(play(raw).goals)):
        match = play(raw)
        FAULTS[fault](match, number)
        check(match, follow(match))


@settings(max_examples=40, derandomize=True)
@given(
    st.sampled_from(MATCHES),
    st.lists(st.tuples(st.sampled_from(sorted(FAULTS)), st.integers(0, 20)), min_size=1, max_size=1),
    st.randoms(use_true_random=False),
)
def test_the_order_of_a_list_does_not_matter(raw: Raw, faults: list[tuple[str, int]], dice: Any) -> None:
    match = play(raw)
    for fault, number in faults:
        FAULTS[fault](match, number % len(match.goals))
    listed = match.rows

    def shuffled(match: Match, moment: float) -> list[Raw]:
        rows = listed(match, moment)
        dice.shuffle(rows)
        return rows

    match.rows = shuffled
    check(match, follow(match))
