"""Finds the clock among the texts of a picture, and parses its notation. Pure.

Texts are only compared with these patterns; anything else is no clock.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pressbox.footy.domain.period_marks import (
    BREAK,
    GOALS,
    KICK_OFF,
    PERIODS,
    SCORE,
    TIME_OF_DAY,
    Period,
    looks_like_kick_off,
)

LONGEST_TEXT = 60
MOST_STOPPAGE_SHOWN = 15
LAST_MINUTE_SHOWN = 140
_PERIOD_ENDS = (45, 90, 105, 120)


@dataclass(frozen=True)
class Shown:
    """A clock as shown. `stoppage_known`: minutes and seconds include the stoppage time that was shown.

    `digit_lost`: the tens could not be read. `hundred_lost`: the stroke before it is a border, or the 1 of a hundred.
    """

    minutes: int
    seconds: int | None
    period: Period | None = None
    added: int | None = None
    stoppage_known: bool = False
    one_digit: bool = False
    digit_lost: bool = False
    hundred_lost: bool = False


@dataclass(frozen=True)
class ScorebugTexts:
    """The texts of one frame that belong to its clock; empty when not there."""

    clock: str = ""
    added: str = ""
    stoppage_clock: str = ""


# Also the abbreviation of a club, so it counts only where a shoot-out is possible.
_SHOOT_OUT = re.compile(r"(?<![A-Z])(?:PENS?|PSO)(?![A-Z])")
_SHOOT_OUT_FROM = 120
# 45+2, 45'+2', 90+3:12
_COMPACT = re.compile(
    r"(?<![\d:.+-])(?P<base>45|90|105|120)'? ?\+ ?(?P<extra>\d{1,2})(?:[:.](?P<seconds>[0-5]\d))?'?(?!\d)"
)
# 67:12, 7:12, 102:53; 67:1Z, a second that cannot be read; ?7:12, a first digit that cannot; not 8:30 PM
_RUNNING = re.compile(
    r"(?<![\d:.+-])(?P<junk>(?<![A-Z])[A-Z?*#|/])?(?P<minutes>\d{1,3}) ?(?P<mark>[:;.]) ?"
    r"(?P<seconds>[0-5]\d|[0-5][A-Z?](?![A-Z])|[A-Z?]\d)(?!\d|[:.]\d| ?[AP]M)"
)
_MINUTE_ONLY = re.compile(r"(?<![\d:.+-])(?P<minutes>\d{1,3})'(?!\d)")
# In one line with the teams: 87' ENG 1-0 GER. A single digit would be ambiguous.
_MINUTE_BESIDE = re.compile(r"(?:(?<=^)|(?<= ))\d{2,3}'(?= |$)")
_BARE_MINUTE = re.compile(r"(?P<minutes>\d{2,3})")
_ADDED = re.compile(r"\+ ?(?P<added>\d{1,2})(?:'| ?MIN)?(?![\d:.])")
_ADDED_ALONE = re.compile(r"(?P<added>\d{1,2})'?")
_TIMER = re.compile(r"\+? ?(?P<minutes>\d{1,3}) ?[:.] ?(?P<seconds>[0-5]\d)")
# 45:00 is followed by +2:13, 2:13 or +4 2:13.
_TIMER_BESIDE = re.compile(r"(?:\+ ?\d{1,2}'? )?\+? ?\d{1,3}[:.][0-5]\d")
# With an unreadable sign before it, a minute below this may be one of extra time: |02:53 may be 102:53.
_SURELY_TWO_DIGITS = 41
_STROKES = "|/I"


def shown_time(clock: str, added: str = "", stoppage_clock: str = "") -> Shown | None:
    """Parse the texts of a clock; None for no clock, a break, a shoot-out, or an impossible time."""
    text = normalise(clock)
    time = _without_marks(text)
    if BREAK.search(time) or TIME_OF_DAY.search(time):
        return None
    shown = _compact(time) or _running(time) or _minute_only(time)
    if shown is None or shown.minutes > LAST_MINUTE_SHOWN:
        return None
    if shown.minutes >= _SHOOT_OUT_FROM and _SHOOT_OUT.search(text):
        return None
    shown = replace(shown, period=_period(text))
    if shown.stoppage_known:
        return shown
    shown = replace(shown, added=_added(normalise(added), time))
    return _with_timer(shown, normalise(stoppage_clock) or _beside(time))


def normalise(text: str) -> str:
    """Make full-width characters, quotes and spaces plain, and cut what is longer than a scorebug."""
    upper = unicodedata.normalize("NFKC", text[:LONGEST_TEXT]).upper()
    for odd in "’‘`´′":
        upper = upper.replace(odd, "'")
    return " ".join(upper.split())


def find_clock(texts: Sequence[str]) -> ScorebugTexts:
    """Choose the clock among the texts of one part of a picture. Two different clocks count as none."""
    parts = [normalise(text) for text in texts]
    if any(KICK_OFF.fullmatch(part) for part in parts):
        return ScorebugTexts()
    marks = [part for part in parts if _is_mark(part)]
    beside = [found.group() for part in parts if part.startswith("+") and (found := _TIMER.match(part))]
    clocks = list(dict.fromkeys(found for part in parts for found in _clocks_in(part)))
    if len(clocks) == 2 and not beside:
        clocks, beside = _stopped_first(clocks)
    if len(clocks) != 1:
        return ScorebugTexts(clock="" if clocks else " ".join(marks))
    if not marks and _is_kick_off(clocks[0], parts):
        return ScorebugTexts()
    added = next((found.group() for part in parts if (found := _ADDED.fullmatch(part))), "")
    return ScorebugTexts(
        clock=" ".join((*marks, clocks[0])),
        added=added,
        stoppage_clock=beside[0] if len(beside) == 1 else "",
    )


def _is_kick_off(clock: str, parts: Sequence[str]) -> bool:
    """A time such as 20:45 is the clock of a match only beside a score; before the match there is none."""
    shown = _running(_without_marks(clock))
    if shown is None or _period(clock) is not None or not looks_like_kick_off(shown.minutes, shown.seconds):
        return False
    others = [_RUNNING.sub(" ", part) for part in parts]
    return not any(SCORE.search(other) for other in others) and sum(bool(GOALS.fullmatch(o)) for o in others) < 2


def _is_mark(part: str) -> bool:
    patterns = (BREAK, _SHOOT_OUT, *(pattern for pattern, _ in PERIODS))
    return any(pattern.fullmatch(part) for pattern in patterns)


def _without_marks(text: str) -> str:
    for pattern, _ in PERIODS:
        text = pattern.sub(" ", text)
    return " ".join(text.split())


def _clocks_in(part: str) -> list[str]:
    """Each clock in a text, with the mark of its period and its stoppage time."""
    time, period = _without_marks(part), _period(part)
    if TIME_OF_DAY.search(time):
        return []
    mark = "" if period is None else f"{period} "
    compact = _COMPACT.search(time)
    if compact:
        return [f"{mark}{compact.group()}"]
    running = [found for found in _RUNNING.finditer(time) if _usable(found)]
    if running:
        first, behind = running[0].group(), time[running[0].end() :].strip()
        rest = (_TIMER_BESIDE.match(behind) or _ADDED.match(behind)) if _stopped_at(first) else None
        if rest:
            return [f"{mark}{first} {rest.group()}"]
        return [f"{mark}{first}", *(found.group() for found in running[1:])]
    alone = _MINUTE_ONLY.fullmatch(time) or _MINUTE_BESIDE.search(time)
    return [f"{mark}{alone.group()}"] if alone else []


def _stopped_at(text: str) -> bool:
    shown = _running(text)
    return shown is not None and _stopped(shown)


def _usable(found: re.Match[str]) -> bool:
    """A point instead of a colon counts only between two pairs of digits: 67.12, not the 1.25 of a statistic."""
    return found["mark"] != "." or (found["seconds"].isdigit() and len(found["minutes"]) == 2 and not found["junk"])


def _stopped_first(timers: list[str]) -> tuple[list[str], list[str]]:
    for clock, other in (timers, timers[::-1]):
        shown, timer = shown_time(clock), _TIMER.fullmatch(other)
        if shown and timer and _stopped(shown) and int(timer["minutes"]) <= MOST_STOPPAGE_SHOWN:
            return [clock], [other]
    return timers, []


def _stopped(shown: Shown) -> bool:
    return shown.minutes in _PERIOD_ENDS and shown.seconds == 0


def _compact(text: str) -> Shown | None:
    found = _COMPACT.search(text)
    if found is None:
        return None
    seconds = found["seconds"]
    minutes = int(found["base"]) + int(found["extra"])
    return Shown(minutes, None if seconds is None else int(seconds), stoppage_known=True)


def _running(text: str) -> Shown | None:
    found = next((one for one in _RUNNING.finditer(text) if _usable(one)), None)
    if found is None:
        return None
    digits, seconds = found["minutes"], found["seconds"]
    stroke = bool(found["junk"]) and found["junk"] in _STROKES and len(digits) == 2
    if found["junk"] and not stroke and not (len(digits) == 1 or _SURELY_TWO_DIGITS <= int(digits) < 100):
        return None
    return Shown(
        int(digits),
        int(seconds) if seconds.isdigit() else None,
        one_digit=len(digits) == 1,
        digit_lost=len(digits) == 1 and bool(found["junk"]),
        hundred_lost=stroke and int(digits) < _SURELY_TWO_DIGITS,
    )


def _minute_only(text: str) -> Shown | None:
    found = _MINUTE_ONLY.search(text) or _BARE_MINUTE.fullmatch(text)
    return None if found is None else Shown(int(found["minutes"]), None)


def _period(text: str) -> Period | None:
    return next((period for pattern, period in PERIODS if pattern.search(text)), None)


def _added(added: str, clock: str) -> int | None:
    found = _ADDED.search(added) or _ADDED_ALONE.fullmatch(added) or _ADDED.search(clock)
    return None if found is None else int(found["added"])


def _beside(text: str) -> str:
    """A second timer in the same text: 45:00 +2:13."""
    timers = [found.group() for found in _TIMER.finditer(text)]
    return timers[1] if len(timers) == 2 else ""


def _with_timer(shown: Shown, beside: str) -> Shown:
    timer = _TIMER.fullmatch(beside)
    if timer is None or not _stopped(shown):
        return shown
    minutes, seconds = int(timer["minutes"]), int(timer["seconds"])
    if minutes > shown.minutes:
        # The second timer continues the first one: 90:00 and 92:13.
        minutes -= shown.minutes
    if minutes > MOST_STOPPAGE_SHOWN:
        return shown
    return replace(shown, minutes=shown.minutes + minutes, seconds=seconds, stoppage_known=True)
