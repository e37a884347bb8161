"""kill -9 of every part, alone and with another, in a random order, and of `up` itself, while workflows run.

Every workflow must finish, every step must have left its mark, and nothing may be left running.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import combinations

import httpx
import psutil
import psycopg
import pytest
from temporalio.client import Client, WorkflowHandle

from pressbox.core.config import ObjectsSettings, TemporalSettings
from pressbox.core.objects.factory import open_store
from pressbox.core.temporal.client import connect
from pressbox.demo.contracts import DemoTreeWorkflowInput, DemoTreeWorkflowResult
from pressbox.demo.ids import QUEUE, STEPS_PREFIX, child_workflow_id, tree_workflow_id
from pressbox.demo.instance import Instance, running_instance
from pressbox.demo.workflows.tree import DemoTreeWorkflow
from pressbox.embedded.home import Home
from pressbox.embedded.leftovers import load_parts
from pressbox.embedded.ports import free_port
from pressbox.embedded.processes import ProcessRecord
from tests.folders import reachable_folder
from tests.patience import patience

PARTS = ("postgres", "temporal", "worker", "web")
CHILDREN, STEPS = 2, 4
TREE = DemoTreeWorkflowInput(
    title="Survivor", children=CHILDREN, depth=1, steps=STEPS, pause=timedelta(milliseconds=400)
)

Tree = WorkflowHandle[DemoTreeWorkflow, DemoTreeWorkflowResult]


@pytest.fixture
def home() -> Iterator[Home]:
    with reachable_folder() as folder:
        yield Home(folder / "home")


def settings() -> dict[str, str]:
    return {"PRESSBOX_DEMO": "1", "PRESSBOX_WEB_PORT": str(free_port())}


def parts(home: Home) -> dict[str, ProcessRecord]:
    return {record.name: record.process for record in load_parts(home).parts}


def answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=patience(2)).is_success
    except httpx.HTTPError:
        return False


async def recovered(instance: Instance, before: dict[str, ProcessRecord], killed: Sequence[str]) -> None:
    """Until every killed part has a successor, and everything is ready again."""
    deadline = time.monotonic() + patience(60)
    while time.monotonic() < deadline:
        now = parts(instance.home)
        fresh = set(now) == set(PARTS) and all(now[name] != before[name] for name in killed)
        if (
            fresh
            and all(record.find() for record in now.values())
            and answers(f"{instance.web_url}/readyz")
            and answers(f"{instance.endpoints.worker_health_url}/health")
        ):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"Not recovered after the end of {killed}.")


async def start_tree(client: Client, name: str) -> Tree:
    return await client.start_workflow(DemoTreeWorkflow.run, TREE, id=tree_workflow_id(name), task_queue=QUEUE)


async def kill(instance: Instance, client: Client, name: str, killed: Sequence[str]) -> Tree:
    """Start a tree, wait until it works, kill, and wait for recovery."""
    before = parts(instance.home)
    tree = await start_tree(client, name)
    while not await marks(instance.home, tree.id):
        await asyncio.sleep(0.1)
    for part in killed:
        os.kill(before[part].pid, signal.SIGKILL)
    await recovered(instance, before, killed)
    return tree


async def marks(home: Home, tree_id: str) -> set[str]:
    store = open_store(ObjectsSettings(), home.objects)
    folders = [f"{STEPS_PREFIX}{child_workflow_id(tree_id, child)}" for child in range(1, CHILDREN + 1)]
    return {info.key for folder in folders for info in [info async for info in store.list(folder)]}


def all_marks(tree_id: str) -> set[str]:
    return {
        f"{STEPS_PREFIX}{child_workflow_id(tree_id, child)}/{step}"
        for child in range(1, CHILDREN + 1)
        for step in range(1, STEPS + 1)
    }


async def assert_all_finished(instance: Instance, trees: Sequence[Tree]) -> None:
    for tree in trees:
        assert await tree.result() == DemoTreeWorkflowResult(steps=CHILDREN * STEPS)
        assert await marks(instance.home, tree.id) == all_marks(tree.id)
    await progress_tells_the_end(instance, len(trees) * (1 + CHILDREN))


async def progress_tells_the_end(instance: Instance, workflows: int) -> None:
    """Every workflow has its row, and no row claims to run: what a dead worker did not tell is found out."""
    statement = "SELECT state, count(*) FROM core.workflow_progress WHERE workflow_id LIKE 'demo-tree-%' GROUP BY 1"
    deadline = time.monotonic() + patience(75)
    while True:
        endpoints = instance.home.load_endpoints()
        assert endpoints is not None
        with psycopg.connect(endpoints.database_url) as connection:
            states: dict[str, int] = dict(connection.execute(statement).fetchall())
        if states == {"completed": workflows}:
            return
        assert time.monotonic() < deadline, f"The activity page would show {states}, not {workflows} completed."
        await asyncio.sleep(0.5)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_every_workflow_finishes_whatever_is_killed(home: Home) -> None:
    """Each alone, and two of the pairs; `make soak` has all of them."""
    seed = random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"Order of the kills: seed {seed}\n")
    chance = random.Random(seed)
    pairs = chance.sample(list(combinations(PARTS, 2)), 2)
    alone = chance.sample(list(combinations(PARTS, 1)), len(PARTS))
    await all_finish(home, [*alone, *pairs])


async def all_finish(home: Home, kills: Sequence[Sequence[str]]) -> None:
    with running_instance(home.path, log=None, **settings()) as instance:
        client = await connect(TemporalSettings(), instance.endpoints.temporal_address)
        trees = [
            await kill(instance, client, f"{number}-{'-and-'.join(names)}", names) for number, names in enumerate(kills)
        ]
        await assert_all_finished(instance, trees)
    assert left_running(home) == []


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_up_itself_can_be_killed_and_the_next_one_carries_on(home: Home) -> None:
    chosen = settings()
    with running_instance(home.path, log=None, **chosen) as first:
        client = await connect(TemporalSettings(), first.endpoints.temporal_address)
        tree = await start_tree(client, "survivor")
        while not await marks(home, tree.id):
            await asyncio.sleep(0.1)
        orphans = parts(home)
        assert set(orphans) == set(PARTS)
        first.process.kill()
        first.process.wait()
    with running_instance(home.path, log=None, **chosen) as second:
        assert [name for name, record in orphans.items() if record.find()] == []
        assert second.endpoints == first.endpoints
        again = await connect(TemporalSettings(), second.endpoints.temporal_address)
        handle: Tree = again.get_workflow_handle_for(DemoTreeWorkflow.run, tree.id)
        await assert_all_finished(second, [handle])
    assert left_running(home) == []


def left_running(home: Home) -> list[str]:
    found = []
    for process in psutil.process_iter():
        try:
            text = " ".join([*process.cmdline(), process.cwd(), process.environ().get("PRESSBOX_HOME", "")])
            if str(home.path) in text and process.status() != psutil.STATUS_ZOMBIE:
                found.append(text)
        except psutil.Error:
            continue
    return found
