"""What the pages and the API of matches ask of a request: the service, who looks, their zone, and where they are."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Annotated

from fastapi import Depends, Path, Request

from pressbox.core.app import Resources
from pressbox.core.errors import NotFoundError
from pressbox.core.live.feed import ChangeFeed
from pressbox.core.web.identity import AdministratorIdentity, MaybeIdentity, SignedInIdentity
from pressbox.core.web.times import ZONE_COOKIE, zone_of
from pressbox.footy.service.footy import Footy

PATH = "/footy"
FixtureId = Annotated[int, Path(ge=1, le=2**63 - 1)]
EventId = Annotated[str, Path(max_length=100)]
ShareId = Annotated[str, Path(max_length=100)]

MakeService = Callable[[Resources], Footy]
Reader = SignedInIdentity
Visitor = MaybeIdentity
Administrator = AdministratorIdentity

# Far enough for every fixture list; beyond it lie days that a calendar cannot add to.
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2200, 1, 1)


def _service(request: Request) -> Footy:
    service: Footy = request.state.footy
    return service


Service = Annotated[Footy, Depends(_service)]


def zone(request: Request) -> tzinfo:
    return zone_of(request.cookies.get(ZONE_COOKIE))


def today(request: Request) -> date:
    return datetime.now(UTC).astimezone(zone(request)).date()


def day_of(text: str) -> date:
    """The day that an address names, or NotFoundError: a typing error is not a day."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or text != day.isoformat() or not FIRST_DAY <= day <= LAST_DAY:
        raise NotFoundError("There is no such day. Write it as 2026-11-15.")
    return day


def utc_days(day: date, of: tzinfo) -> tuple[date, ...]:
    """The days of UTC on which this day of a zone falls: one or two."""
    first = datetime(day.year, day.month, day.day, tzinfo=of).astimezone(UTC)
    following = day + timedelta(days=1)
    last = datetime(following.year, following.month, following.day, tzinfo=of).astimezone(UTC)
    last -= timedelta(microseconds=1)
    return tuple(dict.fromkeys((first.date(), last.date())))


async def cursor(request: Request) -> int:
    """From where a page follows changes. Read before the page's own data, so that nothing falls between."""
    feed: ChangeFeed = request.app.state.feed
    return await feed.newest()


def fixture_of(event_id: str) -> int | None:
    """The match of a goal that is gone, from the id that it had."""
    number = event_id.partition("_")[0]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 else None
