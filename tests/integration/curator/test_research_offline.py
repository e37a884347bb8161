"""Research on the real stores, index, vectors and graph without any model; and its command."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from temporalio.testing import ActivityEnvironment
from typer.testing import CliRunner

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.commands import build_group
from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.curator.commands import build_commands
from pressbox.curator.research import wiring
from pressbox.curator.research import wiring as researching
from pressbox.curator.research.contracts import ResearchStepInput
from pressbox.curator.research.domain import Limits, ResearchMethod, ResearchState
from pressbox.curator.research.ports import Draft
from pressbox.curator.research.service import ResearchService
from pressbox.curator.research.store import SqlResearch
from pressbox.entry.wiring import open_resources
from tests.conftest import Parts
from tests.fakes.newsstand import Newsstand
from tests.fakes.reader import NOW, Library
from tests.research_faults import QUESTION, plant_articles


async def test_without_a_model_real_parts_find_read_and_quote(resources: Resources) -> None:
    reader = await Library(resources).person()
    stand = Newsstand(resources, reader)
    await plant_articles(stand, resources.settings)
    activities = researching.activities(resources)
    functions = {function.__name__: function for queue in activities.values() for function in queue}
    store = SqlResearch(resources.database)
    run_id = await store.create(Draft(reader, QUESTION, Limits(rounds=1)), NOW)

    async def did(name: str, **values: Any) -> Any:
        return await ActivityEnvironment().run(functions[name], ResearchStepInput(run_id=run_id, **values))

    await did("open_research")
    await did("plan_research")
    for position in (await did("search_for_research", round=1)).to_read:
        await did("read_for_research", round=1, position=position)
    await did("write_research", round=1)
    run = await store.load_own(reader, run_id)
    assert (run.state, run.method, run.tokens) == (ResearchState.DONE, ResearchMethod.EXTRACTS, 0)
    assert len(run.sources) == 4
    assert "leaves before sunrise" in run.report
    assert all(f"[{source.number}]" in run.report for source in run.sources)


@dataclass
class NotStarted:
    runs: list[int] = field(default_factory=list)

    async def start_run(self, run_id: int) -> str:
        self.runs.append(run_id)
        return f"research-{run_id}"

    async def stop(self, run_id: int) -> bool:
        return False

    async def cancel(self, run_id: int) -> None:
        return None


@pytest.fixture
def own_settings(parts: Parts, database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path,
        secret_key=SecretStr("the instance key of this test"),
        database=DatabaseSettings(url=SecretStr(database_url)),
        temporal=TemporalSettings(address=parts.temporal_address),
    )


def test_the_command_starts_research_within_bounds(own_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    started = NotStarted()

    def make(resources: Resources) -> ResearchService:
        return ResearchService(SqlResearch(resources.database), started, Limits(), has_model=False)

    monkeypatch.setattr(wiring, "research_service", make)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Resources]:
        async with open_resources(own_settings) as resources:
            yield resources

    async def with_person() -> int:
        async with open_resources(own_settings) as resources:
            accounts = AccountService(resources.database, own_settings)
            return (await accounts.add_user("anna@example.org", "four words in a row")).id

    async def found(user_id: int) -> Limits:
        async with open_resources(own_settings) as resources:
            return (await SqlResearch(resources.database).load_own(user_id, started.runs[0])).limits

    user_id = asyncio.run(with_person())
    wanted = ("trigger", "deep-research", QUESTION, "--rounds", "2", "--tokens", "5000", "--minutes", "3", "--json")
    commands = build_group(build_commands(lambda _: []))
    with capture_logs():
        result = CliRunner().invoke(commands, wanted, obj=opened)
        refused = CliRunner().invoke(commands, (*wanted[:3], "--rounds", "99"), obj=opened)
    assert result.exit_code == 0, result.exception
    told = json.loads(result.stdout)
    assert (told["workflow_id"], told["state"]) == (f"research-{told['run_id']}", "queued")
    assert started.runs == [told["run_id"]]
    assert asyncio.run(found(user_id)) == Limits(2, 5000, 3.0)
    assert refused.exit_code != 0
