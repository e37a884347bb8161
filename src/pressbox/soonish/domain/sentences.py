"""Reads a sentence such as “Dinner with Anna on Friday at 19:30” into a name and a time, in English or German. Pure.

What is not understood stays in the name, where somebody sees it in the form.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_DAYS = ("monday montag", "tuesday dienstag", "wednesday mittwoch", "thursday donnerstag", "friday freitag",
         "saturday samstag sonnabend", "sunday sonntag")  # fmt: skip
_WEEKDAYS = {name: number for number, names in enumerate(_DAYS) for name in names.split()}
_MONTH_NAMES = ("january januar jan", "february februar feb", "march märz mar", "april apr", "may mai", "june juni jun",
                "july juli jul", "august aug", "september sep", "october oktober oct okt", "november nov",
                "december dezember dec dez")  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_RELATIVE = {"today": 0, "heute": 0, "tonight": 0, "tomorrow": 1, "morgen": 1, "übermorgen": 2}
_LEADING = r"(?:\b(?:on|at|am|um|den|the|next|this|nächsten|diesen|,)\s+){0,4}"
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))

_CLOCK = re.compile(
    rf"{_LEADING}\b(?:(?P<hour>[01]?\d|2[0-3])[:.](?P<minute>[0-5]\d)(?:\s*(?P<half>[ap]m)\b)?(?:\s*(?:uhr|h)\b)?"
    r"|(?P<full>[01]?\d|2[0-3])\s*(?:uhr|h|o’clock|o'clock)\b|(?P<short>1[0-2]|0?[1-9])\s*(?P<short_half>[ap]m)\b)"
    r"(?!\.?\d)",
    re.IGNORECASE,
)
_ISO = re.compile(rf"{_LEADING}\b(\d{{4}})-(\d\d)-(\d\d)\b", re.IGNORECASE)
_DOTTED = re.compile(rf"{_LEADING}\b(\d{{1,2}})\.\s?(\d{{1,2}})\.(?:\s?(\d{{4}})\b)?", re.IGNORECASE)
_DAY_MONTH = re.compile(
    rf"{_LEADING}\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+({_MONTH})\b\.?(?:\s+(\d{{4}})\b)?", re.IGNORECASE
)
_MONTH_DAY = re.compile(
    rf"{_LEADING}\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_WORD = re.compile(rf"{_LEADING}\b({'|'.join((*_WEEKDAYS, *_RELATIVE))})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """What a sentence says. `start` is the local time, None when it names neither a day nor a time."""

    name: str
    start: datetime | None = None


def read_sentence(text: str, now: datetime) -> Said:
    """Read it at this local time. A day without a time begins at noon, a time without a day is the next such time."""
    rest = " ".join(text.split())
    day, rest = _take_day(rest, now.date())
    clock, rest = _take_clock(rest)
    name = re.sub(r" ([,.;])", r"\1", " ".join(rest.split())).strip(" ,;–-")
    if day is None and clock is None:
        return Said(name)
    start = datetime.combine(day or now.date(), clock or time(12))
    return Said(name, start + timedelta(days=1) if day is None and start <= now else start)


def _take_day(text: str, today: date) -> tuple[date | None, str]:
    ways: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], date | None]], ...] = (
        (_ISO, lambda found: _date(int(found[1]), int(found[2]), int(found[3]))),
        (_DAY_MONTH, lambda found: _coming(found[3], _MONTHS[found[2].lower()], int(found[1]), today)),
        (_MONTH_DAY, lambda found: _coming(found[3], _MONTHS[found[1].lower()], int(found[2]), today)),
        (_DOTTED, lambda found: _coming(found[3], int(found[2]), int(found[1]), today)),
        (_WORD, lambda found: _by_word(found[1].lower(), today)),
    )
    for pattern, read in ways:
        found = pattern.search(text)
        if found and (day := read(found)) is not None:
            return day, text[: found.start()] + text[found.end() :]
    return None, text


def _take_clock(text: str) -> tuple[time | None, str]:
    found = _CLOCK.search(text)
    if found is None:
        return None, text
    hour, minute = int(found["hour"] or found["full"] or found["short"]), int(found["minute"] or 0)
    half = (found["half"] or found["short_half"] or "").lower()
    if half and hour > 12:
        return None, text
    hour = hour % 12 + (12 if half == "pm" else 0) if half else hour
    return time(hour, minute), text[: found.start()] + text[found.end() :]


def _by_word(word: str, today: date) -> date:
    if word in _RELATIVE:
        return today + timedelta(days=_RELATIVE[word])
    return today + timedelta(days=(_WEEKDAYS[word] - today.weekday()) % 7 or 7)


def _coming(year: str | None, month: int, day: int, today: date) -> date | None:
    """This date in the year that is named, otherwise the next one."""
    if year:
        return _date(int(year), month, day)
    found = _date(today.year, month, day)
    return _date(today.year + 1, month, day) if found and found < today else found


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
