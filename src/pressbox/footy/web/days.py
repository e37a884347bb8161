"""The match day: the fixtures of one day of the reader's own zone by competition, live, and the strip of days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta, tzinfo
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.views import CompetitionView, FixtureView
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC
from pressbox.footy.service.footy import Footy
from pressbox.footy.service.matches import by_competition
from pressbox.footy.web.access import PATH, Reader, Service, cursor, day_of, today, utc_days, zone

router = APIRouter(include_in_schema=False)

# As many as fit a small page. More are on the pages after it.
FIXTURES_SHOWN = 15
MOST_OF_A_DAY = 1000
STRIP_BEFORE, STRIP_AFTER = 3, 3
LOOK_AHEAD = 30
PageNumber = Annotated[int, Query(ge=1, le=1000)]


@dataclass(frozen=True)
class StripDay:
    day: date
    fixtures: int
    live: int


@dataclass(frozen=True)
class DayPage:
    """One page of one day: what is open by competition, what is over, and where to go from here."""

    day: date
    today: date
    strip: Sequence[StripDay]
    open: Sequence[CompetitionView]
    finished: Sequence[CompetitionView]
    finished_count: int
    total: int
    page: int
    pages: int
    next_day: date | None
    follow: str
    cursor: int

    @property
    def path(self) -> str:
        return f"{PATH}/{self.day}"

    @property
    def live(self) -> int:
        return sum(fixture.live for group in self.open for fixture in group.fixtures)


async def fixtures_of(service: Footy, day: date, of: tzinfo) -> list[FixtureView]:
    """All fixtures that kick off on this day of the zone, in the order of competition and kick-off."""
    found: list[FixtureView] = []
    for utc_day in utc_days(day, of):
        after = None
        while len(found) < MOST_OF_A_DAY:
            page = await service.matches.fixtures(utc_day, after=after, limit=200)
            found += [fixture for fixture in page.items if fixture.kickoff.astimezone(of).date() == day]
            after = page.after
            if after is None:
                break
    # Two days of UTC may each have a part of a competition; it keeps the place of its first fixture.
    places = {league_id: number for number, league_id in enumerate(dict.fromkeys(f.league_id for f in found))}
    return sorted(found, key=lambda fixture: (places[fixture.league_id], fixture.kickoff, fixture.fixture_id))


async def read_day(request: Request, service: Footy, day: date, number: int) -> DayPage:
    at, own_zone = await cursor(request), zone(request)
    fixtures = await fixtures_of(service, day, own_zone)
    ordered = sorted(fixtures, key=lambda fixture: fixture.stage is Stage.COMPLETED)
    pages = max(1, -(-len(ordered) // FIXTURES_SHOWN))
    number = min(number, pages)
    shown = ordered[(number - 1) * FIXTURES_SHOWN : number * FIXTURES_SHOWN]
    days = await service.matches.days(day, STRIP_BEFORE, STRIP_AFTER)
    return DayPage(
        day=day,
        today=today(request),
        strip=[StripDay(entry.day, entry.fixtures, entry.live) for entry in days],
        open=by_competition([fixture for fixture in shown if fixture.stage is not Stage.COMPLETED]),
        finished=by_competition([fixture for fixture in shown if fixture.stage is Stage.COMPLETED]),
        finished_count=sum(fixture.stage is Stage.COMPLETED for fixture in ordered),
        total=len(ordered),
        page=number,
        pages=pages,
        next_day=None if ordered else await next_day(service, day, own_zone),
        follow=",".join([*(f"{DAY_TOPIC}:{utc_day}" for utc_day in utc_days(day, own_zone)), FIXTURE_TOPIC]),
        cursor=at,
    )


async def next_day(service: Footy, day: date, of: tzinfo) -> date | None:
    """The next day of the zone with a fixture."""
    ahead = await service.matches.days(day, 0, LOOK_AHEAD)
    for entry in islice((entry for entry in ahead if entry.fixtures), 3):
        for shift in (-1, 0, 1):
            there = entry.day + timedelta(days=shift)
            if there > day and await fixtures_of(service, there, of):
                return there
    return None


async def _show(
    request: Request, service: Footy, identity: Identity, day: date, number: int, template: str = "footy/day.html"
) -> HTMLResponse:
    view = await read_day(request, service, day, number)
    return render(request, template, identity=identity, view=view, readiness=service.status.ready(), one_day=ONE_DAY)


ONE_DAY = timedelta(days=1)


@router.get(PATH)
async def index(request: Request, service: Service, identity: Reader, page: PageNumber = 1) -> HTMLResponse:
    return await _show(request, service, identity, today(request), page)


@router.get(f"{PATH}/{{day}}")
async def day_page(
    request: Request, service: Service, identity: Reader, day: str, page: PageNumber = 1
) -> HTMLResponse:
    return await _show(request, service, identity, day_of(day), page)


@router.get(f"{PATH}/{{day}}/live")
async def day_part(
    request: Request, service: Service, identity: Reader, day: str, page: PageNumber = 1
) -> HTMLResponse:
    """The part of the page that follows changes, alone."""
    return await _show(request, service, identity, day_of(day), page, "footy/_day.html")
