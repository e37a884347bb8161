"""Times as people say them, with the exact value for those who ask: `<time datetime title>` elements and durations.

The reader's zone comes from a cookie that `times.js` keeps; without it times are UTC and say so.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from babel import Locale
from babel.dates import format_date, format_datetime, format_skeleton, format_time, format_timedelta
from babel.units import format_unit
from markupsafe import Markup

ZONE_COOKIE = "pressbox_zone"
# A day as its language writes it: German has points behind the number and the short names.
_DAY = {"en": "d MMM", "de": "d. MMM"}
_WEEKDAY = {"en": "EEEE d MMMM", "de": "EEEE, d. MMMM"}
_DAY_OF_WEEK = {"en": "EEE d MMM y", "de": "EEE, d. MMM y"}


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_of(name: str | None) -> tzinfo:
    """The zone a cookie names. Anything that is not the name of a zone is UTC."""
    return ZoneInfo(name) if name in _known_zones() else UTC


def clock(value: datetime, locale: Locale, zone: tzinfo, now: datetime) -> str:
    """15:04 today, "14 Nov, 15:04" this year, with the year otherwise."""
    local = value.astimezone(zone)
    text = format_time(local, "HH:mm", tzinfo=zone, locale=locale)
    if local.date() == now.astimezone(zone).date():
        return text
    day = _DAY[locale.language]
    pattern = day if local.year == now.astimezone(zone).year else f"{day} y"
    return f"{format_date(local, pattern, locale=locale)}, {text}"


def clock_seconds(value: datetime, locale: Locale, zone: tzinfo, now: datetime) -> str:
    """15:04:09 today, with the day before it otherwise: for tables in which seconds matter."""
    local = value.astimezone(zone)
    text = format_time(local, "HH:mm:ss", tzinfo=zone, locale=locale)
    if local.date() == now.astimezone(zone).date():
        return text
    return f"{format_date(local, _DAY[locale.language], locale=locale)}, {text}"


def weekday(value: date, locale: Locale) -> str:
    """Saturday 15 November, in the order and with the points of the language."""
    return format_date(value, _WEEKDAY[locale.language], locale=locale)


def short_day(value: date, locale: Locale) -> str:
    """Sat, 15 Nov."""
    return str(format_skeleton("MMMEd", value, locale=locale))


def relative(value: datetime, locale: Locale, now: datetime) -> str:
    """In 25 minutes, 3 hours ago."""
    return format_timedelta(value - now, add_direction=True, locale=locale, threshold=1.2)


def exact(value: datetime, locale: Locale, zone: tzinfo) -> str:
    pattern = f"{_DAY_OF_WEEK[locale.language]}, HH:mm:ss z"
    return format_datetime(value.astimezone(zone), pattern, tzinfo=zone, locale=locale)


def in_zone(value: datetime, locale: Locale, zone: tzinfo, after: datetime | None = None) -> str:
    """Sat 21 Nov 2026, 19:30: as the clocks of that zone show it; the hour alone on the day of `after`.

    With seconds if there are any, and with the name of the clock where that time comes twice.
    """
    local = value.astimezone(zone)
    same_day = after is not None and after.astimezone(zone).date() == local.date()
    day = "" if same_day else f"{_DAY_OF_WEEK[locale.language]}, "
    pattern = day + ("HH:mm:ss" if local.second else "HH:mm")
    comes_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return format_datetime(local, f"{pattern} z" if comes_twice else pattern, tzinfo=zone, locale=locale)


def span(value: timedelta, locale: Locale) -> str:
    """1 day, 25 minutes, 1 hour 30 minutes: exactly, with two units at most."""
    rest, parts = int(value.total_seconds()), []
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(str(format_unit(count, f"duration-{unit}", length="long", locale=locale)))
    return " ".join(parts[:2]) or str(format_unit(0, "duration-second", length="long", locale=locale))


def duration(value: timedelta) -> str:
    """0:12, 4:05, 1:02:45 or "3 d 4 h": as wide as it must be, and no wider."""
    seconds = max(0, int(value.total_seconds()))
    if seconds >= 86_400:
        return f"{seconds // 86_400} d {seconds % 86_400 // 3600} h"
    hours, minutes, rest = seconds // 3600, seconds % 3600 // 60, seconds % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_element(value: datetime, text: str, title: str, style: str | None) -> Markup:
    """`data-time` tells `times.js` how to keep the words true while the page stays open; without it they stay."""
    moment = value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    if style is None:
        return Markup('<time datetime="{}" title="{}">{}</time>').format(moment, title, text)
    return Markup('<time datetime="{}" title="{}" data-time="{}">{}</time>').format(moment, title, style, text)
