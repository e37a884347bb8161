"""Workers are killed before and after the effects of telling people, and in the middle of it, while goals come and go.

`make soak` does the same with a thousand people. Afterwards everybody was told of every goal and of its withdrawal, and
the only copies beyond the first are those that the ledger calls possible.
"""

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import text
from temporalio.client import Client

from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.notices.publish import withdraw
from pressbox.core.temporal.faults import Action, every_fault, list_planted, plant
from pressbox.delivery.wiring import vault
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.settings import SoonishSettings
from tests.conftest import Parts, open_test_resources
from tests.fakes.notices import GOAL, TEAM, tell
from tests.patience import patience
from tests.waiting import until

PEOPLE = 60
GOALS = 3
STILL_SECONDS = 150

_PERSON = text("""
    WITH person AS (
        INSERT INTO core.users (email, password_hash, role)
        VALUES (concat(CAST(:name AS text), '@example.org'), 'unusable', 'member') RETURNING id
    ), follow AS (
        INSERT INTO core.follows (user_id, subject, name, path) SELECT id, :team, 'Liverpool', '/footy' FROM person
    ), channel AS (
        INSERT INTO soonish.channels (user_id, name, encrypted_url, key_id, kind, target)
        SELECT id, :name, :encrypted, :key_id, 'json', :target FROM person RETURNING id, user_id
    )
    INSERT INTO core.notice_ways (user_id, channel_key) SELECT user_id, concat('channel:', id) FROM channel
""")
_LEDGER = text("""
    SELECT channels.name, notices.key, send.step, send.state, send.maybe_twice
    FROM core.notice_sends AS send
    JOIN core.notices AS notices ON notices.id = send.notice_id
    JOIN soonish.channels AS channels ON concat('channel:', channels.id) = send.channel_key
""")
_WAITING = text("SELECT count(*) FROM core.notice_sends WHERE state = 'pending'")


@dataclass(frozen=True)
class Crowd:
    """Followers who each have a chat of their own."""

    database: Database
    settings: Settings
    target: NotificationTarget
    people: int

    async def move_in(self) -> None:
        sealing = vault(self.settings)
        async with self.database.unit_of_work() as work:
            for number in range(self.people):
                sealed = sealing.seal(self.target.apprise_url(f"person-{number}"), "json", "JSON")
                values = {"encrypted": sealed.encrypted, "key_id": sealed.key_id, "target": sealed.target}
                await work.session.execute(_PERSON, {"name": f"person-{number}", "team": TEAM, **values})

    async def until_settled(self) -> None:
        """However slow the machine is: only rows that stand still are stuck. Claims of the dead lapse meanwhile."""
        before, still = None, 0
        while still < STILL_SECONDS:
            async with self.database.unit_of_work() as work:
                waiting = await work.session.scalar(_WAITING)
            if not waiting:
                return
            before, still = waiting, still + 1 if waiting == before else 0
            await asyncio.sleep(1)
        raise AssertionError(f"{before} rows are never settled")

    async def judge(self, goals: int) -> int:
        """Everybody heard of every goal and of its withdrawal; returns the copies, each of which is admitted."""
        async with self.database.unit_of_work() as work:
            ledger = (await work.session.execute(_LEDGER)).tuples().all()
        assert Counter(state for *_, state, _ in ledger) == {"sent": 2 * goals * self.people}
        received = Counter((item.key, item.title) for item in self.target.received)
        titles = {title(number) for number in range(goals)}
        expected = titles | {f"Taken back: {one}" for one in titles}
        missing = [
            (f"person-{number}", one)
            for number in range(self.people)
            for one in expected
            if not received[(f"person-{number}", one)]
        ]
        assert missing == [], "nobody is lost"
        admitted = {(name, key, step) for name, key, step, _, twice in ledger if twice}
        denied = [
            place
            for place, count in received.items()
            if count > 1 and (place[0], key_of(place[1]), 2 if place[1].startswith("Taken back") else 1) not in admitted
        ]
        assert denied == [], "every copy beyond the first is admitted in the ledger"
        return sum(received.values()) - len(received)


def title(number: int) -> str:
    return f"Goal for Liverpool by Salah, {number + 1}′"


def key_of(said: str) -> str:
    minute = said.rpartition(" ")[2].rstrip("′")
    return f"footy.goal.{int(minute) - 1}"


@contextmanager
def workers(parts: Parts, database_url: str, settings: Settings, faults: Path) -> Iterator[int]:
    assert settings.secret_key is not None
    environment = child_environment(
        PRESSBOX_HOME=str(settings.home),
        PRESSBOX_DATABASE_URL=database_url,
        PRESSBOX_TEMPORAL_ADDRESS=parts.temporal_address,
        PRESSBOX_SECRET_KEY=settings.secret_key.get_secret_value(),
        PRESSBOX_HTTP_ALLOW=",".join(settings.http.allow),
        PRESSBOX_TESTING_FAULTS_DIRECTORY=str(faults),
        PRESSBOX_WORKER_HEALTH_PORT="0",
        PRESSBOX_LOG_LEVEL="error",
    )
    command = [sys.executable, "-m", "tests.e2e.forking_worker", "delivery", "delivery"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
        assert process.poll() is None, "the workers run, or are being started again"
    finally:
        process.terminate()
        process.wait(patience(20))


def kill_one(pid: int) -> None:
    """One of the two that poll, in the middle of whatever it does."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    polling = [child for child in children if len(list(Path(f"/proc/{child}/task").iterdir())) > 3]
    if polling:
        os.kill(polling[0], signal.SIGKILL)


@asynccontextmanager
async def crowd(database: Database, temporal: Client, home: Path, people: int) -> AsyncIterator[Crowd]:
    async with NotificationTarget() as target:
        # Slow enough to be in the middle of it when something is killed.
        target.tell("", Kind.SLOW, seconds=0.1)
        settings = Settings(
            home=home,
            secret_key=SecretStr(secrets.token_urlsafe(32)),
            http=HttpSettings(allow=(f"127.0.0.1:{target.port}",)),
            applications=(SoonishSettings(),),
        )
        async with open_test_resources(settings, database, temporal):
            made = Crowd(database, settings, target, people)
            await made.move_in()
            yield made


async def kill_in_the_middle(stage: Crowd, pid: int, seen: int) -> None:
    """Once the first messages have arrived, and before the last."""
    await until(lambda: len(stage.target.received) > seen, "the first messages")
    kill_one(pid)


async def play(stage: Crowd, pid: int, goals: int) -> None:
    """Goals come, and all of them are taken back once everybody was told; a worker dies in the middle of both."""
    database = stage.database
    for number in range(goals):
        seen = len(stage.target.received)
        await tell(database, replace(GOAL, key=f"footy.goal.{number}", title=title(number)))
        await kill_in_the_middle(stage, pid, seen)
    await stage.until_settled()
    seen = len(stage.target.received)
    async with database.unit_of_work() as work:
        await withdraw(work, [f"footy.goal.{number}" for number in range(goals)])
    await kill_in_the_middle(stage, pid, seen)
    await stage.until_settled()


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_around_every_effect_everybody_is_told_and_no_copy_is_denied(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    await play_and_judge(parts, database_url, database, temporal, tmp_path, PEOPLE)


async def play_and_judge(
    parts: Parts, database_url: str, database: Database, temporal: Client, folder: Path, people: int
) -> None:
    faults = folder / "faults"
    for fault in every_fault(["send_notices"], Action.KILL):
        plant(faults, fault)
    async with crowd(database, temporal, folder / "home", people) as stage:
        with workers(parts, database_url, stage.settings, faults) as pid:
            await play(stage, pid, GOALS)
            assert not list_planted(faults), "every fault has struck"
        copies = await stage.judge(GOALS)
        sys.stdout.write(f"{2 * GOALS * people} messages, {copies} copies beyond the first\n")
