"""Activities of IngestWorkflow: fetch and store fixtures, and delete old ones."""

from collections.abc import Iterator, Sequence
from datetime import date

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.objects.store import ObjectStore
from pressbox.core.temporal.calls import call_with
from pressbox.core.temporal.heartbeat import Heartbeat
from pressbox.footy.activities.limits import limits
from pressbox.footy.contracts.ingest import (
    CleanupResult,
    FetchedFixtures,
    FetchFixturesInput,
    RunReference,
    StoredFixtures,
)
from pressbox.footy.domain.errors import DateRefusedError
from pressbox.footy.domain.fixture_parser import parse_fixtures
from pressbox.footy.domain.fixtures import ObservedFixture
from pressbox.footy.ids import clips_prefix, fixture_of, scratch_prefix
from pressbox.footy.ports.outside import FixturesApi
from pressbox.footy.ports.storage import Clips, FixtureArchive, FixtureImports, Follows, TeamName
from pressbox.footy.ports.workflows import PollPace

CLEANED_TOGETHER = 20
MOST_PROBLEMS = 20


class IngestActivities:
    """`missing` says which setting the API needs; empty when everything is set."""

    def __init__(
        self,
        api: FixturesApi,
        follows: Follows,
        imports: FixtureImports,
        pace: PollPace,
        missing: str = "",
        now: Clock = utc_now,
    ) -> None:
        self._api = api
        self._follows = follows
        self._imports = imports
        self._pace = pace
        self._missing = missing
        self._now = now

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def fetch_todays_fixtures(self, input: FetchFixturesInput) -> FetchedFixtures:
        if self._missing:
            return FetchedFixtures(found=0, followed=0, missing=self._missing)
        day = date.fromisoformat(input.day) if input.day else self._now().date()
        try:
            answer = await self._api.fetch_day(day)
        except DateRefusedError as error:
            return FetchedFixtures(found=0, followed=0, refused=error.message)
        await self._follows.identify(_teams(answer.fixtures))
        followed = await self._follows.load_followed()
        wanted = [fixture for fixture in answer.fixtures if followed.includes(fixture)]
        await self._imports.save_fetched(input.run_id, wanted)
        return FetchedFixtures(
            found=len(answer.fixtures), followed=len(wanted), problems=tuple(answer.problems[:MOST_PROBLEMS])
        )

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def fetch_fixtures_by_ids(self, input: FetchFixturesInput) -> FetchedFixtures:
        """Fetch the fixtures that somebody named, followed or not."""
        if self._missing:
            return FetchedFixtures(found=0, followed=0, missing=self._missing)
        size = input.policy.api_batch
        observed: list[ObservedFixture] = []
        problems: list[str] = []
        for begin in range(0, len(input.fixture_ids), size):
            answer = await self._api.fetch_by_ids(input.fixture_ids[begin : begin + size])
            parsed, malformed = parse_fixtures(answer.fixtures)
            observed += parsed
            problems += [*answer.missing.values(), *malformed.values()]
        await self._imports.save_fetched(input.run_id, observed)
        return FetchedFixtures(found=len(observed), followed=len(observed), problems=tuple(problems[:MOST_PROBLEMS]))

    @activity.defn
    @call_with(limits(30, attempts=3))
    async def categorize_and_store_fixtures(self, input: RunReference) -> StoredFixtures:
        """Have polls begin at once: what is new may be on already, or begin before a schedule that rests looks."""
        stored = await self._imports.route_fetched(input.run_id, input.policy, self._now())
        await self._pace.hasten()
        return stored


def _teams(fixtures: Sequence[ObservedFixture]) -> Iterator[TeamName]:
    for fixture in fixtures:
        for team in (fixture.home, fixture.away):
            yield TeamName(team.id, team.name, fixture.league.country_of_teams)


class CleanupActivities:
    def __init__(self, archive: FixtureArchive, clips: Clips, objects: ObjectStore, now: Clock = utc_now) -> None:
        self._archive = archive
        self._clips = clips
        self._objects = objects
        self._now = now

    @activity.defn
    @call_with(limits(120, attempts=2, heartbeat=30))
    async def cleanup_old_fixtures(self, input: RunReference) -> CleanupResult:
        """Delete objects before rows: a row without its file is found again, a file without its row never is."""
        fixtures, goals = await self._archive.find_expired(input.policy, self._now(), CLEANED_TOGETHER)
        if not fixtures and not goals:
            return CleanupResult()
        async with Heartbeat():
            keys = set(await self._clips.list_objects(fixtures, goals))
            folders = [prefix for number in fixtures for prefix in (scratch_prefix(number), clips_prefix(number))]
            folders += [clips_prefix(fixture_of(event_id), event_id) for event_id in goals]
            # Also what a killed worker left behind.
            for folder in folders:
                keys |= {item.key async for item in self._objects.list(folder)}
            for key in sorted(keys):
                await self._objects.delete(key)
            cleaned = await self._archive.delete(fixtures, goals)
        return cleaned.model_copy(
            update={"objects": len(keys), "more": CLEANED_TOGETHER in (len(fixtures), len(goals))}
        )
