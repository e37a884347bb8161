"""`pressbox bench cancellation`: how soon people hear that an event with thousands of reminders is cancelled."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx
from sqlalchemy import text

from pressbox.bench.crowds import gather_crowd
from pressbox.bench.instance import measured_instance, temporary_home
from pressbox.bench.report import Figure, Report, Say, describe_machine
from pressbox.core.db.database import Database
from pressbox.demo.instance import Instance
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.embedded.ports import free_port

CountT = TypeVar("CountT")
PEOPLE = 10_000
OFFSETS = (3600, 86_400)
FIRST_SECONDS_AIM = 2.0
LONGEST_SECONDS = 1800.0
# Who hears it is told by the number of messages, and when by the first of them.
PAUSE_SECONDS = 0.02

# Of a large event one schedule serves everybody who chose an offset, and everybody here chose the same.
_SCHEDULES = text("""
    SELECT (SELECT count(*) FROM soonish.reminder_schedules AS own WHERE own.event_id = event.id),
        (SELECT count(*) FROM soonish.reminder_groups AS shared WHERE shared.event_id = event.id)
    FROM soonish.events AS event WHERE event.slug = :slug
""")


@dataclass(frozen=True)
class Cancelled:
    """Seconds from the request to cancel; `left` schedules existed when the first person heard of it."""

    people: int
    schedules: int
    first: float
    last: float
    cleaned_up: float
    left: int


def run_cancellation(say: Say, people: int = PEOPLE) -> Report:
    """Takes several minutes, most of them to create the schedules, on a temporary home."""
    machine, port = describe_machine(), free_port()
    environment = {
        "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{port}",
        "PRESSBOX_SOONISH_APPRISE_API_URL": "",
        # The message about the edit would be counted.
        "PRESSBOX_SOONISH_MERGE_WINDOW_SECONDS": "3600",
    }
    with temporary_home() as home, measured_instance(home, **environment) as instance:
        found = asyncio.run(_measure(instance, port, people, say))
    return Report(name="cancellation", measured_at=datetime.now(UTC), machine=machine, figures=_figures(found))


async def _measure(instance: Instance, port: int, people: int, say: Say) -> Cancelled:
    database = Database(instance.endpoints.database_url)
    client = httpx.AsyncClient(base_url=f"{instance.web_url}/api/soonish", trust_env=False, timeout=60.0)
    try:
        async with client, NotificationTarget(port) as target:
            return await measure_cancellation(client, database, target, people, say)
    finally:
        await database.close()


async def measure_cancellation(
    client: httpx.AsyncClient, database: Database, target: NotificationTarget, people: int, say: Say
) -> Cancelled:
    """Through the API and the worker of a running instance."""
    slug = (
        await gather_crowd(
            client,
            database,
            start=datetime.now(UTC) + timedelta(days=30),
            url=target.apprise_url("all"),
            read_message=target.read_last,
            people=people,
            choose_offsets=lambda _: OFFSETS,
        )
    ).slug
    say(f"Schedules for {people * len(OFFSETS):,} reminders")
    wanted = ((people * len(OFFSETS), 0), (0, len(OFFSETS)))
    await _wait(lambda: _count_schedules(database, slug), lambda count: count in wanted)
    schedules = sum(await _count_schedules(database, slug))
    target.forget()
    say(f"Cancelling an event of {people:,} people")
    began = time.perf_counter()
    (await client.post(f"/events/{slug}/cancel")).raise_for_status()
    await _wait(lambda: _count_received(target), lambda count: count > 0)
    first = time.perf_counter() - began
    left = sum(await _count_schedules(database, slug))
    await _wait(lambda: _count_received(target), lambda count: count >= people)
    last = time.perf_counter() - began
    await _wait(lambda: _count_schedules(database, slug), lambda count: count == (0, 0))
    return Cancelled(people, schedules, first, last, time.perf_counter() - began, left)


async def _count_schedules(database: Database, slug: str) -> tuple[int, int]:
    """Those of single people, and those that everybody shares."""
    async with database.unit_of_work() as work:
        own, shared = (await work.session.execute(_SCHEDULES, {"slug": slug})).one()
        return own, shared


async def _count_received(target: NotificationTarget) -> int:
    return len(target.of("all"))


async def _wait(count: Callable[[], Awaitable[CountT]], is_enough: Callable[[CountT], bool]) -> None:
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            if is_enough(await count()):
                return
            await asyncio.sleep(PAUSE_SECONDS)


def _figures(found: Cancelled) -> tuple[Figure, ...]:
    return (
        Figure(
            name=f"first of {found.people:,} people heard",
            value=found.first,
            unit="seconds",
            aim=FIRST_SECONDS_AIM,
            note=f"{found.left:,} of {found.schedules:,} schedules were still there",
        ),
        Figure(name="last heard", value=found.last, unit="seconds"),
        Figure(name="all schedules deleted", value=found.cleaned_up, unit="seconds"),
    )
