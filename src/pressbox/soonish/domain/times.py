"""Times of events: aware UTC inside, the event's own zone for people. Pure."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pressbox.core.errors import InvalidInputError


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInputError(
            f"{name!r} is not a time zone. Use a name such as Europe/Berlin.", field="timezone"
        ) from error


def to_utc(moment: datetime, zone_name: str, *, field: str = "start_date") -> datetime:
    """Read a naive time in the event's zone; an aware one stays the same instant.

    In the hour that a clock change skips there is no such time: refused. In the hour that comes twice the first one
    is meant, as people mean it.
    """
    if moment.tzinfo is not None:
        return moment.astimezone(UTC)
    local = moment.replace(tzinfo=zone(zone_name), fold=0)
    instant = local.astimezone(UTC)
    if instant.astimezone(zone(zone_name)).replace(tzinfo=None) != moment:
        raise InvalidInputError(
            f"{moment:%Y-%m-%d %H:%M} does not exist in {zone_name}: the clocks skip it. Choose another time.",
            field=field,
        )
    return instant


def spoken(moment: datetime, zone_name: str) -> str:
    """`Sat 14 Nov 2026, 19:30 (Europe/Berlin)`: without words that depend on a locale of the machine."""
    local = moment.astimezone(zone(zone_name))
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    months = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
    day = f"{days[local.weekday()]} {local.day} {months[local.month - 1]} {local.year}"
    return f"{day}, {local:%H:%M} ({zone_name})"


def spoken_offset(offset: timedelta) -> str:
    """`1 day`, `2 hours`, `25 minutes`: the largest unit that says it exactly, else two of them."""
    seconds = int(offset.total_seconds())
    parts = []
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}" if count == 1 else f"{count} {unit}s")
    return " ".join(parts[:2]) or "0 seconds"
