"""Polls rest while no match is on, and miss no kick-off: real activities on the clock of a virtual schedule."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from temporalio.testing import ActivityEnvironment

from pressbox.footy.activities.comparison import ComparisonActivities
from pressbox.footy.activities.ingest import IngestActivities
from pressbox.footy.activities.poll import PollActivities
from pressbox.footy.contracts.ingest import RunReference
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.domain.fixtures import ObservedFixture, Stage
from pressbox.footy.ids import MONITOR_WORKFLOW
from pressbox.footy.ports.outside import LiveAnswer
from pressbox.footy.schedules import monitor_schedule
from pressbox.footy.settings import FootySettings
from tests.fakes.footy import FakeBudget, raw_fixture
from tests.integration.footy.footy_world import World

DECLARED = monitor_schedule(FootySettings())
MIDNIGHT = datetime(2026, 10, 3, tzinfo=UTC)
LENGTH = timedelta(minutes=110)


class Api:
    """Kick-offs by fixture; the answers follow from the clock."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.kickoffs: dict[int, datetime] = {}

    def answer(self, number: int) -> dict[str, Any]:
        kickoff, now = self.kickoffs[number], self._world.now
        status = "NS" if now < kickoff else "FT" if now > kickoff + LENGTH else "2H"
        raw = dict(raw_fixture(number, status=status))
        minute = max(0, int((now - kickoff).total_seconds() // 60))
        raw["fixture"] = {
            **raw["fixture"],
            "timestamp": int(kickoff.timestamp()),
            "status": {"short": status, "elapsed": minute},
        }
        if status == "NS":
            raw["goals"] = {"home": None, "away": None}
        return raw

    def observed(self, number: int) -> ObservedFixture:
        return parse_fixture(self.answer(number))

    async def fetch_by_ids(self, numbers: Sequence[int]) -> LiveAnswer:
        return LiveAnswer({number: self.answer(number) for number in numbers}, {})

    async def fetch_waiting(self, kickoffs: Mapping[int, datetime]) -> LiveAnswer:
        return await self.fetch_by_ids(list(kickoffs))


@dataclass
class Season:
    """The schedule of polls on a virtual clock, with the activities that its workflow calls."""

    world: World
    every: timedelta = DECLARED.every or timedelta()
    runs: int = 0
    actions: int = 0
    asked: list[str] = field(default_factory=list)
    # When each match was polled as active.
    polled: dict[int, list[datetime]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.api = Api(self.world)
        clock = lambda: self.world.now  # noqa: E731 - the clock of all activities
        self.poll = PollActivities(self.api, self.world.polls, FakeBudget(), self, now=clock)  # type: ignore[arg-type]
        self.comparison = ComparisonActivities(
            self.world.polls,
            self.world.comparisons,
            self.world.archive,
            self.world.goals,
            None,  # type: ignore[arg-type]
            now=clock,
        )
        self.imports = IngestActivities(
            self.api,  # type: ignore[arg-type]
            self.world.follows,
            self.world.imports,
            self,
            now=clock,
        )

    async def rest(self) -> None:
        assert DECLARED.rest_every is not None
        self.asked.append("rest")
        self.every, self.actions = DECLARED.rest_every, self.actions + 1

    async def hasten(self) -> None:
        assert DECLARED.every is not None
        self.asked.append("hasten")
        self.every, self.actions = DECLARED.every, self.actions + 1

    async def ingest(self, number: int, kickoff: datetime) -> None:
        self.api.kickoffs[number] = kickoff
        run = RunReference(run_id=f"ingest-{number}", policy=self.world.policy)
        await self.world.imports.save_fetched(run.run_id, [self.api.observed(number)])
        await self.take(self.imports.categorize_and_store_fixtures, run)

    async def play(self, until: datetime) -> None:
        for now in self._ticks(until):
            self.world.now = now
            await self._run()

    def _ticks(self, until: datetime) -> Iterator[datetime]:
        while True:
            seconds = self.every.total_seconds()
            following = (self.world.now.timestamp() // seconds + 1) * seconds
            if following > until.timestamp():
                self.world.now = until
                return
            yield datetime.fromtimestamp(following, UTC)

    async def _run(self) -> None:
        """What MonitorWorkflow does."""
        self.runs += 1
        # The schedule's own action, and the start of the workflow.
        self.actions += 2
        run = RunReference(run_id=f"{MONITOR_WORKFLOW}-{self.runs}", policy=self.world.policy)
        registered = await self.take(self.poll.register_monitor_workflow, run)
        active = registered.active
        if registered.staging_due:
            await self.take(self.poll.fetch_staging_fixtures, run)
            active += (await self.take(self.poll.pre_activate_upcoming_fixtures, run)).fixtures
        if active:
            for number in await self.world.polls.find_active(run.run_id):
                self.polled.setdefault(number, []).append(self.world.now)
            for step in (
                self.poll.fetch_active_fixtures,
                self.comparison.store_and_compare,
                self.comparison.process_fixture_events,
                self.comparison.sync_fixture_metadata,
                self.comparison.complete_fixture_if_ready,
            ):
                await self.take(step, run)
        # The page is told in any case.
        self.actions += 1

    async def take(self, step: Any, run: RunReference) -> Any:
        self.actions += 1
        return await ActivityEnvironment().run(step, run)


def season(world: World) -> Season:
    world.now = MIDNIGHT
    return Season(world)


async def test_an_idle_month_costs_less_than_forty_thousand_actions(world: World) -> None:
    """A match of next week waits all the time, so that every quarter of an hour has something to look at."""
    played = season(world)
    await played.ingest(1, MIDNIGHT + timedelta(days=7))
    await played.play(MIDNIGHT + timedelta(days=1))
    # Upkeep runs every hour: its start by the schedule and two activities.
    upkeep = 24 * 4
    assert (played.actions + upkeep) * 30 < 40_000
    assert played.asked.count("rest") == 1


async def test_an_empty_month_costs_even_less(world: World) -> None:
    played = season(world)
    await played.play(MIDNIGHT + timedelta(days=1))
    assert played.actions * 30 < 15_000


async def test_a_match_is_polled_as_often_as_ever_from_before_its_kickoff_to_its_end(world: World) -> None:
    played = season(world)
    kickoff = MIDNIGHT + timedelta(hours=14, minutes=5)
    await played.ingest(1, kickoff)
    await played.play(kickoff + timedelta(hours=6))
    polls = played.polled[1]
    assert polls[0] <= kickoff - timedelta(minutes=15)
    gaps = {after - before for before, after in pairwise(polls)}
    assert gaps == {DECLARED.every}
    assert polls[-1] >= kickoff + LENGTH
    assert (await world.matches.load_fixture(1)).stage is Stage.COMPLETED
    assert played.every == DECLARED.rest_every


async def test_a_match_that_is_on_when_it_is_stored_is_polled_at_once(world: World) -> None:
    played = season(world)
    await played.play(MIDNIGHT + timedelta(hours=3, minutes=1))
    assert played.every == DECLARED.rest_every
    await played.ingest(1, world.now - timedelta(minutes=20))
    stored = world.now
    await played.play(stored + timedelta(minutes=5))
    assert played.polled[1][0] - stored <= timedelta(seconds=30)
    assert len(played.polled[1]) == 10


async def test_a_match_that_is_moved_earlier_is_not_missed(world: World) -> None:
    played = season(world)
    await played.ingest(1, MIDNIGHT + timedelta(hours=20))
    await played.play(MIDNIGHT + timedelta(hours=9, minutes=50))
    earlier = MIDNIGHT + timedelta(hours=10, minutes=20)
    played.api.kickoffs[1] = earlier
    await played.play(earlier + timedelta(minutes=10))
    assert played.polled[1][0] <= earlier - timedelta(minutes=15)


async def test_a_match_that_is_stored_while_polls_lie_down_wakes_them(world: World) -> None:
    """Ingest finds no rest to end, and the poll has looked before the match was there."""
    played = season(world)
    lay_down = played.rest

    async def rest() -> None:
        await played.ingest(1, world.now - timedelta(minutes=20))
        await lay_down()

    played.rest = rest  # type: ignore[method-assign]
    await played.play(MIDNIGHT + timedelta(minutes=5))
    assert played.every == DECLARED.every
    assert played.polled[1]
