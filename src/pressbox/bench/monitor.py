"""`pressbox bench monitor`: one poll over many live fixtures, compared with one call and transaction per fixture."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from uuid import uuid4

import httpx
from pydantic import SecretStr
from sqlalchemy import event, text
from temporalio.runtime import Runtime, TelemetryConfig

from pressbox.bench.instance import instance_settings, measured_instance, temporary_home
from pressbox.bench.one_by_one import poll_one_by_one
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.bench.simulator import run_simulator
from pressbox.bench.worker import production_worker
from pressbox.core.app import AppManifest, Resources, TaskQueue
from pressbox.core.config import HttpSettings, ObjectsSettings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.http.client import GuardedClient
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.demo.instance import Instance
from pressbox.demo.match_day.days import ScriptedDay, build_day
from pressbox.demo.simulators.fixtures_api import DEMO_KEY
from pressbox.footy.contracts.monitor import MonitorWorkflowInput
from pressbox.footy.domain.fixture_parser import parse_fixture
from pressbox.footy.ids import QUEUE as FOOTY_QUEUE
from pressbox.footy.manifest import APP as FOOTY
from pressbox.footy.settings import FootySettings
from pressbox.footy.workflows.monitor import MonitorWorkflow

API = "pressbox.demo.simulators.fixtures_api"
SIZES = (20, 200, 1_000)
ROUNDS = 3
# Enough to know what one fixture costs; the time for all is extrapolated.
SAMPLED = 100
SECONDS_AIM = 2.0
AIMED_SIZE = 200
EVENTS_AIM = 60
# At most so many matches become known between two polls: a thousand never begin and score at once.
NEW_AT_ONCE = 200
# All matches are in their second half and stay there during the measurement.
AGO = timedelta(minutes=80)
# A separate queue, because the statements of the polls are counted in this process.
QUEUE = "bench-footy"

_CLEAR = text("DELETE FROM footy.fixtures")
_INSERT = text("""
    INSERT INTO footy.fixtures (id, stage, status, kickoff, league_id, league_name, home_id, home_name, away_id,
        away_name, activated_at)
    VALUES (:id, 'active', :status, :kickoff, :league_id, :league_name, :home_id, :home_name, :away_id, :away_name,
        now())
""")
# The state after the searches have begun, in which nearly every goal is.
_SEARCHED = text("""
    UPDATE footy.goals SET monitor_complete = true, monitor_complete_at = now(), confirmed_at = now()
    RETURNING event_id
""")


@dataclass(frozen=True)
class Poll:
    seconds: float
    calls: int
    statements: int
    history_events: int


@dataclass(frozen=True)
class PollTimes:
    """`first` is the poll that finds the last `new` fixtures with their goals; `steady` is the median after it."""

    fixtures: int
    goals: int
    new: int
    first: Poll
    steady: Poll
    peer_seconds: float
    peer_sampled: int


def run_monitor(say: Say, sizes: Sequence[int] = SIZES) -> Report:
    """Takes a minute or two, on a temporary home."""
    machine = describe_machine()
    start = datetime.now(UTC).replace(microsecond=0) - AGO
    with (
        run_simulator(API, str(max(sizes)), start.isoformat()) as url,
        temporary_home() as home,
        measured_instance(home) as instance,
    ):
        found = asyncio.run(_measure_instance(instance, url, start, sizes, say))
    figures = tuple(figure for one in found for figure in _figures(one))
    return Report(name="monitor", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def measure_polls(
    resources: Resources, url: str, day: ScriptedDay, sizes: Sequence[int], say: Say, rounds: int = ROUNDS
) -> list[PollTimes]:
    """Measure each size, starting without known fixtures."""
    found = []
    async with production_worker(resources, MANIFEST):
        for size in sizes:
            say(f"{size:,} live fixtures")
            found.append(await _measure(resources, url, day, size, rounds))
    return found


async def _measure(resources: Resources, url: str, day: ScriptedDay, size: int, rounds: int) -> PollTimes:
    chosen = [match.fixture_id for match in day.matches[:size]]
    async with resources.database.unit_of_work() as work:
        await work.session.execute(_CLEAR)
    for begin in range(0, size, NEW_AT_ONCE):
        await _add_fixtures(resources.database, day, chosen[begin : begin + NEW_AT_ONCE])
        first = await _measure_poll(resources, url)
        async with resources.database.unit_of_work() as work:
            goals = len((await work.session.execute(_SEARCHED)).all())
    polls = [await _measure_poll(resources, url) for _ in range(rounds)]
    sample = chosen[:SAMPLED]
    began = time.perf_counter()
    await poll_one_by_one(resources.database, url, sample, "one by one")
    each = (time.perf_counter() - began) / len(sample)
    steady = Poll(
        median(poll.seconds for poll in polls),
        max(poll.calls for poll in polls),
        max(poll.statements for poll in polls),
        max(poll.history_events for poll in polls),
    )
    return PollTimes(size, goals, min(size, NEW_AT_ONCE), first, steady, each * size, len(sample))


async def _add_fixtures(database: Database, day: ScriptedDay, fixture_ids: Sequence[int]) -> None:
    fixtures = [parse_fixture(raw) for raw in day.by_ids(fixture_ids, datetime.now(UTC))]
    rows = [
        {
            "id": fixture.fixture_id,
            "status": fixture.status.value,
            "kickoff": fixture.kickoff,
            "league_id": fixture.league.id,
            "league_name": fixture.league.name,
            "home_id": fixture.home.id,
            "home_name": fixture.home.name,
            "away_id": fixture.away.id,
            "away_name": fixture.away.name,
        }
        for fixture in fixtures
    ]
    async with database.unit_of_work() as work:
        await work.session.execute(_INSERT, rows)


async def _measure_poll(resources: Resources, url: str) -> Poll:
    before = await _count_calls(url)
    with _count_statements(resources.database) as statements:
        began = time.perf_counter()
        handle = await resources.temporal.start_workflow(
            MonitorWorkflow.run, MonitorWorkflowInput(), id=f"bench-monitor-{uuid4()}", task_queue=QUEUE
        )
        await handle.result()
        seconds = time.perf_counter() - began
    history = await handle.fetch_history()
    return Poll(seconds, await _count_calls(url) - before, len(statements), len(history.events))


async def _count_calls(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        return int((await client.get(f"{url}/-/received")).json()["calls"])


@contextmanager
def _count_statements(database: Database) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        statements.append(statement)

    engine = database.engine.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


MANIFEST = AppManifest(
    name="bench-monitor",
    title="Monitor",
    summary="Measures polls.",
    queues=(TaskQueue(QUEUE),),
    workflows=lambda: {QUEUE: (MonitorWorkflow,)},
    activities=lambda known: {QUEUE: FOOTY.activities(known)[FOOTY_QUEUE]},
)


async def _measure_instance(
    instance: Instance, url: str, start: datetime, sizes: Sequence[int], say: Say
) -> list[PollTimes]:
    database = Database(instance.endpoints.database_url)
    # The SDK writes its messages to standard output, which is for the report.
    quiet = Runtime(telemetry=TelemetryConfig(logging=None))
    temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address, lazy=False, runtime=quiet)
    settings = instance_settings(instance.home)
    try:
        store = open_store(ObjectsSettings(), instance.home.objects)
        async with use_fixtures_api(
            Resources(settings, database, temporal, store, GuardedClient(HttpSettings())), url
        ) as own:
            return await measure_polls(own, url, build_day(start, matches=max(sizes), postponed=0), sizes, say)
    finally:
        await database.close()


@asynccontextmanager
async def use_fixtures_api(resources: Resources, url: str) -> AsyncIterator[Resources]:
    """The same resources with the settings for this fixtures API."""
    footy = FootySettings(api_key=SecretStr(DEMO_KEY), api_url=url)
    async with GuardedClient(HttpSettings(allow=(httpx.URL(url).netloc.decode(),))) as http:
        yield replace(resources, settings=resources.settings.with_group(footy), http=http)


def _figures(found: PollTimes) -> tuple[Figure, ...]:
    name = f"{found.fixtures:,} fixtures"
    return (
        Figure(
            name=f"poll over {name}",
            value=found.steady.seconds,
            unit="s",
            peer=found.peer_seconds,
            peer_name=f"one call and transaction each, {found.peer_sampled} sampled",
            aim=SECONDS_AIM if found.fixtures == AIMED_SIZE else None,
            note=f"median of {ROUNDS}; {found.goals:,} goals",
        ),
        Figure(name=f"poll over {name}, {found.new} of them new with all goals", value=found.first.seconds, unit="s"),
        Figure(name=f"calls to the API, {name}", value=found.steady.calls, unit="calls", aim=-(-found.fixtures // 20)),
        Figure(
            name=f"statements, {name}",
            value=found.steady.statements,
            unit="statements",
            note=f"{found.first.statements:,} with {found.new} new ones",
        ),
        Figure(
            name=f"history events, {name}",
            value=max(found.steady.history_events, found.first.history_events),
            unit="events",
            aim=EVENTS_AIM,
        ),
    )
