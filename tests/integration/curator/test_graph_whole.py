"""The graph from an article to its page, with everything real but the words of a model: worker, database, commands."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker
from typer.testing import CliRunner, Result

from pressbox.core.app import Resources
from pressbox.core.commands import build_group
from pressbox.core.config import DatabaseSettings, Settings, TemporalSettings
from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.commands import build_commands
from pressbox.curator.graph import wiring as graph
from pressbox.curator.graph.contracts import GRAPH_REBUILD_WORKFLOW
from pressbox.curator.graph.service import GraphStarter
from pressbox.curator.graph.workflow import GlobalGraphUpdateWorkflow, GraphRebuildWorkflow
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE, heavy_queue
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.manifest import schedules
from pressbox.curator.names import GRAPH_SCHEDULE
from pressbox.curator.search.activities import IndexSelection
from pressbox.curator.search.store import SqlIndexStore
from pressbox.entry.wiring import open_resources
from tests.conftest import TEST_KEY, Parts
from tests.fakes.graph import Stacks

TEXT = (
    "The engineer Grace Hopper joined Remington Rand in 1949. At Remington Rand she wrote a compiler. "
    "Years later Grace Hopper told an audience in Philadelphia how the compiler began."
)


@asynccontextmanager
async def working(resources: Resources) -> AsyncIterator[str]:
    """A worker of the product's own activities on queues of its own."""
    queue, made = f"test-{secrets.token_hex(4)}", graph.activities(resources)
    selection = IndexSelection(SqlIndexStore(resources.database))
    async with AsyncExitStack() as workers:
        for name, functions, workflows in (
            (
                queue,
                [*made[QUEUE], selection.get_entry_ids_for_indexing],
                [GlobalGraphUpdateWorkflow, GraphRebuildWorkflow],
            ),
            (heavy_queue(queue), [*made[HEAVY_QUEUE]], []),
        ):
            worker = Worker(
                resources.temporal,
                task_queue=name,
                workflows=workflows,
                activities=functions,
                interceptors=[ErrorInterceptor()],
            )
            await workers.enter_async_context(worker)
        yield queue


async def test_an_article_comes_into_the_graph_by_rules_alone_and_is_found_by_its_names(resources: Resources) -> None:
    stacks = Stacks(resources.database)
    anna = await stacks.rows.user()
    article = await stacks.article(await stacks.rows.feed(anna), TEXT)
    async with working(resources) as queue:
        starter = GraphStarter(resources.temporal, queue, CuratorPolicy())
        done = await resources.temporal.get_workflow_handle(await starter.update(50)).result()
        assert done == {"added": 1, "failed": 0}
        entity = await stacks.pages.entity(anna, "grace hopper", 8)
        assert [one.entry_id for one in entity.evidence] == [article]
        assert "Grace Hopper" in entity.evidence[0].quote
        assert "remington rand" in {one.key for one in entity.neighbours}
        assert (await stacks.pages.state(anna)).waiting == 0
        assert await graph.graph_reader(resources).entries_near(anna, "Who was Grace Hopper?", 5) == [article]
        before = await stacks.keys()
        started = await starter.rebuild(20, clean=True)
        assert started == GRAPH_REBUILD_WORKFLOW
        done = await resources.temporal.get_workflow_handle(started).result()
        assert done == {"added": 1, "failed": 0}
    assert await stacks.keys() == before


@pytest.fixture
def clean_schedule(temporal: Client) -> Iterator[None]:
    async def delete() -> None:
        try:
            await temporal.get_schedule_handle(GRAPH_SCHEDULE).delete()
        except RPCError:
            return

    loop = asyncio.new_event_loop()
    loop.run_until_complete(delete())
    yield
    loop.run_until_complete(delete())
    loop.close()


@pytest.mark.usefixtures("clean_schedule")
def test_the_graph_is_triggered_and_scheduled_with_the_words_of_the_document(
    parts: Parts, database_url: str, tmp_path: Path
) -> None:
    settings = Settings(
        home=tmp_path,
        secret_key=TEST_KEY,
        database=DatabaseSettings(url=database_url),
        temporal=TemporalSettings(address=parts.temporal_address),
    )
    commands = build_group(build_commands(schedules))

    def run(*words: str) -> Result:
        with capture_logs():
            done = CliRunner().invoke(commands, words, obj=lambda: open_resources(settings))
        assert done.exit_code == 0, done.exception
        return done

    assert "every hour" in run("schedule", "graph", "set").stdout
    assert "changed by you" in run("schedule", "graph", "set", "--interval", "30m", "--batch-size", "100").stdout
    run("schedule", "graph", "pause")
    assert json.loads(run("schedule", "graph", "show", "--json").stdout)["paused"] is True
    run("schedule", "graph", "resume")
    run("schedule", "graph", "delete")
    started = [
        json.loads(run("trigger", *words, "--json").stdout)["workflow_id"]
        for words in (("graph-update", "--batch-size", "100"), ("graph-rebuild", "--clean", "--batch-size", "10"))
    ]
    assert started == ["curator-graph-by-hand", "curator-graph-rebuild"]
    asyncio.run(_end(settings, started))


async def _end(settings: Settings, workflow_ids: list[str]) -> None:
    """Nobody works on the product's own queue here: leave nothing behind."""
    async with open_resources(settings) as resources:
        for workflow_id in workflow_ids:
            await resources.temporal.get_workflow_handle(workflow_id).terminate("the test is over")
