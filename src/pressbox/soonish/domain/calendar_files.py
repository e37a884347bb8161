"""Reads the events of an .ics file, as calendar programs really write them: what cannot be read is left out. Pure.

The lines are ours, because the icalendar library refuses a whole file for one property that is wrong. Everything is
bounded before it is looked at; rules of repetition still cost what they cost, so it runs in a child process.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo

from pressbox.core.errors import InvalidInputError
from pressbox.core.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, drop_controls
from pressbox.soonish.domain.times import FIRST_YEAR, LAST_YEAR, is_zone

MAX_BYTES = 1_000_000
MAX_LINES = 60_000
# Longer ones are left out with their property: mostly files that are attached inside.
MAX_LINE_LENGTH = 32_000
MAX_PARAMETERS = 50
MAX_ZONE_LENGTH = 200
MAX_RULE_LENGTH = 400
# What a page offers to choose from.
MAX_OFFERED = 30
# Fifty years of days: a rule that does not come to the present by then is not followed further.
_MAX_REPETITIONS = 20_000
# No name of the tz database has more.
_ZONE_PARTS = 3
_LINE = re.compile(r'([A-Za-z0-9-]++)((?:;(?:[^":;]|"[^"]*+")*+)*+):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([A-Za-z0-9-]++)=("[^"]*+"|[^;]*+)')
_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?(?:\.\d+)?(Z)?)?", re.IGNORECASE)
_DURATION = re.compile(r"P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?")
_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_ESCAPE = re.compile(r"\\(.)")

Property = tuple[Mapping[str, str], str]
Properties = Mapping[str, Sequence[Property]]
_NOTHING: Property = ({}, "")


@dataclass(frozen=True)
class CalendarEntry:
    """An event of a calendar file. Times are aware, in the zone `timezone`.

    One that `repeats` has the times of its next occurrence; one that lasts `all_day` begins and ends at midnight.
    """

    name: str
    start: datetime
    timezone: str
    end: datetime | None = None
    location: str = ""
    description: str = ""
    is_cancelled: bool = False
    all_day: bool = False
    repeats: bool = False


@dataclass(frozen=True)
class CalendarFile:
    """How many events a file holds, and those of them that are offered: what comes next first."""

    count: int
    offered: tuple[CalendarEntry, ...]


def read_file(data: bytes, default_zone: str, now: datetime) -> CalendarFile:
    entries = read_calendar(data, default_zone, now)
    if not entries:
        raise InvalidInputError("There is no event in this file that can be read.", field="calendar")
    return CalendarFile(len(entries), tuple(offer_entries(entries, now)[:MAX_OFFERED]))


def read_calendar(data: bytes, default_zone: str, now: datetime) -> Sequence[CalendarEntry]:
    """The events of a file. Times without a known zone are read in the default one."""
    if len(data) > MAX_BYTES:
        raise InvalidInputError("The file is too large: at most one megabyte.", field="calendar")
    lines = list(_read_lines(_decode(data)))
    named = (find_zone(value) for name, _, value in lines if name == "X-WR-TIMEZONE")
    zone = next((found for found in named if found), default_zone)
    events = list(_gather_events(lines))
    moved = {(_value(event, "UID"), _read_moment(_first(event, "RECURRENCE-ID"), zone)) for event in events}
    entries = (_build_entry(event, zone, now, moved) for event in events)
    return [entry for entry in entries if entry is not None]


def offer_entries(entries: Iterable[CalendarEntry], now: datetime) -> Sequence[CalendarEntry]:
    """What is to come, the next one first; when nothing is, what is past, the last one first."""
    by_start = sorted(entries, key=lambda entry: entry.start)
    coming = [entry for entry in by_start if (entry.end or entry.start) > now and not entry.is_cancelled]
    return coming or by_start[::-1]


def find_zone(name: str) -> str | None:
    """The zone of a TZID: a name of the tz database, perhaps behind a path, or one of Windows."""
    # Only the child that reads a file needs the library; commands and pages about events load this module too.
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    if len(name) > MAX_ZONE_LENGTH:
        return None
    plain = name.strip().strip('"').strip("/")
    parts = plain.rsplit("/", _ZONE_PARTS)[-_ZONE_PARTS:]
    candidates = [WINDOWS_TO_OLSON.get(plain, ""), *("/".join(parts[start:]) for start in range(len(parts)))]
    return next((candidate for candidate in candidates if is_zone(candidate)), None)


def _gather_events(lines: Sequence[tuple[str, Mapping[str, str], str]]) -> Iterator[Properties]:
    """The properties of each event, without those of what lies inside it, such as alarms."""
    path: list[str] = []
    found: dict[str, list[Property]] = {}
    for name, parameters, value in lines:
        if name == "BEGIN":
            path.append(value.strip().upper())
            found = {} if path[-1] == "VEVENT" else found
        elif name == "END":
            if path and path.pop() == "VEVENT":
                yield found
        elif path and path[-1] == "VEVENT":
            found.setdefault(name, []).append((parameters, value))


def _first(event: Properties, name: str) -> Property | None:
    return next(iter(event.get(name, ())), None)


def _value(event: Properties, name: str) -> str:
    return (_first(event, name) or _NOTHING)[1].strip()


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _read_lines(text: str) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """Lines that were folded are joined; what is no line of a calendar is left out."""
    raw = re.split(r"\r\n|\n|\r", text, maxsplit=MAX_LINES)
    if len(raw) > MAX_LINES:
        raise InvalidInputError(f"The file has too many lines: at most {MAX_LINES:,}.", field="calendar")
    gathered: list[str] = []
    for line in (*raw, "END"):
        if line[:1] in (" ", "\t") and gathered:
            gathered.append(line[1:])
            continue
        if (found := _read_line("".join(gathered))) is not None:
            yield found
        gathered = [line]


def _read_line(line: str) -> tuple[str, Mapping[str, str], str] | None:
    if len(line) > MAX_LINE_LENGTH or (parts := _LINE.fullmatch(line)) is None:
        return None
    stated = list(islice(_PARAMETER.finditer(parts[2]), MAX_PARAMETERS + 1))
    if len(stated) > MAX_PARAMETERS:
        return None
    return parts[1].upper(), {found[1].upper(): found[2].strip('"') for found in stated}, parts[3]


def _build_entry(
    event: Properties, default_zone: str, now: datetime, moved: Container[tuple[str, datetime | None]]
) -> CalendarEntry | None:
    stated = _first(event, "DTSTART")
    start = _read_moment(stated, default_zone)
    if stated is None or start is None:
        return None
    zone = str(start.tzinfo)
    end = _read_moment(_first(event, "DTEND"), zone) or _add_duration(start, _first(event, "DURATION"))
    all_day = "T" not in stated[1].upper()
    if all_day and end is None:
        end = start + timedelta(days=1)
    end = end.astimezone(start.tzinfo) if end is not None and end > start else None
    if repeats := "RRULE" in event:
        left_out = {_read_moment(found, zone) for found in _list_values(event.get("EXDATE", ()))}
        coming = (
            (begins, ends)
            for begins, ends in _repeat(start, end, event, now, is_utc=stated[1].strip().upper().endswith("Z"))
            if begins not in left_out and (_value(event, "UID"), begins) not in moved and (ends or begins) > now
        )
        # When none is to come, the first one stands for all.
        start, end = next(coming, (start, end))
    return CalendarEntry(
        name=" ".join(_read_text(event, "SUMMARY").split())[:MAX_NAME_LENGTH],
        start=start,
        timezone=zone,
        end=end,
        location=" ".join(_read_text(event, "LOCATION").split())[:MAX_TEXT_LENGTH],
        description=_read_text(event, "DESCRIPTION").strip()[:MAX_TEXT_LENGTH],
        is_cancelled=_value(event, "STATUS").upper() == "CANCELLED",
        all_day=all_day,
        repeats=repeats,
    )


def _repeat(
    start: datetime, end: datetime | None, event: Properties, now: datetime, *, is_utc: bool
) -> Iterator[tuple[datetime, datetime | None]]:
    """The occurrences of an event that repeats, by the clocks of its zone; of a rule that cannot be read, none.

    Those that are long over are left out: to place thousands of them would take most of the time.
    """
    from dateutil.rrule import rrulestr  # type: ignore[import-untyped]

    zone = UTC if is_utc else start.tzinfo
    local = start.astimezone(zone).replace(tzinfo=None)
    local_end = end.astimezone(zone).replace(tzinfo=None) if end else None
    stated = (part.partition("=") for part in _value(event, "RRULE").upper()[:MAX_RULE_LENGTH].split(";"))
    rule = {name.strip(): value.strip() for name, _, value in stated}
    until = _read_moment(({}, rule.pop("UNTIL", "")), str(start.tzinfo))
    last = (until or datetime(LAST_YEAR, 12, 31, tzinfo=UTC)).astimezone(zone).replace(tzinfo=None)
    if rule.get("FREQ") not in _FREQUENCIES or not rule.get("INTERVAL", "1").strip("0"):
        return
    long_over = now.astimezone(zone).replace(tzinfo=None) - ((end or start) - start) - timedelta(days=2)
    try:
        for moment in islice(rrulestr(";".join(map("=".join, rule.items())), dtstart=local), _MAX_REPETITIONS):
            if moment > last:
                return
            if moment < long_over:
                continue
            ends = local_end + (moment - local) if local_end else None
            yield _place(moment, zone, start.tzinfo), _place(ends, zone, start.tzinfo) if ends else None
    # The library raises whatever a rule makes it raise.
    except (ValueError, OverflowError, ArithmeticError, TypeError, LookupError, AttributeError):
        return


def _place(local: datetime, zone: tzinfo | None, shown: tzinfo | None) -> datetime:
    """A time by the clocks of a zone; one that they skip becomes the one that they show instead."""
    return local.replace(tzinfo=zone).astimezone(UTC).astimezone(shown)


def _list_values(stated: Sequence[Property]) -> Iterator[Property]:
    for parameters, values in stated:
        for value in values.split(","):
            yield parameters, value


def _read_moment(found: Property | None, default_zone: str) -> datetime | None:
    """A time, or a day at its beginning; UTC is shown in the default zone."""
    if found is None or (parts := _MOMENT.fullmatch(found[1].strip())) is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups()[:6])
    zone: tzinfo = ZoneInfo(find_zone(found[0].get("TZID", "")) or default_zone)
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
    return _place(moment, UTC if parts[7] else zone, zone)


def _add_duration(start: datetime, found: Property | None) -> datetime | None:
    if found is None or (parts := _DURATION.fullmatch(found[1].strip().upper())) is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return start + length if length < timedelta(days=366) else None


def _read_text(event: Properties, name: str) -> str:
    text = (_first(event, name) or _NOTHING)[1]
    return drop_controls(_ESCAPE.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], text))
