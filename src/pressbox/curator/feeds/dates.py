"""Parses the dates of feeds, in all the ways in which programs write them."""

import re
from datetime import UTC, datetime, timedelta, timezone

# Programs write 1970 for "never" and 2099 for "always on top"; neither is a date of publication.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=2)

_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d{2})(?:-?(?P<day>\d{2}))?)?"
    r"(?:[T ]+(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,]\d+)?)?)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?[\s.-]+(?P<month>[^\W\d]+)\.?,?[\s-]+(?P<year>\d{2,4}),?"
    r"(?:[T\s]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(?P<month>[^\W\d]+)\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?"
    r"(?:\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?P<zone>[^\d]*))?\s+(?P<year>\d{4})"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?\s*(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?")
_ZONES = {
    **dict.fromkeys(("", "Z", "GMT", "UT", "UTC", "WET", "AM"), 0.0),
    **{"EST": -5.0, "EDT": -4.0, "CST": -6.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0, "PDT": -7.0},
    **{"AKST": -9.0, "AKDT": -8.0, "HST": -10.0, "AST": -4.0, "ADT": -3.0, "NST": -3.5, "BRT": -3.0, "ART": -3.0},
    **{"CET": 1.0, "CEST": 2.0, "MEZ": 1.0, "MESZ": 2.0, "MET": 1.0, "MEST": 2.0, "BST": 1.0, "IST": 5.5, "WEST": 1.0},
    **{"EET": 2.0, "EEST": 3.0, "MSK": 3.0, "JST": 9.0, "KST": 9.0, "SGT": 8.0, "HKT": 8.0, "AEST": 10.0},
    **{"AEDT": 11.0, "ACST": 9.5, "AWST": 8.0, "NZST": 12.0, "NZDT": 13.0, "SAST": 2.0},
}
# By their first letters, in the languages that feeds really use.
_MONTHS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6},
    **{"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
    **{"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12},
    **{"fév": 2, "fev": 2, "avr": 4, "jui": 6, "aoû": 8, "aou": 8, "déc": 12},
    **{"ene": 1, "abr": 4, "ago": 8, "set": 9, "out": 10, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10},
    **{"maj": 5, "mei": 5, "mrt": 3, "des": 12},
}
_JULY_IN_FRENCH = re.compile(r"juil", re.IGNORECASE)


def parse_date(text: str) -> datetime | None:
    """Return an aware time in UTC, or None. A time without a zone is taken as UTC."""
    # No date is longer, and the patterns stay fast.
    cleaned = " ".join(text[:100].split())
    if not cleaned:
        return None
    for pattern in (_ISO, _WORDS, _MONTH_FIRST):
        found = pattern.fullmatch(cleaned)
        if found is not None:
            date = _build_date(found)
            if date is not None:
                return date
    return None


def is_believable(date: datetime, now: datetime) -> bool:
    return EARLIEST <= date <= now + AHEAD


def _build_date(found: re.Match[str]) -> datetime | None:
    parts = found.groupdict()
    month = _month(parts["month"] or "1")
    zone = _zone((parts.get("zone") or parts.get("rest") or "").strip())
    if month is None or zone is None:
        return None
    try:
        local = datetime(
            _year(parts["year"]),
            month,
            int(parts["day"] or 1),
            # 24:00 is the beginning of the next day.
            int(parts["hour"] or 0) % 24,
            int(parts["minute"] or 0),
            min(int(parts["second"] or 0), 59),
            tzinfo=timezone(zone),
        )
        return (local + timedelta(days=int(parts["hour"] or 0) // 24)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    year = int(text)
    if len(text) > 2:
        return year
    return year + (1900 if year >= 70 else 2000)


def _month(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    if _JULY_IN_FRENCH.match(text):
        return 7
    return _MONTHS.get(text[:3].lower())


def _zone(text: str) -> timedelta | None:
    offset = _OFFSET.match(text)
    if offset is not None:
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        if size >= timedelta(hours=24):
            return None
        return -size if offset["sign"] == "-" else size
    # A name in brackets repeats the offset. An unknown name is no reason to lose the date.
    name = text.split(" ")[0].strip("()[].,").upper()
    return timedelta(hours=_ZONES.get(name, 0.0)) if len(text) <= 40 else None
