"""One match of the script: what the fixtures API answers at any minute, with the quirks of the real one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from pressbox.demo.match_day.records import Player, RecordedMatch, Side
from pressbox.demo.match_day.timeline import LONG_NAMES, Timeline

# The World Cup has this number at API-Football.
LEAGUE_ID = 1
SHOOT_OUT = "Penalty Shootout"
CANCELLED = "Goal cancelled"


@dataclass(frozen=True)
class ScorerReport:
    """From this minute on, the API names this scorer; None means that it does not know him yet."""

    wall: float
    scorer: Player | None


@dataclass(frozen=True)
class ScriptedGoal:
    """A goal and what the API reports of it. `disallowed` is when it is removed; `hidden` are times without it."""

    elapsed: int
    extra: int | None
    side: int
    detail: str
    reports: tuple[ScorerReport, ...]
    disallowed: float | None = None
    hidden: tuple[tuple[float, float], ...] = ()
    # When the same event is listed twice.
    repeated: tuple[float, float] | None = None

    @property
    def final(self) -> Player | None:
        return self.reports[-1].scorer

    def stands(self, wall: float) -> bool:
        return self.reports[0].wall <= wall and (self.disallowed is None or wall < self.disallowed)

    def scorer(self, wall: float) -> Player | None:
        return [reports for reports in self.reports if reports.wall <= wall][-1].scorer

    def names_another(self, wall: float) -> bool:
        """Whether it is listed with another scorer than in the end."""
        return bool(self.listed(wall)) and self.scorer(wall) not in (None, self.final)

    def listed(self, wall: float) -> int:
        """How often it is listed."""
        if not self.stands(wall) or any(begin <= wall < end for begin, end in self.hidden):
            return 0
        return 2 if self.repeated and self.repeated[0] <= wall < self.repeated[1] else 1


@dataclass(frozen=True)
class ScriptedMatch:
    """`postponed_at` (minutes before or after the kick-off) moves a match to `new_kickoff`; it is not played then.

    During `silent` the API answers without any event although the match runs.
    """

    fixture_id: int
    record: RecordedMatch
    kickoff: datetime
    goals: tuple[ScriptedGoal, ...] = ()
    missed_penalty: tuple[int, int] | None = None
    silent: tuple[float, float] | None = None
    postponed_at: float | None = None
    new_kickoff: datetime | None = None

    @cached_property
    def timeline(self) -> Timeline:
        return Timeline(self.record)

    @property
    def ends(self) -> float:
        """Minutes from the kick-off to the final whistle; 0 for one that is not played."""
        return self.timeline.ends if self.postponed_at is None else 0.0

    def at(self, minute: float, *, with_events: bool = True) -> dict[str, Any]:
        """One element of `response`, this many minutes after the kick-off (negative: before it)."""
        postponed = self.postponed_at is not None and minute >= self.postponed_at
        played = minute if self.postponed_at is None else -1.0
        raw: dict[str, Any] = {
            "fixture": self._fixture(played, postponed),
            "league": self._league(),
            "teams": self._teams(played),
            "goals": _score(self._goals_of(played) if played >= 0 else None),
            "score": self._scores(played),
        }
        if with_events:
            raw |= {"events": list(self._events(played)), "lineups": [], "statistics": [], "players": []}
        return raw

    def _fixture(self, wall: float, postponed: bool) -> dict[str, Any]:
        moment = self.timeline.at(wall)
        status = "PST" if postponed else moment.status
        kickoff = self.new_kickoff if postponed and self.new_kickoff else self.kickoff
        second = next(period for period in self.timeline.periods if period.status == "2H")
        first_half = int(kickoff.timestamp()) if wall >= 0 else None
        return {
            "id": self.fixture_id,
            "referee": None,
            "timezone": "UTC",
            "date": kickoff.isoformat(),
            "timestamp": int(kickoff.timestamp()),
            "periods": {
                "first": first_half,
                "second": int((kickoff + timedelta(minutes=second.starts)).timestamp())
                if wall >= second.starts
                else None,
            },
            "venue": {"id": None, "name": self.record.ground.split(",")[0], "city": self.record.ground},
            "status": {
                "long": LONG_NAMES[status],
                "short": status,
                "elapsed": moment.elapsed,
                "extra": moment.extra,
            },
        }

    def _league(self) -> dict[str, Any]:
        return {
            "id": LEAGUE_ID,
            "name": "World Cup",
            "country": "World",
            "logo": None,
            "flag": None,
            "season": self.record.year,
            "round": self.record.round,
        }

    def _teams(self, wall: float) -> dict[str, Any]:
        winner = self._winner() if wall >= self.ends else None
        home, away = self.record.sides
        return {
            "home": {**_team(home), "winner": None if winner is None else winner == 0},
            "away": {**_team(away), "winner": None if winner is None else winner == 1},
        }

    def _winner(self) -> int | None:
        home, away = self.record.shoot_out or self.record.extra_time or self.record.full_time
        return None if home == away else int(away > home)

    def _goals_of(self, wall: float, last_minute: int = 200) -> tuple[int, int]:
        standing = [goal.side for goal in self.goals if goal.stands(wall) and goal.elapsed <= last_minute]
        return standing.count(0), standing.count(1)

    def _scores(self, wall: float) -> dict[str, Any]:
        over = {period.last: wall >= period.ends for period in self.timeline.periods if period.first < period.last}
        extra = None
        if over.get(120):
            after, before = self._goals_of(wall), self._goals_of(wall, 90)
            extra = (after[0] - before[0], after[1] - before[1])
        kicks = list(self._kicks(wall))
        return {
            "halftime": _score(self._goals_of(wall, 45) if over[45] else None),
            "fulltime": _score(self._goals_of(wall, 90) if over[90] else None),
            "extratime": _score(extra),
            "penalty": _score(
                (sum(s == 0 and good for s, good, _ in kicks), sum(s == 1 and good for s, good, _ in kicks))
                if kicks
                else None
            ),
        }

    def _events(self, wall: float) -> Iterator[dict[str, Any]]:
        if wall < 0 or (self.silent and self.silent[0] <= wall < self.silent[1]):
            return
        for goal in self.goals:
            for _ in range(goal.listed(wall)):
                yield self._event(goal.elapsed, goal.extra, goal.side, goal.scorer(wall), goal.detail)
            if goal.disallowed is not None and wall >= goal.disallowed:
                yield self._decision(goal)
        if self.missed_penalty and wall >= self.timeline.wall(self.missed_penalty[0], None):
            elapsed, side = self.missed_penalty
            yield self._event(elapsed, None, side, None, "Missed Penalty")
        for number, (side, good, kicker) in enumerate(self._kicks(wall), start=1):
            yield self._event(120, number, side, kicker, "Penalty" if good else "Missed Penalty", SHOOT_OUT)

    def _event(
        self, elapsed: int, extra: int | None, side: int, player: Player | None, detail: str, comment: str | None = None
    ) -> dict[str, Any]:
        return {
            "time": {"elapsed": elapsed, "extra": extra},
            "team": _team(self.record.sides[side]),
            "player": {"id": player.id, "name": player.name} if player else {"id": None, "name": None},
            "assist": {"id": None, "name": None},
            "type": "Goal",
            "detail": detail,
            "comments": comment,
        }

    def _decision(self, goal: ScriptedGoal) -> dict[str, Any]:
        """The video referee's decision, which stays listed when the goal is gone."""
        moment = self.timeline.at(goal.disallowed or 0.0)
        event = self._event(moment.elapsed or 0, moment.extra, goal.side, goal.final, CANCELLED)
        return {**event, "type": "Var"}

    def _kicks(self, wall: float) -> Sequence[tuple[int, bool, Player | None]]:
        """The penalties of the shoot-out so far: the sides take turns, one each half minute."""
        if self.record.shoot_out is None or wall < self.timeline.shoot_out_starts:
            return ()
        rounds = max(5, *self.record.shoot_out)
        kicks = [(side, turn < self.record.shoot_out[side], None) for turn in range(rounds) for side in (0, 1)]
        return kicks[: int((wall - self.timeline.shoot_out_starts) * 2)]


def _team(side: Side) -> dict[str, Any]:
    return {"id": side.id, "name": side.name, "logo": None}


def _score(score: tuple[int, int] | None) -> dict[str, int | None]:
    return {"home": None, "away": None} if score is None else {"home": score[0], "away": score[1]}
