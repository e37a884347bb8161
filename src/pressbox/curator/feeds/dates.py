"""Reads the dates of feeds: by the standard library, by dateutil, and what both do not know by rules of our own.

Libraries know what standards allow. Feeds are written in the languages of the world, by programs that follow none.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from email.utils import parsedate_to_datetime
from functools import lru_cache

# Programs write 1970 for "never" and 2099 for "always on top"; neither is a date of publication.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
AHEAD = timedelta(days=2)

_CLOCK = (
    r"(?:\s*(?P<before>AM|PM|[ap]\.\s?m\.|上午|下午|午前|午後|오전|오후)?\s*"
    r"(?P<hour>\d{1,2})\s?[:.時时시h]\s?(?P<minute>\d{2})[分분]?(?:\s?[:.]?\s?(?P<second>\d{2})[秒초]?(?:[.,]\d+)?)?"
    r"\s*(?P<after>AM|PM|[ap]\.\s?m\.)?)?\s*(?P<zone>.*)"
)
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d{2})(?:-?(?P<day>\d{2}))?)?"
    r"(?:[T ]+(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,]\d+)?)?)?"
    r"\s*(?P<after>AM|PM)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})\s?[-/.年년]\s?(?P<month>\d{1,2})\s?[-/.月월]\s?(?P<day>\d{1,2})[日일.]?"
    rf"(?:\s?\(?[日月火水木金土一二三四五六월화수목금토]\)|,)?[T,]?{_CLOCK}",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    rf"(?:[^\d,]{{2,20}},?\s+)?(?P<first>\d{{1,2}})(?P<mark>[-/.])\s?(?P<other>\d{{1,2}})(?P=mark)\s?(?P<year>\d{{4}}|\d{{2}}),?{_CLOCK}",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?:[^\d]{2,30}?[,.]?\s+|[^\d\s]{1,3},\s*)?(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.|º)?[\s-]*(?:(?:de|of|da)[\s-]+|d')?"
    r"(?P<month>[^\W\d][^\d\s,./-]*|\d{1,2}\s?[月월])\.?,?[\s-]+(?:de\s+|del\s+)?(?P<year>\d{4}|\d{2,3}),?"
    rf"(?:T|\s+(?:um|at|à|a las|às|kl\.?|о|в)\s+)?{_CLOCK}",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?:[^\W\d]+\.?,?\s+)?(?P<month>[^\W\d][^\d\s,.]*)\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?"
    r"(?:\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?P<zone>[^\d]*))?\s+(?P<year>\d{4})"
    r"(?P<rest>.*)",
    re.IGNORECASE,
)
_TIME_AT_THE_END = re.compile(
    r",?\s*(?:at\s+|-\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s*(?P<after>AM|PM|[ap]\.\s?m\.)?\s*(?P<zone>.*)",
    re.IGNORECASE,
)
_MAIL_ZONE = re.compile(r" (?:[+-]\d{4}|UTC?|GMT|Z|[ECMP][SD]T)$", re.ASCII)
_ENGLISH_MONTH = re.compile(r"(?<![^\W\d_])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.IGNORECASE)
_FOUR_FIGURES = re.compile(r"(?<!\d)\d{4}(?!\d)", re.ASCII)
# Libraries disagree on which way GMT+3 leads.
_ZONE_AND_OFFSET = re.compile(r"[A-Z]{2,5} ?[+-]\d", re.IGNORECASE)
_DEFAULTS = (datetime(2000, 1, 1), datetime(2001, 2, 2))  # noqa: DTZ001 (a zone would be taken for one of the text)
_SECONDS = re.compile(r"\d{10}(?:\d{3})?")
_HALF_OF_DAY = {"a": 0, "p": 12, "上": 0, "下": 12, "午前": 0, "午後": 12, "오전": 0, "오후": 12}
# In Thailand the year 2024 is 2567.
_BUDDHIST_YEARS = range(2500, 2700)
_OFFSET = re.compile(r"(?:GMT|UTC|UT)?\s*(?P<sign>[+-])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?")
_ZONES = {
    **dict.fromkeys(("", "Z", "GMT", "UT", "UTC", "WET"), 0.0),
    **{"EST": -5.0, "EDT": -4.0, "CST": -6.0, "CDT": -5.0, "MST": -7.0, "MDT": -6.0, "PST": -8.0, "PDT": -7.0},
    **{"AKST": -9.0, "AKDT": -8.0, "HST": -10.0, "AST": -4.0, "ADT": -3.0, "NST": -3.5, "BRT": -3.0, "ART": -3.0},
    **{"CET": 1.0, "CEST": 2.0, "MEZ": 1.0, "MESZ": 2.0, "MET": 1.0, "MEST": 2.0, "BST": 1.0, "IST": 5.5, "WEST": 1.0},
    **{"EET": 2.0, "EEST": 3.0, "MSK": 3.0, "JST": 9.0, "KST": 9.0, "SGT": 8.0, "HKT": 8.0, "AEST": 10.0},
    **{"AEDT": 11.0, "ACST": 9.5, "AWST": 8.0, "NZST": 12.0, "NZDT": 13.0, "SAST": 2.0},
}
_FIGURE = re.compile(r"\d")
# By their first letters, for abbreviations that no dictionary has.
_BEGINNINGS = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6},
    **{"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12},
    **{"mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12},
    **{"fév": 2, "fev": 2, "avr": 4, "aoû": 8, "aou": 8, "déc": 12},
    **{"ene": 1, "abr": 4, "ago": 8, "set": 9, "out": 10, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "ott": 10},
    **{"maj": 5, "mei": 5, "mrt": 3, "des": 12},
}
# Where a name means two months (listopad is November in Poland and October in Croatia), the first language counts.
_LANGUAGES = (
    *("en", "de", "fr", "es", "pt", "it", "nl", "pl", "cs", "ru", "uk", "tr", "sv", "da", "nb", "fi", "hu", "ro", "el"),
    *("bg", "sr", "sk", "sl", "hr", "lt", "lv", "et", "ca", "eu", "gl", "id", "ms", "vi", "ar", "he", "fa", "hi", "bn"),
    *("th", "ja", "zh", "ko", "is", "be", "mk", "az", "ka", "hy", "ta", "te", "mr", "ur", "sw"),
)


@lru_cache
def _month_names() -> dict[str, int]:
    # Imported here: few feeds name months in another language than English.
    from babel import Locale

    names: dict[str, int] = {}
    for language in _LANGUAGES:
        months = Locale(language).months
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in months[context][width].items():
                    names.setdefault(name.lower().strip("."), number)
    return names


def parse_date(text: str) -> datetime | None:
    """Return an aware time in UTC, or None. A time without a zone is taken as UTC."""
    # No date is longer, and the patterns stay fast.
    cleaned = " ".join(text[:100].split())
    if _SECONDS.fullmatch(cleaned) and cleaned.isascii():
        return datetime.fromtimestamp(int(cleaned[:10]), UTC)
    readers = (_read_iso, _read_mail, _read_english, _read_by_rules)
    return next((date for read in readers if (date := read(cleaned)) is not None), None)


def _read_iso(text: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if date.year in _BUDDHIST_YEARS else _to_utc(date)


def _read_mail(text: str) -> datetime | None:
    """Read a date as RSS wants it. Zones that the library does not know are left to others: it ignores them."""
    if not _MAIL_ZONE.search(text):
        return None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return _to_utc(date) if date.tzinfo is not None else None


def _read_english(text: str) -> datetime | None:
    """Read any order of an English month, a day and a year. Figures alone are left to others: countries differ in it.

    What a text leaves out is taken from a default: with another one, another date comes out, and it is none.
    """
    if not (_ENGLISH_MONTH.search(text) and _FOUR_FIGURES.search(text)) or _ZONE_AND_OFFSET.search(text):
        return None
    # Imported here: most feeds need none of it.
    from dateutil import parser  # type: ignore[import-untyped]

    try:
        date, other = (parser.parse(text, default=default, tzinfos=_find_zone) for default in _DEFAULTS)
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
        return None
    return _to_utc(date) if date == other else None


def _find_zone(name: str | None, offset: int | None) -> tzinfo:
    """Raises a KeyError for a name that nobody knows here."""
    if offset is not None:
        return timezone(timedelta(seconds=offset))
    return timezone(timedelta(hours=_ZONES[(name or "").upper()]))


def _to_utc(date: datetime) -> datetime | None:
    try:
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)
    except OverflowError:
        return None


def _read_by_rules(text: str) -> datetime | None:
    for pattern in (_ISO, _YEAR_FIRST, _NUMBERS, _WORDS, _MONTH_FIRST):
        found = pattern.fullmatch(text)
        date = _build_date(found.groupdict()) if found is not None else None
        if date is not None:
            return date
    return None


def is_believable(date: datetime, now: datetime) -> bool:
    return EARLIEST <= date <= now + AHEAD


def _build_date(parts: dict[str, str | None]) -> datetime | None:
    late = _TIME_AT_THE_END.fullmatch(parts.get("rest") or "")
    if late is not None:
        parts = parts | late.groupdict() | {"rest": ""}
    if "first" in parts:
        parts = parts | _order_numbers(parts)
    month = _month(parts["month"] or "1")
    zone = _zone((parts.get("zone") or parts.get("rest") or "").strip())
    hour = _hour(int(parts["hour"] or 0), parts.get("before") or parts.get("after") or "")
    if month is None or zone is None or (hour == 24 and int(parts["minute"] or 0)):
        return None
    try:
        # 24:00 is the beginning of the next day.
        day = datetime(_year(parts["year"] or ""), month, int(parts["day"] or 1), tzinfo=timezone(zone))
        minutes, seconds = int(parts["minute"] or 0), min(int(parts["second"] or 0), 59)
        if hour > 24 or minutes > 59:
            return None
        return (day + timedelta(hours=hour, minutes=minutes, seconds=seconds)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _order_numbers(parts: dict[str, str | None]) -> dict[str, str | None]:
    """1.5.2024 begins with the day everywhere; of 1/5/2024 only America is sure, unless the first is no month."""
    american = parts["mark"] != "." and int(parts["first"] or 0) <= 12
    month, day = (parts["first"], parts["other"]) if american else (parts["other"], parts["first"])
    return {"month": month, "day": day}


def _hour(hour: int, half: str) -> int:
    found = next((add for start, add in _HALF_OF_DAY.items() if half.lower().startswith(start)), None)
    return hour if found is None or hour > 12 else hour % 12 + found


def _year(text: str) -> int:
    year = int(text)
    if year in _BUDDHIST_YEARS:
        return year - 543
    if len(text) > 2:
        return year
    return year + (1900 if year >= 70 else 2000)


def _month(text: str) -> int | None:
    number = text.rstrip("月월 ")
    if number.isdigit():
        return int(number)
    name = text.lower().strip(".")
    return _BEGINNINGS.get(name) or _month_names().get(name) or _BEGINNINGS.get(name[:3])


def _zone(text: str) -> timedelta | None:
    offset = _OFFSET.match(text)
    if offset is not None:
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        if size >= timedelta(hours=24) or _FIGURE.search(text, offset.end()):
            return None
        return -size if offset["sign"] == "-" else size
    # A name in brackets repeats the offset. An unknown name is no reason to lose the date, but more figures are.
    name = text.split(" ")[0].strip("()[].,").upper()
    return timedelta(hours=_ZONES.get(name, 0.0)) if len(text) <= 40 and not _FIGURE.search(text) else None
