"""A day at scale in half an hour: thousands of feeds, one large event and many matches, while parts die and freeze.

Three workers and two webs share one PostgreSQL and one Temporal. At the end every row is accounted for, and the account
is printed. `--soak-share 0.02` plays a fiftieth of it in a few minutes. A full disk is not played.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import IO

import httpx
import psutil
import pytest
from sqlalchemy import text

from pressbox.bench.crowds import gather_crowd
from pressbox.bench.instance import instance_resources, measured_instance, temporary_home
from pressbox.bench.opml import write_opml
from pressbox.bench.simulator import run_simulator
from pressbox.core.app import Resources
from pressbox.core.environment import child_environment
from pressbox.core.errors import TransientError
from pressbox.demo.football_day.scenario import Size, play_day
from pressbox.demo.instance import OWN_PARTS, Instance
from pressbox.demo.stage import Finding, Stage
from pressbox.demo.world import World, WorldPorts, open_world
from pressbox.embedded.ports import free_port
from pressbox.soonish.domain.delivery import Cause
from tests.patience import patience
from tests.playing import parts

FURTHER_WORKERS, FURTHER_WEBS = 2, 1
# Every tenth feed has news this often. A feed drops its oldest entry each time, and is read before it drops a new one.
CHANGED_STEP, CHANGES = 10, 3
ENTRIES_EACH = CHANGES + 1
ANNOUNCEMENTS = 3
REMINDED_BEFORE = timedelta(minutes=30)
FROZEN_SECONDS, SLOW_SECONDS, SILENT_SECONDS = 75.0, 4.0, 10.0
LOOK_SECONDS = 2.0
RETRIED = (httpx.HTTPError, TransientError)


@dataclass(frozen=True)
class Scale:
    """How much there is of everything, and how long parts are disturbed."""

    feeds: int
    people: int
    matches: int
    goals: int
    minutes: float

    @classmethod
    def of(cls, share: float) -> "Scale":
        def part(whole: int, least: int) -> int:
            return max(least, round(whole * share))

        return cls(part(5_000, 20), part(20_000, 50), part(100, 2), part(120, 3), max(2.0, 30 * share))

    @property
    def entries(self) -> int:
        changed = len(range(0, self.feeds, CHANGED_STEP))
        return self.feeds * ENTRIES_EACH + changed * CHANGES


@dataclass
class Further:
    """Workers and webs beside those of the instance. One that is killed is started again, as an orchestrator does."""

    environment: Mapping[str, str]
    log: IO[str]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str) -> None:
        kind = name.split("-", maxsplit=1)[0]
        port = {"PRESSBOX_WEB_PORT" if kind == "web" else "HEALTH_PORT": str(free_port())}
        self.running[name] = subprocess.Popen(
            [sys.executable, "-m", "pressbox", kind],
            env=child_environment(**{**OWN_PARTS, **self.environment, **port}),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )

    def kill(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()
        self.start(name)

    def stop(self) -> None:
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(patience(60))
            process.kill()


@dataclass
class Trouble:
    """What was done to the parts, at random but the same for one seed."""

    instance: Instance
    further: Further
    luck: random.Random
    done: dict[str, int] = field(default_factory=dict)

    async def go_on(self, seconds: float) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(self.luck.uniform(10, 25))
            await self.luck.choice([self._kill_own, self._kill_further, self._freeze, self._slow, self._silence])()

    async def _kill_own(self) -> None:
        name = self.luck.choice(["worker", "web", "postgres", "temporal"])
        self._signal(parts(self.instance.home).get(name), signal.SIGKILL)
        self._note(f"{name} killed")

    async def _kill_further(self) -> None:
        name = self.luck.choice(sorted(self.further.running))
        await asyncio.to_thread(self.further.kill, name)
        self._note(f"further {name.split('-')[0]} killed")

    async def _freeze(self) -> None:
        """Longer than every lease: what it held is given to others, and it comes back."""
        name = self.luck.choice([one for one in sorted(self.further.running) if one.startswith("worker")])
        await self._pause([self.further.running[name].pid], FROZEN_SECONDS)
        self._note("worker frozen")

    async def _slow(self) -> None:
        """Everybody who asks the database waits."""
        await self._pause(self._with_children("postgres"), SLOW_SECONDS)
        self._note("database slow")

    async def _silence(self) -> None:
        """Connections stay open and nothing is heard, as with a broken network."""
        await self._pause(self._with_children("temporal"), SILENT_SECONDS)
        self._note("Temporal silent")

    async def _pause(self, pids: Sequence[int], seconds: float) -> None:
        for pid in pids:
            self._signal(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            for pid in pids:
                self._signal(pid, signal.SIGCONT)

    def _with_children(self, name: str) -> list[int]:
        pid = parts(self.instance.home).get(name)
        if pid is None:
            return []
        with suppress(psutil.NoSuchProcess):
            return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
        return []

    def _signal(self, pid: int | None, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if pid is not None:
                os.kill(pid, number)

    def _note(self, what: str) -> None:
        self.done[what] = self.done.get(what, 0) + 1


@dataclass(frozen=True)
class Line:
    """One line of the account."""

    name: str
    expected: int
    found: int

    @property
    def right(self) -> bool:
        return self.expected == self.found


_MESSAGES = text("""
    SELECT cause, count(*), count(*) FILTER (WHERE state = 'sent'), count(*) FILTER (WHERE state = 'pending'),
        count(*) FILTER (WHERE maybe_twice OR state = 'uncertain')
    FROM soonish.deliveries WHERE channel_key LIKE 'contact:%' GROUP BY 1
""")
_READER = text("""
    SELECT count(*), count(DISTINCT (feed_id, guid)),
        count(*) FILTER (WHERE indexed_hash IS NOT NULL), count(*) FILTER (WHERE distil_state = 'waiting')
    FROM curator.entries
""")
_LEFT = text("""
    SELECT (SELECT count(*) FROM soonish.outbox WHERE told_at IS NULL),
        (SELECT count(*) FROM core.claims WHERE until < now() - interval '10 minutes'),
        (SELECT count(*) FROM core.workflow_progress WHERE state = 'failed')
""")
_CLIPS = text("""
    SELECT goal.event_id, goal.confirmed_at, candidate.attempt, candidate.source, candidate.outcome, candidate.reason
    FROM footy.goals AS goal LEFT JOIN footy.clip_candidates AS candidate USING (event_id) ORDER BY 1, 3
""")


class Day:
    """What happens, and what must be there in the end."""

    def __init__(self, scale: Scale, instance: Instance, resources: Resources, world: World, feeds_url: str) -> None:
        self.scale, self.instance, self.resources, self.world = scale, instance, resources, world
        self.feeds_url = feeds_url
        self.slug = ""

    async def begin(self) -> None:
        async with self._client() as client:
            opml = write_opml(f"{self.feeds_url}/feed", self.scale.feeds)
            headers = {"Content-Type": "text/x-opml", "Origin": self.instance.web_url}
            (await client.post("/curator/opml", content=opml, headers=headers)).raise_for_status()
        soonish = httpx.AsyncClient(
            base_url=f"{self.instance.web_url}/api/soonish", trust_env=False, timeout=patience(60)
        )
        async with soonish as client:
            crowd = await gather_crowd(
                client,
                self.resources.database,
                # Reminders are due when the disturbance is half over.
                start=datetime.now(UTC) + REMINDED_BEFORE + timedelta(minutes=self.scale.minutes / 2),
                url=self.world.notifications.apprise_url("crowd"),
                read_message=self.world.notifications.read_last,
                people=self.scale.people,
                choose_offsets=lambda _: (int(REMINDED_BEFORE.total_seconds()),),
            )
        self.slug = crowd.slug

    async def see_fixtures(self) -> None:
        while True:
            async with self.resources.database.unit_of_work() as work:
                if await work.session.scalar(text("SELECT count(*) FROM footy.fixtures")):
                    return
            await asyncio.sleep(LOOK_SECONDS)

    async def announce(self, seconds: float) -> None:
        """Each is one message, however often the request has to be tried."""
        for number in range(ANNOUNCEMENTS):
            await asyncio.sleep(seconds / (ANNOUNCEMENTS + 1))
            body = {"text": f"We meet in room {number}.", "request_key": f"room {number}"}
            await self._insist(f"/soonish/events/{self.slug}/announce", body)

    async def publish(self, seconds: float) -> None:
        for _ in range(CHANGES):
            await asyncio.sleep(seconds / (CHANGES + 1))
            async with httpx.AsyncClient(trust_env=False) as client:
                (await client.get(f"{self.feeds_url}/-/change/{CHANGED_STEP}")).raise_for_status()

    async def _insist(self, path: str, body: Mapping[str, str]) -> None:
        while True:
            with suppress(*RETRIED):
                async with self._client() as client:
                    answer = await client.post(path, json=body)
                    if answer.status_code < 500:
                        answer.raise_for_status()
                        return
            await asyncio.sleep(LOOK_SECONDS)

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{self.instance.web_url}/api", trust_env=False, timeout=patience(60))

    async def settle(self, longest: timedelta) -> list[Line]:
        """The account, as soon as it is right; or the last one."""
        deadline = datetime.now(UTC) + longest
        while True:
            with suppress(TransientError):
                account = await self.account()
                if all(line.right for line in account) or datetime.now(UTC) > deadline:
                    return account
            await asyncio.sleep(LOOK_SECONDS)

    async def account(self) -> list[Line]:
        async with self.resources.database.unit_of_work() as work:
            messages = (await work.session.execute(_MESSAGES)).tuples().all()
            stored, distinct, indexed, undistilled = (await work.session.execute(_READER)).one()
            untold, claims, failed = (await work.session.execute(_LEFT)).one()
        people, entries = self.scale.people, self.scale.entries
        sent = {cause: count for cause, _, count, _, _ in messages}
        noted = {cause: count for cause, count, _, _, _ in messages}
        arrived = [one for one in self.world.notifications.of("crowd") if "/events/confirm/" not in one.body]
        copies, admitted = len(arrived) - sum(sent.values()), sum(row[4] for row in messages)
        wanted = {Cause.ANNOUNCEMENT: ANNOUNCEMENTS * people, Cause.UPDATED: people, Cause.REMINDER: people}
        return [
            *(Line(f"{cause}: in the ledger", count, noted.get(cause, 0)) for cause, count in wanted.items()),
            *(Line(f"{cause}: sent", count, sent.get(cause, 0)) for cause, count in wanted.items()),
            Line("messages that still wait", 0, sum(row[3] for row in messages)),
            Line(f"copies that nobody admits ({copies} copies, {admitted} admitted)", 0, max(0, copies - admitted)),
            Line("articles stored", entries, stored),
            Line("articles stored once", entries, distinct),
            Line("articles searchable", entries, indexed),
            Line("articles without a summary", 0, undistilled),
            Line("signals that were not told", 0, untold),
            Line("claims that nobody took back", 0, claims),
            Line("runs that failed", 0, failed),
        ]


@asynccontextmanager
async def playing_day(scale: Scale) -> AsyncIterator[tuple[Day, Trouble]]:
    ports = WorldPorts.choose()
    async with AsyncExitStack() as exits:
        home = exits.enter_context(temporary_home())
        feeds_url = exits.enter_context(
            run_simulator("pressbox.bench.feed_host", str(scale.feeds), str(ENTRIES_EACH), "0.05")
        )
        environment = ports.environment()
        environment |= {
            "PRESSBOX_HTTP_ALLOW": f"{environment['PRESSBOX_HTTP_ALLOW']},{httpx.URL(feeds_url).netloc.decode()}",
            "PRESSBOX_CURATOR_FULL_TEXT": "0",
            "PRESSBOX_CURATOR_INGEST_MINUTES": "0.5",
            "PRESSBOX_CURATOR_SHORTEST_INTERVAL_MINUTES": "1",
            "PRESSBOX_CURATOR_LONGEST_INTERVAL_HOURS": "0.05",
            "PRESSBOX_CURATOR_HOST_DELAY_SECONDS": "0",
        }
        instance = exits.enter_context(measured_instance(home, **environment))
        log = exits.enter_context((home.path.parent / "further.log").open("a"))
        further = Further({**environment, "PRESSBOX_HOME": str(home.path), "PRESSBOX_OPEN": "1"}, log)
        exits.callback(further.stop)
        for number in range(FURTHER_WORKERS):
            further.start(f"worker-{number}")
        for number in range(FURTHER_WEBS):
            further.start(f"web-{number}")
        world = await exits.enter_async_context(open_world(ports))
        resources = await exits.enter_async_context(instance_resources(instance))
        yield Day(scale, instance, resources, world, feeds_url), Trouble(instance, further, random.Random(7))


@pytest.mark.slow
@pytest.mark.limit(2 * 3600)
async def test_a_day_at_scale_is_accounted_for_to_the_last_row(request: pytest.FixtureRequest) -> None:
    scale = Scale.of(request.config.getoption("--soak-share"))
    seconds = scale.minutes * 60
    async with playing_day(scale) as (day, trouble):
        await day.begin()
        size = Size(matches=scale.matches, goals=scale.goals, plain=True, settle=timedelta(hours=1), followers=3)
        stage = Stage(day.resources, 1.0, 1, day.world, day.instance.web_url)
        async with asyncio.TaskGroup() as group:
            matches = group.create_task(play_day(stage, size))
            # What prepares the matches is not ours to disturb.
            await day.see_fixtures()
            for part in (trouble.go_on(seconds), day.announce(seconds), day.publish(seconds)):
                group.create_task(part)
        account = await day.settle(timedelta(minutes=max(10.0, scale.minutes)))
        async with day.resources.database.unit_of_work() as work:
            clips = (await work.session.execute(_CLIPS)).all()
    findings: tuple[Finding, ...] = matches.result()
    account += [Line(f"matches: {one.name}", one.expected, one.found) for one in findings]
    print_account(scale, trouble.done, account)
    if any("clips stored" in line.name and not line.right for line in account):
        sys.stdout.write("".join(f"{clip}\n" for clip in clips))
    assert [line for line in account if not line.right] == []


def print_account(scale: Scale, done: Mapping[str, int], account: Sequence[Line]) -> None:
    sys.stdout.write(f"\n{scale}\n{', '.join(f'{count} × {what}' for what, count in sorted(done.items()))}\n")
    for line in account:
        mark = "" if line.right else "   <- wrong"
        sys.stdout.write(f"{line.expected:>10,} {line.found:>10,}  {line.name}{mark}\n")
