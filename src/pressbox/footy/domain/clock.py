"""The match clock: what a reading of the scorebug means, and whether it fits the minute of the goal. Pure.

A wrong reading is worse than none. So only a direct reading verifies a clip. A clip that fits under an assumption (the
clock restarted, a digit was lost, the clock is stopped) is kept as unverified, and its status names the assumption.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.footy.domain.period_marks import Period, looks_like_kick_off
from pressbox.footy.domain.scorebug import Shown, shown_time

DEFAULT_TOLERANCE = 3
MINUTE = 60
HALF = 45
# Where clocks stop, while stoppage time is shown elsewhere or not at all.
PERIOD_ENDS = (45, 90, 105, 120)
MOST_STOPPAGE = 15
LAST_MINUTE = 120 + MOST_STOPPAGE
EXTRA_TIME_STARTS = (90, 105)
LONGEST_EXTRA_HALF = 15 + 5
# A scene may have been cut by a minute, and two encoders may disagree by a second or two.
SKIPPED_SECONDS = 60
BACKWARD_SECONDS = 2
# How far two frames can be apart when their places are unknown.
LONGEST_CLIP_SECONDS = 60
_STANDS_STILL_SECONDS = 3


class TimestampStatus(StrEnum):
    """Why a clip is verified, unverified or rejected. Only VERIFIED verifies, only CONTRADICTS rejects."""

    VERIFIED = "verified"
    NO_CLOCK = "no clock"
    UNCLEAR = "frames disagree"
    RESTARTED = "fits a restarted clock"
    DIGIT_LOST = "fits with a lost digit"
    STOPPED = "fits a stopped clock"
    CONTRADICTS = "wrong minute"
    NOT_CHECKED = "not yet checked"


class Doubt(StrEnum):
    """What must be assumed to read a time from a clock."""

    NONE = "none"
    STOPPED = "stopped"
    RESTARTED = "restarted"
    DIGIT_LOST = "digit lost"


_LEAST_DOUBT_FIRST = (Doubt.NONE, Doubt.STOPPED, Doubt.RESTARTED, Doubt.DIGIT_LOST)
_STATUS_OF = {
    Doubt.NONE: TimestampStatus.VERIFIED,
    Doubt.STOPPED: TimestampStatus.STOPPED,
    Doubt.RESTARTED: TimestampStatus.RESTARTED,
    Doubt.DIGIT_LOST: TimestampStatus.DIGIT_LOST,
}


@dataclass(frozen=True)
class ClockReading:
    """What one frame showed, as text; empty when not seen. `second` is the frame's place in the clip, if known.

    `added` is the announced stoppage time ("+4"), `stoppage_clock` a second timer beside a stopped clock ("2:13").
    """

    clock: str = ""
    added: str = ""
    stoppage_clock: str = ""
    second: float | None = None


@dataclass(frozen=True)
class MatchTime:
    """A range of match seconds that a reading can mean, and what must be assumed for it."""

    earliest: int
    latest: int
    doubt: Doubt = Doubt.NONE

    @property
    def minute(self) -> int:
        return self.earliest // MINUTE

    def shift(self, minutes: int, doubt: Doubt) -> "MatchTime":
        return MatchTime(self.earliest + minutes * MINUTE, self.latest + minutes * MINUTE, doubt)

    def fits(self, minute: int, tolerance: int) -> bool:
        return self.earliest // MINUTE - tolerance <= minute <= self.latest // MINUTE + tolerance


@dataclass(frozen=True)
class TimestampCheck:
    verified: bool
    extracted_minute: int | None
    status: TimestampStatus

    @property
    def rejected(self) -> bool:
        return self.status is TimestampStatus.CONTRADICTS


def expected_minute(elapsed: int, extra: int | None) -> int:
    """The 67th minute is the one in which the clock shows 66."""
    return max(elapsed + (extra or 0) - 1, 0)


def validate_timestamp(
    readings: Sequence[ClockReading], elapsed: int, extra: int | None = None, tolerance: int = DEFAULT_TOLERANCE
) -> TimestampCheck:
    """Compare the clocks of a clip's frames with the minute of the goal."""
    expected = expected_minute(elapsed, extra)
    explanations = agreed_times(readings)
    if explanations is None:
        return TimestampCheck(False, None, TimestampStatus.NO_CLOCK)
    if not explanations:
        return TimestampCheck(False, None, TimestampStatus.UNCLEAR)
    for time in explanations:
        if time.fits(expected, tolerance):
            status = _STATUS_OF[time.doubt]
            minute = expected if time.doubt is Doubt.STOPPED else time.minute
            return TimestampCheck(status is TimestampStatus.VERIFIED, minute, status)
    return TimestampCheck(False, explanations[0].minute, TimestampStatus.CONTRADICTS)


def agreed_times(readings: Sequence[ClockReading]) -> tuple[MatchTime, ...] | None:
    """Every time that explains the readings, least doubt first; None without a clock, empty if they disagree.

    All frames with a clock must fit together; of three, two are enough.
    """
    read = [(reading.second, times) for reading in readings if (times := possible_times(reading))]
    if not read:
        return None
    if _shows_time_of_day(readings):
        return ()
    enough = max(1, len(read) // 2 + 1)
    for size in range(len(read), enough - 1, -1):
        found = [time for chosen in itertools.combinations(read, size) for time in _explanations(chosen)]
        if found:
            return tuple(sorted(set(found), key=lambda time: (_LEAST_DOUBT_FIRST.index(time.doubt), time.earliest)))
    return ()


def _shows_time_of_day(readings: Sequence[ClockReading]) -> bool:
    """Whether a time such as 20:45 stands still while the clip runs: that of the kick-off, not of the match."""
    shown = [
        (reading.second, time.minutes, time.seconds)
        for reading in readings
        if reading.second is not None and (time := shown_time(reading.clock)) is not None and time.period is None
    ]
    if len({(minutes, seconds) for _, minutes, seconds in shown}) != 1:
        return False
    places = [second for second, _, _ in shown]
    return max(places) - min(places) >= _STANDS_STILL_SECONDS and looks_like_kick_off(*shown[0][1:])


def readings_agree(readings: Sequence[ClockReading]) -> bool:
    """Whether all readings can be of one scene; frames without a clock do not matter."""
    read = [(reading.second, times) for reading in readings if (times := possible_times(reading))]
    return not read or any(True for _ in _explanations(read))


_Read = tuple[float | None, tuple[MatchTime, ...]]


def _explanations(read: Sequence[_Read]) -> Iterator[MatchTime]:
    """Yield one time for each way in which all these readings fit together."""
    seconds = [second for second, _ in read]
    for choice in itertools.product(*(times for _, times in read)):
        pairs = itertools.combinations(zip(seconds, choice, strict=True), 2)
        if all(_follows(first, other) for first, other in pairs):
            doubt = min((time.doubt for time in choice), key=_LEAST_DOUBT_FIRST.index)
            # Take the reading with the least doubt, then the most exact one.
            best = min(choice, key=lambda time: (_LEAST_DOUBT_FIRST.index(time.doubt), time.latest - time.earliest))
            yield MatchTime(best.earliest, best.latest, doubt)


def _follows(one: tuple[float | None, MatchTime], other: tuple[float | None, MatchTime]) -> bool:
    """A clock stands still or runs forward, never much faster than the clip."""
    (second, time), (other_second, other_time) = one, other
    if second is None or other_second is None:
        most = LONGEST_CLIP_SECONDS + SKIPPED_SECONDS
        return other_time.latest - time.earliest >= -most and other_time.earliest - time.latest <= most
    if other_second < second:
        return _follows(other, one)
    passed = int(other_second - second) + 1
    return (
        other_time.latest - time.earliest >= -BACKWARD_SECONDS
        and other_time.earliest - time.latest <= passed + SKIPPED_SECONDS
    )


def possible_times(reading: ClockReading) -> tuple[MatchTime, ...]:
    """What a reading can mean, the most direct first; empty for a break, a shoot-out or without a clock."""
    shown = shown_time(reading.clock, reading.added, reading.stoppage_clock)
    if shown is None:
        return ()
    return tuple(time for time in _meanings(shown) if time.earliest < (LAST_MINUTE + 1) * MINUTE)


def _meanings(shown: Shown) -> Iterator[MatchTime]:
    if shown.digit_lost:
        # Any tens are possible, none of them directly.
        yield from (_time(shown, tens * 10, Doubt.DIGIT_LOST) for tens in range(LAST_MINUTE // 10 + 1))
        return
    match shown.period:
        case Period.FIRST_HALF:
            yield from _with_stoppage(shown, 0)
        case Period.SECOND_HALF:
            yield from _with_stoppage(shown, 0 if shown.minutes > HALF else HALF)
        case Period.EXTRA_TIME:
            yield from _in_extra_time(shown)
        case None:
            yield from _unmarked(shown)


def _in_extra_time(shown: Shown) -> Iterator[MatchTime]:
    starts = (0,) if shown.minutes >= EXTRA_TIME_STARTS[0] else EXTRA_TIME_STARTS
    if shown.minutes <= LONGEST_EXTRA_HALF or starts == (0,):
        for start in starts:
            yield from _with_stoppage(shown, start)


def _unmarked(shown: Shown) -> Iterator[MatchTime]:
    yield from _with_stoppage(shown, 0)
    if shown.stoppage_known:
        # 45+2 is the end of the first half, even where clocks restart.
        return
    direct = _time(shown, 0)
    if shown.minutes < HALF + MOST_STOPPAGE:
        yield direct.shift(HALF, Doubt.RESTARTED)
    if shown.minutes <= LONGEST_EXTRA_HALF:
        yield from (direct.shift(start, Doubt.RESTARTED) for start in EXTRA_TIME_STARTS)
    if shown.hundred_lost:
        yield direct.shift(100, Doubt.DIGIT_LOST)
    if shown.one_digit:
        yield from (direct.shift(tens * 10, Doubt.DIGIT_LOST) for tens in range(1, LAST_MINUTE // 10 + 1))


def _with_stoppage(shown: Shown, start: int) -> Iterator[MatchTime]:
    """Yield the time itself and, where the clock may have stopped, the time that may have passed since."""
    direct = _time(shown, start)
    is_stopped = not (shown.stoppage_known or direct.earliest % MINUTE or direct.minute not in PERIOD_ENDS)
    if not is_stopped or shown.added is None:
        yield direct
    if not is_stopped:
        return
    most = MOST_STOPPAGE if shown.added is None else min(shown.added + 2, MOST_STOPPAGE)
    yield MatchTime(direct.earliest, direct.earliest + most * MINUTE, Doubt.STOPPED)


def _time(shown: Shown, start: int, doubt: Doubt = Doubt.NONE) -> MatchTime:
    begin = (start + shown.minutes) * MINUTE
    if shown.seconds is None:
        return MatchTime(begin, begin + MINUTE - 1, doubt)
    return MatchTime(begin + shown.seconds, begin + shown.seconds, doubt)
