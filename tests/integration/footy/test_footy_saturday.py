"""A Saturday on the free plan: real activities, adapter and database against the simulated API, on a virtual clock."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from pydantic import SecretStr
from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

from pressbox.core.config import HttpSettings
from pressbox.core.http.client import GuardedClient
from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.simulators.fixtures_api import DEMO_KEY, FASTEST, LIVE, FixturesApi
from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.adapters.api_football import ApiFootball
from pressbox.footy.adapters.request_budgets import SqlRequestBudget
from pressbox.footy.adapters.rows import FixtureRow, GoalRow
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import Stage
from pressbox.footy.settings import FootySettings
from tests.fakes.footy import FakePace
from tests.integration.footy.footy_world import World

MIDNIGHT = datetime(2026, 6, 13, tzinfo=UTC)
KICKOFF = MIDNIGHT + timedelta(hours=18)
FREE = 100
MINUTE, QUARTER = timedelta(minutes=1), timedelta(minutes=15)
TICK = 3 * MINUTE


class Saturday:
    """What MonitorWorkflow does: each quarter of an hour while nothing is on, and every three minutes then."""

    def __init__(self, world: World, service: FixturesApi, client: GuardedClient) -> None:
        self.world = world
        self.service = service
        self.budget = SqlRequestBudget(world.database, "api-football:saturday")
        clock = lambda: world.now  # noqa: E731 - the clock of all activities
        settings = FootySettings(api_key=SecretStr(DEMO_KEY), api_url=service.url)
        self.api = ApiFootball(client, settings, self.budget, clock)
        self.poll = PollActivities(self.api, world.polls, self.budget, FakePace(), now=clock)
        self.comparison = ComparisonActivities(
            world.polls,
            world.comparisons,
            world.archive,
            world.goals,
            None,  # type: ignore[arg-type]
            now=clock,
        )
        # When live matches were answered, and how many calls the others had cost.
        self.polled: list[datetime] = []
        self.staging_calls = 0
        self.runs = 0

    async def store(self, *kickoffs: datetime) -> None:
        """Store what ingest fetched before the day began, and matches of these times that the API has deleted."""
        assert self.service.day is not None
        days = (MIDNIGHT.date(), MIDNIGHT.date() + timedelta(days=1))
        known = [parse_fixture(raw) for day in days for raw in self.service.day.on(day, MIDNIGHT)]
        more = [replace(known[0], fixture_id=number, kickoff=kickoff) for number, kickoff in enumerate(kickoffs, 1)]
        await self.world.ingest(*known, *more)

    async def play(self, until: datetime) -> None:
        for now in self._ticks(until):
            self.world.now = now
            await self._run()

    def _ticks(self, until: datetime) -> Iterator[datetime]:
        now = self.world.now
        while now < until:
            now += TICK if now >= KICKOFF - 3 * QUARTER else QUARTER
            yield now

    async def _run(self) -> None:
        self.runs += 1
        run = RunReference(run_id=f"monitor-{self.runs}", policy=self.world.policy)
        env = ActivityEnvironment()
        registered = await env.run(self.poll.register_monitor_workflow, run)
        active = registered.active
        if registered.staging_due:
            self.staging_calls += (await env.run(self.poll.fetch_staging_fixtures, run)).calls
            active += (await env.run(self.poll.pre_activate_upcoming_fixtures, run)).fixtures
        if active:
            if (await env.run(self.poll.fetch_active_fixtures, run)).answered:
                self.polled.append(self.world.now)
                await env.run(self.comparison.store_and_compare, run)
                await env.run(self.comparison.sync_fixture_metadata, run)
            await env.run(self.comparison.complete_fixture_if_ready, run)

    async def rows(self) -> list[FixtureRow]:
        async with self.world.database.unit_of_work() as work:
            return list(await work.session.scalars(select(FixtureRow).order_by(FixtureRow.id)))


def matches(number: int) -> ScriptedDay:
    return build_day(KICKOFF, matches=number, postponed=0)


@asynccontextmanager
async def saturday(world: World, day: ScriptedDay) -> AsyncIterator[Saturday]:
    world.now = MIDNIGHT
    async with (
        FixturesApi(day=day, now=lambda: world.now, free=True, day_limit=FREE, minute_limit=FASTEST) as service,
        GuardedClient(HttpSettings(allow=("127.0.0.0/8",))) as client,
    ):
        yield Saturday(world, service, client)


async def test_ten_matches_in_the_evening_are_polled_to_their_end_on_the_free_plan(world: World) -> None:
    day = matches(10)
    async with saturday(world, day) as played:
        tomorrow = build_day(KICKOFF + timedelta(days=1), matches=30, postponed=0, first_fixture_id=8_000_001)
        played.service.day = replace(day, matches=(*day.matches, *tomorrow.matches))
        await played.store(KICKOFF + timedelta(days=1))
        await played.play(day.ends_at + timedelta(minutes=45))
        print(  # noqa: T201 - the figures that people compare
            f"{played.service.calls} of {FREE} calls, {played.staging_calls} for matches that wait,"
            f" {len(played.polled)} polls of live ones"
        )
        assert played.service.calls < FREE
    during = [at for at in played.polled if KICKOFF <= at <= day.ends_at]
    assert max(after - before for before, after in pairwise([KICKOFF, *during, day.ends_at])) <= timedelta(minutes=10)
    assert played.polled[-1] >= day.ends_at
    rows = {row.id: row for row in await played.rows()}
    final = {raw["fixture"]["id"]: parse_fixture(raw) for raw in day.by_ids(rows, day.ends_at + MINUTE)}
    assert len(final) == 10
    for number, fixture in final.items():
        row = rows[number]
        assert (row.status, row.home_goals, row.away_goals) == (fixture.status, fixture.home_goals, fixture.away_goals)
    async with world.database.unit_of_work() as work:
        goals = [row for row in await work.session.scalars(select(GoalRow)) if row.removed_at is None]
    # Who scored may be corrected after the last look at the events, which one call for each match would tell.
    assert sorted((goal.fixture_id, goal.team_id) for goal in goals) == sorted(
        (goal.fixture_id, goal.team_id) for goal in day.expected().goals
    )


async def test_a_better_plan_helps_at_once(world: World) -> None:
    async with saturday(world, matches(4)) as played:
        await played.store()
        world.now = KICKOFF + timedelta(minutes=20)
        played.service.calls = FREE
        await played.play(world.now + 5 * MINUTE)
        assert (await played.budget.load()).is_paused(world.now)
        asked = played.service.calls
        played.service.free, played.service.day_limit = False, 7_500
        upgraded = world.now
        await played.play(upgraded + 10 * MINUTE)
        assert next(at for at in played.polled if at > upgraded) <= upgraded + 6 * MINUTE
        assert played.service.calls - asked <= 5, "one call for all, in each tick"
        assert not (await played.budget.load()).refuses_ids(world.now)


async def test_what_the_api_deleted_or_never_ends_leaves_the_live_round(world: World) -> None:
    """Number 1 is unknown to the API. All others stand still from half-time on."""
    day = matches(3)
    async with saturday(world, day) as played:
        await played.store(KICKOFF)
        played.service.day_limit, played.service.free = 7_500, False
        world.now = KICKOFF - timedelta(hours=1)
        await played.play(KICKOFF + timedelta(minutes=50))
        assert {row.stage for row in await played.rows()} == {Stage.ACTIVE}
        stopped = world.now
        played.service._now = lambda: stopped
        await played.play(stopped + timedelta(hours=2))
        assert {(row.stage, row.status in LIVE) for row in await played.rows()} == {
            (Stage.STAGING, True),
            (Stage.STAGING, False),
        }
        asked, quiet = played.service.calls, world.now
        await played.play(quiet + timedelta(hours=2))
        assert not [at for at in played.polled if at > quiet]
        assert played.service.calls - asked <= 8
        # They go on as soon as the API says so.
        played.service._now = lambda: stopped + timedelta(hours=1)
        await played.play(world.now + 30 * MINUTE)
        assert [row.stage == Stage.STAGING for row in await played.rows()] == [True, False, False, False]
