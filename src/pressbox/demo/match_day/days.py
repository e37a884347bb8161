"""A scripted day of matches: built from a seed, it answers for any time and knows the expected outcome."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from pressbox.demo.match_day.matches import ScorerReport, ScriptedGoal, ScriptedMatch
from pressbox.demo.match_day.records import DETAILS, RecordedGoal, RecordedMatch, find_scorers, load_matches

FIRST_FIXTURE_ID = 9_000_001
# Shares that were counted in real answers.
UNNAMED_AT_FIRST = 0.15
HIDDEN = 0.10
REPEATED = 0.10
# Two polls at most miss a goal that is hidden this long; three would remove it.
HIDDEN_MINUTES = 0.75
# So long a goal stands that is disallowed: seconds in a demo, in which people see it and its first clip.
DISALLOWED_AFTER = 8.0
# Minutes between goals of one side: closer ones differ only by their scorers.
SPACING = 5
KICK_OFFS = (0.0, 0.0, 5.0, 10.0)


@dataclass(frozen=True)
class ExpectedGoal:
    """A goal as it must be known in the end. `elapsed` and `extra` are as the API lists them."""

    fixture_id: int
    team_id: int
    team_name: str
    player_id: int | None
    player_name: str | None
    elapsed: int
    extra: int | None
    detail: str


@dataclass(frozen=True)
class ExpectedOutcome:
    """What must be known in the end: `reattributed` and `named_later` are in `goals`, `disallowed` are not."""

    goals: tuple[ExpectedGoal, ...]
    disallowed: tuple[ExpectedGoal, ...]
    reattributed: tuple[ExpectedGoal, ...]
    named_later: tuple[ExpectedGoal, ...]
    played: tuple[int, ...]
    postponed: tuple[int, ...]


@dataclass(frozen=True)
class ScriptedDay:
    """Match minutes run `speed` times as fast as real ones, counted from each kick-off."""

    matches: tuple[ScriptedMatch, ...]
    start: datetime
    speed: float = 1.0

    @property
    def ends_at(self) -> datetime:
        """When the last match is over."""
        return max(match.kickoff + timedelta(minutes=match.ends / self.speed) for match in self.matches)

    def minute(self, match: ScriptedMatch, now: datetime) -> float:
        return (now - match.kickoff).total_seconds() / 60 * self.speed

    def on(self, day: date, now: datetime) -> list[dict[str, Any]]:
        """The fixtures of a day; this list has no events."""
        found = [match.at(self.minute(match, now), with_events=False) for match in self.matches]
        return [raw for raw in found if datetime.fromisoformat(raw["fixture"]["date"]).date() == day]

    def by_ids(self, fixture_ids: Iterable[int], now: datetime) -> list[dict[str, Any]]:
        chosen = (self._by_id[number] for number in fixture_ids if number in self._by_id)
        return [match.at(self.minute(match, now)) for match in chosen]

    def expected(self) -> ExpectedOutcome:
        pairs = [(match, goal) for match in self.matches for goal in match.goals]
        standing = [(match, goal) for match, goal in pairs if goal.disallowed is None]
        return ExpectedOutcome(
            goals=tuple(_expected_goal(match, goal) for match, goal in standing),
            disallowed=tuple(_expected_goal(match, goal) for match, goal in pairs if goal.disallowed is not None),
            reattributed=tuple(
                _expected_goal(match, goal)
                for match, goal in standing
                if len({report.scorer for report in goal.reports if report.scorer}) > 1
            ),
            named_later=tuple(
                _expected_goal(match, goal) for match, goal in standing if goal.reports[0].scorer is None
            ),
            played=tuple(match.fixture_id for match in self.matches if match.postponed_at is None),
            postponed=tuple(match.fixture_id for match in self.matches if match.postponed_at is not None),
        )

    def count_wrong_names(self, told: Mapping[int, Sequence[datetime]]) -> list[int]:
        """For each goal that is re-attributed, in how many answers it had another scorer than in the end."""
        return [
            sum(goal.names_another(self.minute(match, at)) for at in told.get(match.fixture_id, ()))
            for match in self.matches
            for goal in match.goals
            if goal.disallowed is None and len({report.scorer for report in goal.reports if report.scorer}) > 1
        ]

    @cached_property
    def _by_id(self) -> Mapping[int, ScriptedMatch]:
        return {match.fixture_id: match for match in self.matches}


def build_day(
    start: datetime,
    *,
    speed: float = 1.0,
    matches: int = 4,
    goals: int | None = None,
    seed: int = 1,
    first_fixture_id: int = FIRST_FIXTURE_ID,
    postponed: int = 1,
) -> ScriptedDay:
    """Build a day of matches at the same time, some with a later kick-off, and one more that is postponed.

    `goals` is how many count in the end, as near as the records allow. Every day has a goal that is disallowed after it
    was listed, one whose scorer is corrected, and one that has no scorer at first; the rest is random.
    """
    dice = random.Random(seed)  # noqa: S311 - a script, not a secret
    records = _choose(dice, matches + postponed, goals, postponed)
    minute = timedelta(minutes=1) / speed
    played = [
        _script_match(dice, first_fixture_id + place, record, start + minute * KICK_OFFS[place % len(KICK_OFFS)], place)
        for place, record in enumerate(records[:matches])
    ]
    waiting = [
        ScriptedMatch(
            first_fixture_id + matches + place,
            record,
            start + minute * 20,
            postponed_at=-10.0,
            new_kickoff=start + timedelta(days=1),
        )
        for place, record in enumerate(records[matches:])
    ]
    return ScriptedDay((*played, *waiting), start, speed)


def _choose(dice: random.Random, count: int, goals: int | None, postponed: int) -> list[RecordedMatch]:
    """Choose random records. A small day has every team once, goals, and a match that goes to penalties."""
    pool = list(load_matches())
    dice.shuffle(pool)
    if count <= 12:
        pool = _pick_different_teams(sorted(pool, key=lambda match: (match.shoot_out is None, len(match.goals) < 2)))
    chosen, rest = [pool[place % len(pool)] for place in range(count)], pool[count:]
    if goals is None or not rest:
        return chosen
    for _ in range(count * 4):
        missing = goals - sum(len(match.goals) for match in chosen[: count - postponed])
        if missing == 0:
            break
        place = dice.randrange(count - postponed)
        best = min(range(len(rest)), key=lambda one: abs(len(rest[one].goals) - len(chosen[place].goals) - missing))
        chosen[place], rest[best] = rest[best], chosen[place]
    return chosen


def _pick_different_teams(pool: Sequence[RecordedMatch]) -> list[RecordedMatch]:
    """Pick one shoot-out at most: more would only make the day longer."""
    teams: set[int] = set()
    found: list[RecordedMatch] = []
    for match in pool:
        ids = {side.id for side in match.sides}
        if not ids & teams and not (match.extra_time and found):
            teams |= ids
            found.append(match)
    return found


def _script_match(
    dice: random.Random, fixture_id: int, record: RecordedMatch, kickoff: datetime, place: int
) -> ScriptedMatch:
    match = ScriptedMatch(fixture_id, record, kickoff)
    goals = [_script_goal(dice, match, goal) for goal in record.goals]
    habits = place % 4
    if goals and habits == 0:
        goals[0] = _hide_name(match, goals[0])
    if goals and habits == 1:
        goals[-1] = _name_wrong_scorer(dice, match, goals[-1])
    if habits == 2 and (more := _make_disallowed(dice, match, goals)):
        goals.append(more)
    if any(goal.hidden for goal in goals):
        # One goal missing and another listed twice would match the score, and nobody could notice.
        goals = [replace(goal, repeated=None) for goal in goals]
    goals.sort(key=lambda goal: (goal.elapsed, goal.extra or 0))
    silent = (60.0, 63.0) if habits == 3 else None
    missed = (dice.randrange(20, 80), dice.randrange(2)) if dice.random() < 0.3 else None
    return replace(match, goals=tuple(goals), silent=silent, missed_penalty=missed)


def _script_goal(dice: random.Random, match: ScriptedMatch, goal: RecordedGoal) -> ScriptedGoal:
    wall = match.timeline.wall(goal.elapsed, goal.extra)
    scripted = ScriptedGoal(goal.elapsed, goal.extra, goal.side, goal.detail, (ScorerReport(wall, goal.scorer),))
    if dice.random() < UNNAMED_AT_FIRST:
        scripted = _hide_name(match, scripted)
    if dice.random() < HIDDEN:
        scripted = replace(scripted, hidden=((wall + 4.0, wall + 4.0 + HIDDEN_MINUTES),))
    if dice.random() < REPEATED:
        scripted = replace(scripted, repeated=(wall, wall + 3.0))
    return scripted


def _hide_name(match: ScriptedMatch, goal: ScriptedGoal) -> ScriptedGoal:
    wall = match.timeline.wall(goal.elapsed, goal.extra)
    return replace(goal, reports=(ScorerReport(wall, None), ScorerReport(wall + 2.0, goal.final)))


def _name_wrong_scorer(dice: random.Random, match: ScriptedMatch, goal: ScriptedGoal) -> ScriptedGoal:
    """Name a team-mate first, and the right scorer when the search for clips has begun."""
    others = [one for one in find_scorers(match.record.sides[goal.side].id) if one != goal.final]
    if not others:
        return goal
    wall = match.timeline.wall(goal.elapsed, goal.extra)
    return replace(goal, reports=(ScorerReport(wall, dice.choice(others)), ScorerReport(wall + 5.0, goal.final)))


def _make_disallowed(dice: random.Random, match: ScriptedMatch, goals: Sequence[ScriptedGoal]) -> ScriptedGoal | None:
    """Add a goal that is disallowed later, by somebody who scores in this match if possible."""
    side = goals[0].side if goals else 0
    scorers = [goal.final for goal in goals if goal.side == side and goal.detail == DETAILS[""]]
    names = [one for one in scorers if one] or list(find_scorers(match.record.sides[side].id))
    free = [minute for minute in range(10, 86) if all(abs(minute - goal.elapsed) >= SPACING for goal in goals)]
    if not names or not free:
        return None
    elapsed = dice.choice(free)
    wall = match.timeline.wall(elapsed, None)
    report = ScorerReport(wall, names[0])
    taken_back = min(wall + DISALLOWED_AFTER, match.timeline.wall(90, None))
    return ScriptedGoal(elapsed, None, side, DETAILS[""], (report,), disallowed=taken_back)


def _expected_goal(match: ScriptedMatch, goal: ScriptedGoal) -> ExpectedGoal:
    side, player = match.record.sides[goal.side], goal.final
    return ExpectedGoal(
        match.fixture_id,
        side.id,
        side.name,
        player.id if player else None,
        player.name if player else None,
        goal.elapsed,
        goal.extra,
        goal.detail,
    )
