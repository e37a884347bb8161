"""Times of events: aware UTC inside, the event's own zone for people. Pure."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pressbox.core.errors import InvalidInputError

# Inside these years no arithmetic with offsets leaves the calendar that Python knows.
FIRST_YEAR, LAST_YEAR = 1900, 2200


# Files beside the zones that mean another one on each machine.
_NOT_ZONES = frozenset({"localtime", "posixrules", "Factory"})


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones()) - _NOT_ZONES


def is_zone(name: str) -> bool:
    """Whether people may state it: a name of the tz database, with the same meaning on every machine."""
    return name in _zone_names()


def check_zone(name: str) -> None:
    if not is_zone(name):
        raise _no_zone(name)


def load_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise _no_zone(name) from error


def _no_zone(name: str) -> InvalidInputError:
    return InvalidInputError(f"{name!r} is not a time zone. Use a name such as Europe/Berlin.", field="timezone")


def to_utc(moment: datetime, zone_name: str, *, field: str = "start_date") -> datetime:
    """Read a naive time in the event's zone; an aware one stays the same instant.

    A time in the hour that a clock change skips does not exist and is refused. In the hour that comes twice, the first
    one is meant unless `moment.fold` says the second.
    """
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InvalidInputError(f"Choose a year between {FIRST_YEAR} and {LAST_YEAR}.", field=field)
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    local = moment.replace(tzinfo=load_zone(zone_name))
    instant = local.astimezone(UTC)
    if instant.astimezone(load_zone(zone_name)).replace(tzinfo=None) != moment:
        raise InvalidInputError(
            f"{moment:%Y-%m-%d %H:%M} does not exist in {zone_name}: the clocks skip it. Choose another time.",
            field=field,
        )
    return instant


def comes_twice(local: datetime) -> bool:
    """Whether the clocks of its zone show this time twice, because they are set back."""
    first, second = local.replace(fold=0).utcoffset(), local.replace(fold=1).utcoffset()
    # In the hour that is skipped the offsets differ the other way round.
    return first is not None and second is not None and first > second


def format_time(moment: datetime, zone_name: str) -> str:
    """`Sat 14 Nov 2026, 19:30 (Europe/Berlin)`, whatever the locale of the machine.

    With seconds if there are any, and with the name of the clock where that time comes twice.
    """
    local = moment.astimezone(load_zone(zone_name))
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    day = f"{days[local.weekday()]} {local.day} {months[local.month - 1]} {local.year}"
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day}, {clock}{f' {local:%Z}' if comes_twice(local) else ''} ({zone_name})"


def format_offset(offset: timedelta) -> str:
    """`1 day`, `2 hours`, `1 hour 30 minutes`: at most the two largest units."""
    seconds = int(offset.total_seconds())
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    return " ".join(parts[:2]) or "0 seconds"
