"""Reads the events of an .ics file, as calendar programs really write them: what cannot be read is left out. Pure.

Nothing here grows with anything but the size of the file, which is limited; rules of repetition are not expanded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from pressbox.core.errors import InvalidInputError
from pressbox.core.texts import MAX_NAME_LENGTH, MAX_TEXT_LENGTH, drop_controls
from pressbox.soonish.domain.times import FIRST_YEAR, LAST_YEAR, load_zone

MAX_BYTES = 1_000_000
_LINE = re.compile(r'([A-Za-z0-9-]+)((?:;(?:[^":;]|"[^"]*")*)*):(.*)', re.DOTALL)
_PARAMETER = re.compile(r';\s*([A-Za-z0-9-]+)=("[^"]*"|[^;]*)')
_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?(?:\.\d+)?(Z)?)?", re.IGNORECASE)
_DURATION = re.compile(r"P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?")
_ESCAPE = re.compile(r"\\(.)")

Property = tuple[Mapping[str, str], str]


@dataclass(frozen=True)
class CalendarEntry:
    """An event of a calendar file. Times are aware, in the zone `timezone`."""

    name: str
    start: datetime
    timezone: str
    end: datetime | None = None
    location: str = ""
    description: str = ""
    is_cancelled: bool = False


def read_calendar(data: bytes, default_zone: str) -> Sequence[CalendarEntry]:
    """The events of a file. Times without a known zone are read in the default one."""
    if len(data) > MAX_BYTES:
        raise InvalidInputError("The file is too large: at most one megabyte.", field="calendar")
    lines = list(_read_lines(_decode(data)))
    named = (find_zone(value) for name, _, value in lines if name == "X-WR-TIMEZONE")
    zone = next((found for found in named if found), default_zone)
    entries = (_build_entry(found, zone) for found in _gather_events(lines))
    return [entry for entry in entries if entry is not None]


def choose_entry(entries: Sequence[CalendarEntry], now: datetime) -> CalendarEntry:
    """The one that comes next, or the last one when all are past."""
    if not entries:
        raise InvalidInputError("There is no event in this file that can be read.", field="calendar")
    coming = [entry for entry in entries if entry.start > now and not entry.is_cancelled]
    return min(coming, key=lambda entry: entry.start) if coming else max(entries, key=lambda entry: entry.start)


def find_zone(name: str) -> str | None:
    """The zone of a TZID: a name of the tz database, perhaps behind a path, or one of Windows."""
    plain = name.strip().strip('"').strip("/")
    parts = plain.split("/")
    candidates = [WINDOWS_TO_OLSON.get(plain, ""), *("/".join(parts[start:]) for start in range(len(parts)))]
    for candidate in candidates:
        try:
            if candidate and len(candidate) < 64:
                return str(load_zone(candidate))
        except InvalidInputError:
            continue
    return None


def _gather_events(lines: Sequence[tuple[str, Mapping[str, str], str]]) -> Iterator[Mapping[str, Property]]:
    """The properties of each event, without those of what lies inside it, such as alarms."""
    path: list[str] = []
    found: dict[str, Property] = {}
    for name, parameters, value in lines:
        if name == "BEGIN":
            path.append(value.strip().upper())
            found = {} if path[-1] == "VEVENT" else found
        elif name == "END":
            if path and path.pop() == "VEVENT":
                yield found
        elif path and path[-1] == "VEVENT":
            found.setdefault(name, (parameters, value))


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _read_lines(text: str) -> Iterator[tuple[str, Mapping[str, str], str]]:
    """Lines that were folded are joined; what is no line of a calendar is left out."""
    gathered: list[str] = []
    for line in (*re.split(r"\r\n|\n|\r", text), "END"):
        if line[:1] in (" ", "\t") and gathered:
            gathered.append(line[1:])
            continue
        if (parts := _LINE.fullmatch("".join(gathered))) is not None:
            parameters = {key.upper(): value.strip('"') for key, value in _PARAMETER.findall(parts[2])}
            yield parts[1].upper(), parameters, parts[3]
        gathered = [line]


def _build_entry(found: Mapping[str, Property], default_zone: str) -> CalendarEntry | None:
    start = _read_moment(found.get("DTSTART"), default_zone)
    if start is None:
        return None
    zone = str(start.tzinfo)
    end = _read_moment(found.get("DTEND"), zone) or _add_duration(start, found.get("DURATION"))
    name = " ".join(_read_text(found.get("SUMMARY")).split())[:MAX_NAME_LENGTH]
    return CalendarEntry(
        name=name,
        start=start,
        timezone=zone,
        end=end.astimezone(start.tzinfo) if end is not None and end > start else None,
        location=" ".join(_read_text(found.get("LOCATION")).split())[:MAX_TEXT_LENGTH],
        description=_read_text(found.get("DESCRIPTION")).strip()[:MAX_TEXT_LENGTH],
        is_cancelled=found.get("STATUS", ({}, ""))[1].strip().upper() == "CANCELLED",
    )


def _read_moment(found: Property | None, default_zone: str) -> datetime | None:
    """A time, or a day at its beginning; UTC is shown in the default zone."""
    if found is None or (parts := _MOMENT.fullmatch(found[1].strip())) is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in parts.groups()[:6])
    zone: tzinfo = ZoneInfo(find_zone(found[0].get("TZID", "")) or default_zone)
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC if parts[7] else zone)
    except ValueError:
        return None
    # A time that the clocks skip becomes the one that they show instead.
    return moment.astimezone(UTC).astimezone(zone)


def _add_duration(start: datetime, found: Property | None) -> datetime | None:
    if found is None or (parts := _DURATION.fullmatch(found[1].strip().upper())) is None:
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return start + length if length < timedelta(days=366) else None


def _read_text(found: Property | None) -> str:
    if found is None:
        return ""
    return drop_controls(_ESCAPE.sub(lambda sign: "\n" if sign[1] in "nN" else sign[1], found[1]))
