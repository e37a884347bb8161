"""The match day: the fixtures of one day in the reader's time zone, by competition and live, with a strip of days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from pressbox.core.clock import utc_now
from pressbox.core.errors import NotFoundError
from pressbox.core.web.identity import Identity
from pressbox.core.web.rendering import render
from pressbox.footy.adapters.match_reader import MatchReader
from pressbox.footy.adapters.request_budgets import SqlRequestBudget
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.domain.views import CompetitionView, FixtureView
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, PATH
from pressbox.footy.readiness import check_readiness
from pressbox.footy.settings import FootySettings
from pressbox.footy.web.access import Budget, Matches, OurSettings, Reader, cursor, today, zone

router = APIRouter(include_in_schema=False)

# As many as fit on a small page.
FIXTURES_SHOWN = 15
MOST_OF_A_DAY = 1000
# On both sides of the day that is shown.
STRIP = timedelta(days=3)
LOOK_AHEAD = timedelta(days=30)
ONE_DAY = timedelta(days=1)
# Wide enough for all fixtures, and far from dates that overflow.
FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2200, 1, 1)
PageNumber = Annotated[int, Query(ge=1, le=1000)]


@dataclass(frozen=True)
class StripDay:
    day: date
    fixtures: int
    live: int


@dataclass(frozen=True)
class DayPage:
    """One page of one day: open and finished fixtures by competition, and links to other days and pages."""

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
    def shown(self) -> Sequence[FixtureView]:
        return [fixture for group in (*self.open, *self.finished) for fixture in group.fixtures]

    @property
    def covered(self) -> Sequence[FixtureView]:
        return [fixture for fixture in self.shown if fixture.covered]

    @property
    def delayed(self) -> bool:
        return any(fixture.as_of for fixture in self.shown)

    @property
    def live(self) -> int:
        return sum(fixture.live for group in self.open for fixture in group.fixtures)


def parse_day(text: str) -> date:
    """Parse the day in an address; anything else is a NotFoundError."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or text != day.isoformat() or not FIRST_DAY <= day <= LAST_DAY:
        raise NotFoundError("There is no such day. Write it as 2026-11-15.")
    return day


def utc_days(day: date, of: tzinfo) -> tuple[date, ...]:
    """The one or two days of UTC that this day of a time zone overlaps."""
    first = datetime(day.year, day.month, day.day, tzinfo=of).astimezone(UTC)
    following = day + ONE_DAY
    last = datetime(following.year, following.month, following.day, tzinfo=of).astimezone(UTC)
    last -= timedelta(microseconds=1)
    return tuple(dict.fromkeys((first.date(), last.date())))


def by_competition(fixtures: Sequence[FixtureView]) -> tuple[CompetitionView, ...]:
    """Group fixtures, which are already in this order."""
    groups = groupby(fixtures, key=lambda fixture: (fixture.league_id, fixture.league_name, fixture.country))
    found = [(key, tuple(members)) for key, members in groups]
    return tuple(
        CompetitionView(league_id, name, country, _round_of(members), members)
        for (league_id, name, country), members in found
    )


def _round_of(fixtures: Sequence[FixtureView]) -> str:
    """The round that all of them belong to; empty when they differ, and each says its own."""
    rounds = {fixture.round for fixture in fixtures}
    return rounds.pop() if len(rounds) == 1 else ""


async def load_fixtures(matches: MatchReader, day: date, of: tzinfo) -> list[FixtureView]:
    """Load the fixtures that kick off on this day of the time zone, by competition and kick-off."""
    found: list[FixtureView] = []
    for utc_day in utc_days(day, of):
        after = None
        while len(found) < MOST_OF_A_DAY:
            page = await matches.load_fixtures(utc_day, after=after, limit=200)
            found += [fixture for fixture in page.items if fixture.kickoff.astimezone(of).date() == day]
            after = page.after
            if after is None:
                break
    # Both days of UTC may have fixtures of a competition, which keeps the place of its first one.
    places = {league_id: number for number, league_id in enumerate(dict.fromkeys(f.league_id for f in found))}
    return sorted(found, key=lambda fixture: (places[fixture.league_id], fixture.kickoff, fixture.fixture_id))


async def read_day(request: Request, matches: MatchReader, day: date, number: int) -> DayPage:
    at, own_zone = await cursor(request), zone(request)
    fixtures = await load_fixtures(matches, day, own_zone)
    ordered = sorted(fixtures, key=lambda fixture: fixture.stage is Stage.COMPLETED)
    pages = max(1, -(-len(ordered) // FIXTURES_SHOWN))
    number = min(number, pages)
    shown = ordered[(number - 1) * FIXTURES_SHOWN : number * FIXTURES_SHOWN]
    days = await matches.load_days(day - STRIP, day + STRIP, own_zone)
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
        next_day=None if ordered else await find_next_day(matches, day, own_zone),
        follow=",".join([*(f"{DAY_TOPIC}:{utc_day}" for utc_day in utc_days(day, own_zone)), FIXTURE_TOPIC]),
        cursor=at,
    )


async def find_next_day(matches: MatchReader, day: date, of: tzinfo) -> date | None:
    """Find the next day of the time zone with a fixture."""
    ahead = await matches.load_days(day + ONE_DAY, day + LOOK_AHEAD, of)
    return next((entry.day for entry in ahead if entry.fixtures), None)


async def _show(
    request: Request,
    matches: MatchReader,
    settings: FootySettings,
    budgets: SqlRequestBudget,
    identity: Identity,
    day: date,
    number: int,
    template: str = "footy/day.html",
) -> HTMLResponse:
    view = await read_day(request, matches, day, number)
    readiness, budget = check_readiness(settings), await budgets.load()
    return render(
        request,
        template,
        identity=identity,
        view=view,
        readiness=readiness,
        one_day=ONE_DAY,
        budget=budget,
        requests_left=budget.left_on(utc_now()),
        paused=budget.is_paused(utc_now()),
        slowed=budget.is_slowed(utc_now()),
    )


@router.get(PATH)
async def index(
    request: Request, matches: Matches, settings: OurSettings, budgets: Budget, identity: Reader, page: PageNumber = 1
) -> HTMLResponse:
    return await _show(request, matches, settings, budgets, identity, today(request), page)


@router.get(f"{PATH}/{{day}}")
async def day_page(
    request: Request,
    matches: Matches,
    settings: OurSettings,
    budgets: Budget,
    identity: Reader,
    day: str,
    page: PageNumber = 1,
) -> HTMLResponse:
    return await _show(request, matches, settings, budgets, identity, parse_day(day), page)


@router.get(f"{PATH}/{{day}}/live")
async def day_part(
    request: Request,
    matches: Matches,
    settings: OurSettings,
    budgets: Budget,
    identity: Reader,
    day: str,
    page: PageNumber = 1,
) -> HTMLResponse:
    """Only the part of the page that follows changes."""
    return await _show(request, matches, settings, budgets, identity, parse_day(day), page, "footy/_day.html")
