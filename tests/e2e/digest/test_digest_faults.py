"""The worker that writes digests is killed before it begins, after it ended, and in the transaction that sends one."""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from temporalio.client import Client

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.temporal.faults import Action, every_fault, list_planted, plant
from pressbox.digest.contracts import QUEUE, DigestWorkflowInput, DigestWorkflowResult
from pressbox.digest.domain import Choice, Rhythm
from pressbox.digest.store import DigestStore
from pressbox.digest.workflow import DigestWorkflow
from pressbox.inbox.store import InboxStore
from tests.conftest import Parts
from tests.fakes.reader import Library
from tests.patience import patience
from tests.waiting import look_until

DAY = timedelta(days=1)
_A_DAY_AGO = (
    "UPDATE core.digests SET due_at = due_at - :day, covered_until = covered_until - :day",
    "UPDATE core.digest_issues SET period = period - :day, since = since - :day, until = until - :day",
    # Its key names the day.
    "UPDATE core.notices SET key = concat('yesterday.', key), changed_at = changed_at - :day",
    "UPDATE curator.entries SET first_seen_at = first_seen_at - :day",
)
_HELD_UP = text("SELECT count(*) FROM pg_locks WHERE relation = 'core.digest_issues'::regclass AND NOT granted")


@contextmanager
def worker(parts: Parts, database_url: str, settings: Settings, faults: Path) -> Iterator[int]:
    environment = child_environment(
        PRESSBOX_HOME=str(settings.home),
        PRESSBOX_DATABASE_URL=database_url,
        PRESSBOX_TEMPORAL_ADDRESS=parts.temporal_address,
        PRESSBOX_SECRET_KEY=secrets.token_urlsafe(32),
        PRESSBOX_TESTING_FAULTS_DIRECTORY=str(faults),
        PRESSBOX_WORKER_HEALTH_PORT="0",
        PRESSBOX_LOG_LEVEL="error",
    )
    command = [sys.executable, "-m", "tests.e2e.forking_worker", QUEUE]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
        assert process.poll() is None, "the worker runs, or is being started again"
    finally:
        process.terminate()
        process.wait(patience(20))


class Morning:
    """Three people who read one feed and have a daily digest."""

    def __init__(self, resources: Resources, temporal: Client) -> None:
        self.database, self.temporal = resources.database, temporal
        self.library, self.store = Library(resources), DigestStore(resources.database)
        self.people: list[int] = []

    async def begin(self) -> None:
        self.people = [await self.library.person() for _ in range(3)]
        self.feed = await self.library.feed(*self.people)
        # Whatever hour it is, the time of a digest that was chosen a day and an hour ago has come since.
        for person in self.people:
            await self.store.save(
                person, Choice(Rhythm.DAILY, time(7, 30), "UTC"), utc_now() - DAY - timedelta(hours=1)
            )

    async def write(self, *titles: str) -> None:
        seen = utc_now() - timedelta(hours=2)
        for title in titles:
            await self.library.entry(self.feed, title, at=seen, seen=seen)

    async def pass_a_day(self) -> None:
        async with self.database.unit_of_work() as work:
            for statement in _A_DAY_AGO:
                await work.session.execute(text(statement), {"day": DAY})

    async def send(self) -> DigestWorkflowResult:
        return await self.temporal.execute_workflow(
            DigestWorkflow.run, DigestWorkflowInput(), id=f"digest-{secrets.token_hex(4)}", task_queue=QUEUE
        )

    async def told(self) -> list[list[set[str]]]:
        """By person the titles of each digest, oldest first."""
        issues = [reversed(await self.store.list_issues(person)) for person in self.people]
        return [
            [{line.title for section in issue.sections for line in section.lines} for issue in own] for own in issues
        ]

    async def lines(self) -> list[int]:
        inbox = InboxStore(self.database)
        return [len((await inbox.load(person)).lines) for person in self.people]


@contextmanager
def planted_kills(folder: Path) -> Iterator[Path]:
    for fault in every_fault(["send_due_digests"], Action.KILL):
        plant(folder, fault)
    yield folder
    assert not list_planted(folder), "every fault has struck"


async def kill_while_it_sends(database: Database, pid: int) -> None:
    """What is written last is held up until the worker is dead: all that it did in this transaction is undone."""

    async def count() -> int:
        async with database.unit_of_work() as looking:
            return await looking.session.scalar(_HELD_UP) or 0

    async with database.unit_of_work() as holding:
        await holding.session.execute(text("LOCK TABLE core.digest_issues IN SHARE MODE"))
        await look_until(count, what="a digest in the middle of being sent")
        [working] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        os.kill(int(working), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_before_after_and_while_it_sends_nothing_is_told_twice_or_missed(
    parts: Parts, database_url: str, resources: Resources, temporal: Client, tmp_path: Path
) -> None:
    morning = Morning(resources, temporal)
    await morning.begin()
    await morning.write("The ferry", "The bridge")
    with planted_kills(tmp_path / "faults") as faults, worker(parts, database_url, resources.settings, faults) as pid:
        first = {"The ferry", "The bridge"}
        await morning.send()
        # The worker looks by itself what is due, so another run may have taken these.
        await look_until(morning.told, lambda told: told == [[first]] * 3)

        await morning.pass_a_day()
        await morning.write("The harbour")
        async with asyncio.TaskGroup() as both:
            both.create_task(morning.send())
            both.create_task(kill_while_it_sends(morning.database, pid))
        both_days = [first, {"The harbour"}]
        await look_until(morning.told, lambda told: told == [both_days] * 3)
        await morning.send()
        assert await morning.told() == [both_days] * 3
        assert await morning.lines() == [2, 2, 2]
