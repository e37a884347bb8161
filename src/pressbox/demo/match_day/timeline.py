"""The course of a match: converts minutes since the kick-off to the API's status and match minute, and back."""

from collections.abc import Iterable
from dataclasses import dataclass

from pressbox.demo.match_day.records import RecordedMatch

HALF_TIME_BREAK = 15.0
SHORT_BREAK = 5.0
SHOOT_OUT_LENGTH = 10.0
SHORTEST_STOPPAGE = 2
LONG_NAMES = {
    "NS": "Not Started",
    "1H": "First Half",
    "HT": "Halftime",
    "2H": "Second Half",
    "BT": "Break Time",
    "ET": "Extra Time",
    "P": "Penalty In Progress",
    "FT": "Match Finished",
    "AET": "Match Finished",
    "PEN": "Match Finished",
    "PST": "Match Postponed",
}


@dataclass(frozen=True)
class Moment:
    status: str
    elapsed: int | None
    extra: int | None = None


@dataclass(frozen=True)
class Period:
    """A half with its stoppage time, or a break. `starts` and `lasts` are minutes since the kick-off."""

    status: str
    starts: float
    lasts: float
    first: int
    last: int

    @property
    def ends(self) -> float:
        return self.starts + self.lasts

    def moment(self, wall: float) -> Moment:
        minute = self.first + int(wall - self.starts)
        if self.first == self.last:
            return Moment(self.status, self.last)
        return Moment(self.status, min(minute, self.last), minute - self.last if minute > self.last else None)


class Timeline:
    def __init__(self, match: RecordedMatch) -> None:
        self._final = "PEN" if match.shoot_out else "AET" if match.extra_time else "FT"
        self.periods = tuple(self._plan(match))

    @property
    def ends(self) -> float:
        return self.periods[-1].ends

    @property
    def shoot_out_starts(self) -> float:
        return self.periods[-1].starts if self._final == "PEN" else self.ends

    def at(self, wall: float) -> Moment:
        if wall < 0:
            return Moment("NS", None)
        for period in self.periods:
            if wall < period.ends:
                return period.moment(wall)
        return Moment(self._final, self.periods[-1].last)

    def wall(self, elapsed: int, extra: int | None) -> float:
        """When a goal of this match minute is scored: in the middle of the minute."""
        for period in self.periods:
            if period.first < period.last and elapsed <= period.last:
                return period.starts + elapsed - period.first + (extra or 0) + 0.5
        return self.ends

    def _plan(self, match: RecordedMatch) -> Iterable[Period]:
        def stoppage(last: int) -> int:
            extras = [goal.extra or 0 for goal in match.goals if goal.elapsed == last]
            return max([SHORTEST_STOPPAGE, *(extra + 1 for extra in extras)])

        halves = [("1H", 1, 45, "HT", HALF_TIME_BREAK), ("2H", 46, 90, "BT", SHORT_BREAK)]
        if match.extra_time:
            halves += [("ET", 91, 105, "BT", 0.0), ("ET", 106, 120, "BT", SHORT_BREAK)]
        wall = 0.0
        for status, first, last, pause, length in halves:
            period = Period(status, wall, last - first + 1.0 + stoppage(last), first, last)
            yield period
            wall = period.ends
            more = last != halves[-1][2] or match.shoot_out
            if more and length:
                yield Period(pause, wall, length, last, last)
                wall += length
        if match.shoot_out:
            yield Period("P", wall, SHOOT_OUT_LENGTH, 120, 120)
