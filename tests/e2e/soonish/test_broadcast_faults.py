"""The worker is killed before and after the effects of a broadcast, while people are written to.

`make soak` does the same with every activity, and with a thousand people.

Afterwards every delivery is final, nobody is missing, and the only copies beyond the first are those that the ledger
calls possible.
"""

import asyncio
import os
import random
import secrets
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import TextClause, text
from temporalio.client import Client

from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.environment import child_environment
from pressbox.core.temporal.faults import Action, every_fault, list_planted, plant
from pressbox.delivery import wiring as delivery_wiring
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish import wiring
from pressbox.soonish.contracts import ReconcileWorkflowInput
from pressbox.soonish.domain.links import Purpose
from pressbox.soonish.domain.views import EventView, Holder, Viewer
from pressbox.soonish.ids import QUEUE
from pressbox.soonish.service.inputs import Announcement, EventInput
from pressbox.soonish.service.soonish import Soonish
from pressbox.soonish.settings import SoonishSettings
from pressbox.soonish.workflows.reconcile import ReconcileWorkflow
from tests.conftest import Parts, open_test_resources
from tests.patience import patience
from tests.waiting import until

PEOPLE = 300
FROZEN_PEOPLE = 600
WAKING_SECONDS = 8.0
FEW_THREADS = 3
# Those that write to people, and those that decide whom to write to; which moments the others meet is more of a chance.
KILLED_AROUND = ("get_event_details", "accept_update_notification", "send_notification", "finish_notification")
# Whoever runs into a fault waits for a timeout; the next one meets the next fault meanwhile.
BETWEEN_ROUNDS = 1.2
ROUNDS = 12
BETWEEN_CHANCES = 5
REMINDERS = 5
OF_REMINDERS = frozenset({"send_reminder_notification", "remove_fired_schedule"})
SETTLE_SECONDS = patience(200)
Again = Callable[[int], Awaitable[None]]

_OPEN = text("""
    SELECT message.id, message.cause, message.title, message.finished_at, message.cancelled_at,
        array_agg(DISTINCT delivery.state || ' ' || delivery.tries || ' ' || delivery.reason) AS deliveries
    FROM soonish.notifications AS message
    LEFT JOIN soonish.deliveries AS delivery ON delivery.notification_id = message.id
    GROUP BY message.id
    HAVING message.finished_at IS NULL OR bool_or(delivery.state = 'pending')
""")
_MISSING = text("""
    SELECT count(*) FROM soonish.notification_recipients AS recipient
    WHERE NOT EXISTS (
        SELECT FROM soonish.deliveries AS delivery
        WHERE delivery.notification_id = recipient.notification_id
          AND delivery.subscription_id = recipient.subscription_id)
""")
_TRIED = text(
    "SELECT count(*) FROM soonish.deliveries WHERE notification_id = :id AND state = 'pending' AND next_try_at > now()"
)
_CREATED = text(
    "SELECT count(*) FROM soonish.notifications WHERE event_id = :id AND cause = 'created' AND finished_at IS NOT NULL"
)
_LEDGER = text("""
    SELECT contact.shown, message.title, delivery.state, delivery.maybe_twice
    FROM soonish.deliveries AS delivery
    JOIN soonish.notifications AS message ON message.id = delivery.notification_id
    JOIN soonish.contacts AS contact ON 'contact:' || contact.id = delivery.channel_key
""")


@dataclass(frozen=True)
class Scene:
    service: Soonish
    resources: Resources
    target: NotificationTarget
    organiser_id: int
    stopping: list[asyncio.Task[None]] = field(default_factory=list)

    async def event(self, name: str, start: timedelta, end: timedelta | None = None) -> EventView:
        now = datetime.now(UTC)
        stated = EventInput(name, now + start, "UTC", end_date=now + end if end else None)
        return await self.service.events.create(self.organiser_id, stated)

    async def follow(self, event: EventView, name: str, *offsets: timedelta) -> None:
        """As somebody without an account; each comes from an address of their own."""
        client = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
        url = self.target.apprise_url(name)
        await self.service.guests.subscribe_by_url(Viewer(), event.slug, url, offsets, client)
        token = self.target.of(name)[-1].body.split("/events/confirm/")[1].split()[0]
        await self.service.guests.confirm(Holder(self.service.links.read_token(Purpose.CONFIRM, token)))

    async def crowd(self, event: EventView, people: int) -> None:
        vault = delivery_wiring.vault(self.resources.settings)
        async with self.resources.database.unit_of_work() as work:
            for number in range(people):
                sealed = vault.seal(self.target.apprise_url(f"crowd-{number}"), "json", f"crowd-{number}")
                contact = await work.session.scalar(
                    text(
                        "INSERT INTO soonish.contacts (kind, encrypted_address, key_id, target, shown, verified_at)"
                        " VALUES ('json', :encrypted, :key_id, :target, :shown, now()) RETURNING id"
                    ),
                    {
                        "encrypted": sealed.encrypted,
                        "key_id": sealed.key_id,
                        "target": sealed.target,
                        "shown": sealed.shown,
                    },
                )
                await work.session.execute(
                    text(
                        "INSERT INTO soonish.subscriptions (event_id, contact_id, state, own_offsets)"
                        " VALUES (:event, :contact, 'active', true)"
                    ),
                    {"event": event.id, "contact": contact},
                )

    async def round(self, number: int) -> None:
        """A small event to which everything happens, and the sweep; now and then one that ends, and one stopped."""
        event = await self.event(f"Round {number}", timedelta(days=2))
        await self.follow(event, f"round-{number}", timedelta(days=1))
        stated = EventInput(event.name, event.start_date, "UTC", location=f"Room {number}")
        await self.service.events.edit(self.organiser_id, event.slug, stated)
        if number % 3 == 0:
            self.stopping.append(asyncio.create_task(self.cancelled(event)))
        if number % 6 == 1:
            await self.event(f"Over {number}", timedelta(hours=-1), timedelta(seconds=2))
        if number % 6 == 2:
            self.stopping.append(asyncio.create_task(self.stopped_broadcast(number)))
        await self.resources.temporal.start_workflow(
            ReconcileWorkflow.run,
            ReconcileWorkflowInput(),
            id=f"soonish-reconcile-{secrets.token_hex(4)}",
            task_queue=QUEUE,
        )

    async def cancelled(self, event: EventView) -> None:
        await self._until(_CREATED, event.id)
        await self.service.events.cancel(self.organiser_id, event.slug)

    async def reminder(self, number: int) -> None:
        """Due in a few seconds: a reminder comes at least a minute before the start."""
        event = await self.event(f"Soon {number}", timedelta(seconds=72))
        await self.follow(event, f"soon-{number}", timedelta(seconds=60))

    async def stopped_broadcast(self, number: int) -> None:
        """A message that waits because its only target is busy, and is stopped meanwhile."""
        event = await self.event(f"Stopped {number}", timedelta(days=2))
        name = f"busy-{number}"
        await self.follow(event, name)
        self.target.tell(name, Kind.BUSY, seconds=300)
        message = await self.service.board.announce(self.organiser_id, event.slug, Announcement("Wait for it."))
        await self._until(_TRIED, message.id)
        await self.service.board.stop(self.organiser_id, message.id)

    async def _until(self, question: TextClause, number: int) -> None:
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                async with self.resources.database.unit_of_work() as work:
                    if await work.session.scalar(question, {"id": number}):
                        return
                await asyncio.sleep(0.3)


@contextmanager
def worker(parts: Parts, database_url: str, settings: Settings, faults: Path) -> Iterator[int]:
    key = settings.secret_key
    assert key is not None
    environment = child_environment(
        PRESSBOX_HOME=str(settings.home),
        PRESSBOX_DATABASE_URL=database_url,
        PRESSBOX_TEMPORAL_ADDRESS=parts.temporal_address,
        PRESSBOX_SECRET_KEY=key.get_secret_value(),
        PRESSBOX_HTTP_ALLOW=",".join(settings.http.allow),
        PRESSBOX_TESTING_FAULTS_DIRECTORY=str(faults),
        PRESSBOX_WORKER_HEALTH_PORT="0",
        PRESSBOX_LOG_LEVEL="error",
    )
    command = [sys.executable, "-m", "tests.e2e.forking_worker", "soonish", "soonish"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process.pid
        assert process.poll() is None, "the worker runs, or is being started again"
    finally:
        process.terminate()
        process.wait(patience(20))


@asynccontextmanager
async def scene(database: Database, temporal: Client, home: Path) -> AsyncIterator[Scene]:
    async with NotificationTarget() as target:
        # Slow enough to be in the middle of it when something is killed.
        target.tell("", Kind.SLOW, seconds=0.1)
        settings = Settings(
            home=home,
            secret_key=SecretStr(secrets.token_urlsafe(32)),
            http=HttpSettings(allow=(f"127.0.0.1:{target.port}",)),
            applications=(SoonishSettings(merge_window_seconds=0.2),),
        )
        async with database.unit_of_work() as work:
            # Other tests have used the small numbers in the ids of workflows on the same Temporal.
            await work.session.execute(
                text(f"ALTER SEQUENCE soonish.events_id_seq RESTART WITH {random.randrange(10**6, 10**9)}")
            )
            organiser = await work.session.scalar(
                text(
                    "INSERT INTO core.users (email, name, password_hash, role)"
                    " VALUES ('organiser@example.org', '', 'unusable', 'member') RETURNING id"
                )
            )
        async with open_test_resources(settings, database, temporal) as resources:
            yield Scene(wiring.service(resources), resources, target, organiser)


async def until_struck(faults: Path, again: Again, except_for: frozenset[str] = frozenset()) -> None:
    """Which activity is at work at which moment is chance, so whatever was not met yet gets further chances."""
    for second in range(1, int(SETTLE_SECONDS)):
        left = [fault.filename for fault in list_planted(faults) if fault.activity not in except_for]
        if not left:
            return
        await asyncio.sleep(1)
        if second % BETWEEN_CHANCES == 0:
            await again(ROUNDS + second // BETWEEN_CHANCES)
    raise AssertionError(f"Never struck: {left}")


async def until_settled(database: Database) -> None:
    for _ in range(int(SETTLE_SECONDS)):
        async with database.unit_of_work() as work:
            still_open = [tuple(row) for row in await work.session.execute(_OPEN)]
        if not still_open:
            return
        await asyncio.sleep(1)
    raise AssertionError(f"Never finished: {still_open}")


def _crowd(name: str) -> str:
    """Who it is in the crowd. Everybody else is alone with the titles of an event of their own."""
    return name if name.startswith("crowd-") else ""


def judge(target: NotificationTarget, ledger: Sequence[tuple[str, str, str, bool]]) -> tuple[int, int]:
    """Copies beyond the first, and how many of them the ledger does not admit."""
    received = Counter((_crowd(item.key), item.title) for item in target.received)
    expected = {(_crowd(shown), title): (state, twice) for shown, title, state, twice in ledger if state != "skipped"}
    lost = [key for key, (state, _) in expected.items() if state == "sent" and not received[key]]
    assert lost == [], "what is called sent has arrived"
    copies = {key: count - 1 for key, count in received.items() if count > 1}
    denied = [key for key in copies if not (key in expected and (expected[key][1] or expected[key][0] == "uncertain"))]
    return sum(copies.values()), len(denied)


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_killed_around_the_effects_of_a_broadcast_nobody_is_missing_and_no_copy_is_denied(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    plant_kills(tmp_path / "faults", KILLED_AROUND)
    async with scene(database, temporal, tmp_path / "home") as stage:
        with worker(parts, database_url, stage.resources.settings, tmp_path / "faults"):
            await broadcast(stage, tmp_path / "faults", PEOPLE)
            await until_settled(database)
        await judged(stage, database, PEOPLE)


def find_workers(pid: int) -> list[int]:
    """Those of its children that poll: Temporal's part of them has threads, the process that sends has none."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    found = [child for child in children if len(list(Path(f"/proc/{child}/task").iterdir())) > FEW_THREADS]
    assert len(found) == 2
    return found


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_a_worker_frozen_for_longer_than_its_claims_denies_no_copy_and_loses_nobody(
    parts: Parts, database_url: str, database: Database, temporal: Client, tmp_path: Path
) -> None:
    """One of two workers stands still in the middle of a broadcast, until the other has sent everything, and wakes."""
    (tmp_path / "faults").mkdir()
    async with scene(database, temporal, tmp_path / "home") as stage:
        with worker(parts, database_url, stage.resources.settings, tmp_path / "faults") as pid:
            crowded = await stage.event("Crowded", timedelta(days=30))
            await stage.crowd(crowded, FROZEN_PEOPLE)
            await stage.service.board.announce(stage.organiser_id, crowded.slug, Announcement("We meet in room 12."))
            await until(lambda: len(stage.target.received) >= FROZEN_PEOPLE // 10, "the first messages")
            frozen = find_workers(pid)[0]
            os.kill(frozen, signal.SIGSTOP)
            try:
                await until_settled(database)
            finally:
                os.kill(frozen, signal.SIGCONT)
            copies = len(stage.target.received)
            # Whatever it would still send after it woke leaves within the time of one send.
            await asyncio.sleep(WAKING_SECONDS)
            assert len(stage.target.received) == copies, "it wakes and sends nothing that another has sent"
        await judged(stage, database, FROZEN_PEOPLE)


def plant_kills(faults: Path, activities: Sequence[str]) -> None:
    for fault in every_fault(activities, Action.KILL):
        plant(faults, fault)


async def broadcast(stage: Scene, faults: Path, people: int) -> None:
    """To a crowd, while small events go through everything that can happen to one, until every fault has struck."""
    crowded = await stage.event("Crowded", timedelta(days=30))
    await stage.crowd(crowded, people)
    await stage.service.board.announce(stage.organiser_id, crowded.slug, Announcement("We meet in room 12."))
    for number in range(ROUNDS):
        if not list_planted(faults):
            break
        await stage.round(number)
        await asyncio.sleep(BETWEEN_ROUNDS)
    # A schedule that is made late by a fault is too late for a reminder that is due soon.
    await until_struck(faults, stage.round, OF_REMINDERS)
    if list_planted(faults):
        for number in range(REMINDERS):
            await stage.reminder(number)
            await asyncio.sleep(BETWEEN_ROUNDS)
        await until_struck(faults, stage.reminder)
    await asyncio.gather(*stage.stopping)


async def judged(stage: Scene, database: Database, people: int) -> None:
    async with database.unit_of_work() as work:
        assert await work.session.scalar(_MISSING) == 0, "nobody is missing from the ledger"
        ledger = [tuple(row) for row in await work.session.execute(_LEDGER)]
    copies, denied = judge(stage.target, [(str(a), str(b), str(c), bool(d)) for a, b, c, d in ledger])
    crowd = [row for row in ledger if str(row[0]).startswith("crowd-")]
    assert Counter(row[2] for row in crowd) == {"sent": people}
    doubtful = sum(1 for row in ledger if row[3] or row[2] == "uncertain")
    sys.stdout.write(f"{len(ledger)} deliveries, {doubtful} possibly twice, {copies} copies beyond the first\n")
    assert denied == 0, "every copy beyond the first is admitted in the ledger"
