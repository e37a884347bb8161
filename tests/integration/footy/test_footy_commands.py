"""`pressbox footy` against a real database and a real Temporal."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from typer.testing import CliRunner, Result

from pressbox.core.app import Resources
from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError, InvalidInputError, NotFoundError
from pressbox.entry.wiring import open_resources
from pressbox.footy.cli import commands
from pressbox.footy.settings import FootySettings
from tests.conftest import Parts
from tests.integration.footy.footy_world import World

Run = Callable[..., Result]


@pytest.fixture
def settings(parts: Parts, database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        secret_key=SecretStr("the instance key of this test"),
        database=DatabaseSettings(url=SecretStr(database_url)),
        temporal=TemporalSettings(address=parts.temporal_address),
    )


@pytest.fixture
def run(settings: Settings) -> Run:
    def invoke(*arguments: str, known: Settings = settings) -> Result:
        @asynccontextmanager
        async def opened() -> AsyncIterator[Resources]:
            async with open_resources(known) as resources:
                yield resources

        with capture_logs():
            return CliRunner().invoke(commands, arguments, obj=opened)

    return invoke


@pytest.fixture
def goal_of_the_day(database_url: str) -> str:
    async def play() -> str:
        database = Database(database_url)
        try:
            world = World(database)
            event_id = await world.confirmed_goal()
            await world.teams.save_aliases(40, ["LFC"], "wikidata", world.now)
            await world.found(event_id, 1, "a")
            return event_id
        finally:
            await database.close()

    return asyncio.run(play())


def end(settings: Settings, told: str) -> str:
    """Nobody works here: what was started must not wait for the worker of another test."""
    workflow_id = told.removeprefix("Started ").strip().removesuffix(".")

    async def terminate() -> None:
        async with open_resources(settings) as resources:
            await resources.temporal.get_workflow_handle(workflow_id).terminate("end of the test")

    asyncio.run(terminate())
    return workflow_id


def test_lists_are_for_people_and_for_programs(run: Run, goal_of_the_day: str) -> None:
    fixtures = run("fixtures", "--date", "2026-10-03")
    assert fixtures.exit_code == 0, fixtures.output
    assert "Liverpool 1:0 Arsenal" in fixtures.output
    [fixture] = json.loads(run("fixtures", "--date", "2026-10-03", "--json").output)
    assert [goal["event_id"] for goal in fixture["goals"]] == [goal_of_the_day]
    assert json.loads(run("fixtures", "--date", "2026-10-04", "--json").output) == []
    assert "No match of 2026-10-04 is known." in run("fixtures", "--date", "2026-10-04").output
    assert "No goal of 2026-10-04 is known." in run("goals", "--date", "2026-10-04").output
    assert "Mohamed Salah" in run("goals").output
    [hit] = json.loads(run("goals", "--date", "2026-10-03", "--json").output)
    assert (hit["goal"]["state"], hit["goal"]["confirmed_at"][:10]) == ("searching", "2026-10-03")


def test_why_tells_the_whole_trail(run: Run, goal_of_the_day: str) -> None:
    told = run("why", goal_of_the_day)
    assert told.exit_code == 0, told.output
    assert "1 found: 1 still to be checked." in told.output
    assert "3 sightings, 0 misses, 0 downloads" in told.output
    assert json.loads(run("why", goal_of_the_day, "--json").output)["summary"].startswith("1 found")
    assert isinstance(run("why", "1_1_1_Goal_1").exception, NotFoundError)


def test_aliases_are_shown_and_looked_for_anew(run: Run, settings: Settings, goal_of_the_day: str) -> None:
    assert "LFC" in run("aliases", "40").output
    assert json.loads(run("aliases", "40", "--json").output)["aliases"] == ["LFC"]
    assert end(settings, run("aliases", "40", "--refresh").output) == "rag-40"
    assert isinstance(run("aliases", "7", "--refresh").exception, NotFoundError)


def test_without_a_key_a_run_by_hand_says_what_to_set(run: Run, settings: Settings) -> None:
    for command in (("ingest",), ("monitor", "--once")):
        refused = run(*command)
        assert isinstance(refused.exception, ConfigurationError)
        assert "PRESSBOX_FOOTY_API_KEY" in str(refused.exception)
    known = settings.with_group(FootySettings(api_key=SecretStr("of nobody")))
    ingest = run("ingest", "--fixture", "7", known=known)
    assert end(settings, ingest.output).startswith("ingest-by-hand-")
    monitor = run("monitor", "--once", known=known)
    assert end(settings, monitor.output).startswith("monitor-by-hand-")
    assert isinstance(run("monitor", known=known).exception, InvalidInputError)


def test_a_date_that_is_none_is_refused(run: Run) -> None:
    assert isinstance(run("fixtures", "--date", "yesterday").exception, InvalidInputError)


def test_every_service_is_tried_and_what_is_missing_is_said(run: Run) -> None:
    tried = run("test")
    assert tried.exit_code == 1
    assert "API-Football: " in tried.output
    assert "no source is set up" in tried.output
