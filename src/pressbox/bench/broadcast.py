"""`pressbox bench broadcast`: one message to ten thousand people, compared with one HTTP call after the other."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import text

from pressbox.bench.crowds import gather_crowd
from pressbox.bench.instance import further_workers, measured_instance, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.bench.simulator import run_simulator
from pressbox.core.config import TemporalSettings
from pressbox.core.db.database import Database
from pressbox.core.temporal.client import connect
from pressbox.demo.instance import Instance
from pressbox.demo.simulators.behaviour import Behaviour, Kind
from pressbox.soonish.ids import broadcast_workflow_id

DELIVERIES = 10_000
SAMPLED = 100
TARGET_SECONDS = 0.1
TIMES_FASTER_AIM = 25.0
HISTORY_EVENTS_AIM = 2_000
LONGEST_SECONDS = 900.0

_MESSAGE = text("""
    SELECT message.created_at, message.finished_at,
        count(*) FILTER (WHERE delivery.state = 'sent'), count(delivery.id), count(*) FILTER (WHERE delivery.tries > 1)
    FROM soonish.notifications AS message
    LEFT JOIN soonish.deliveries AS delivery ON delivery.notification_id = message.id
    WHERE message.id = :id GROUP BY message.id
""")


@dataclass(frozen=True)
class Broadcast:
    """The result of one message. `received` counts what arrived at the target."""

    seconds: float
    deliveries: int
    sent: int
    tried_again: int
    received: int
    history_events: int


@dataclass(frozen=True)
class Loops:
    """Deliveries per second, one after the other: with a client for each call, and with one client for all."""

    original: float
    kept_client: float


def run_broadcast(say: Say, deliveries: int = DELIVERIES, workers: int = 1) -> Report:
    """Takes a minute or two, on a temporary home."""
    machine = describe_machine()
    with _run_target() as target, temporary_home() as home:
        allow = httpx.URL(target).netloc.decode()
        settings = {"PRESSBOX_HTTP_ALLOW": allow, "PRESSBOX_SOONISH_APPRISE_API_URL": ""}
        with (
            measured_instance(home, **settings) as instance,
            further_workers(instance, workers - 1, "soonish", **settings),
        ):
            ours, loops = asyncio.run(_measure(instance, target, deliveries, say))
    figures = _figures(ours, loops, workers)
    return Report(name="broadcast", measured_at=datetime.now(UTC), machine=machine, figures=figures)


async def _measure(instance: Instance, target: str, deliveries: int, say: Say) -> tuple[Broadcast, Loops]:
    database = Database(instance.endpoints.database_url)
    client = httpx.AsyncClient(base_url=f"{instance.web_url}/api/soonish", trust_env=False, timeout=60.0)
    try:
        async with client:
            say(f"One after the other: {SAMPLED} deliveries")
            loops = Loops(await _send_in_turn(target), await _send_in_turn(target, kept=True))
            say(f"{deliveries:,} subscribers")
            slug = await _create_event(client, database, target, deliveries)
            say(f"One message to {deliveries:,}")
            return await _measure_broadcast(client, database, instance, target, slug), loops
    finally:
        await database.close()


async def _send_in_turn(target: str, *, kept: bool = False) -> float:
    """The loop of the original document: a client for each call, or one that is kept, and the next call when the last
    one was answered."""
    message = {"title": "Room change", "message": "We meet in room 12.", "type": "info"}
    began = time.perf_counter()
    async with httpx.AsyncClient(timeout=30.0, trust_env=False) as one:
        for number in range(SAMPLED):
            async with nullcontext(one) if kept else httpx.AsyncClient(timeout=30.0) as client:
                (await client.post(f"{target}/loop-{number}", json=message)).raise_for_status()
    return SAMPLED / (time.perf_counter() - began)


async def _create_event(client: httpx.AsyncClient, database: Database, target: str, people: int) -> str:
    async def read_message() -> str:
        return str((await client.get(f"{target}/-/received")).json()[-1]["body"])

    # Without reminders, because ten thousand schedules are another benchmark.
    start, url = datetime.now(UTC) + timedelta(days=30), f"json://{httpx.URL(target).netloc.decode()}/bench"
    crowd = await gather_crowd(client, database, start=start, url=url, read_message=read_message, people=people)
    return crowd.slug


async def _measure_broadcast(
    client: httpx.AsyncClient, database: Database, instance: Instance, target: str, slug: str
) -> Broadcast:
    await client.delete(f"{target}/-/received")
    announcement = {"text": "We meet in room 12."}
    message = (await client.post(f"/events/{slug}/announce", json=announcement)).raise_for_status().json()
    number = int(message["id"])
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            async with database.unit_of_work() as work:
                created, finished, sent, deliveries, again = (
                    await work.session.execute(_MESSAGE, {"id": number})
                ).one()
            if finished is not None:
                break
            await asyncio.sleep(0.5)
    received = len((await client.get(f"{target}/-/received")).json())
    temporal = await connect(TemporalSettings(), instance.endpoints.temporal_address, lazy=False)
    async with database.unit_of_work() as work:
        event_id = await work.session.scalar(text("SELECT id FROM soonish.events WHERE slug = :slug"), {"slug": slug})
    assert isinstance(event_id, int)
    history = await temporal.get_workflow_handle(broadcast_workflow_id(event_id, number)).fetch_history()
    return Broadcast((finished - created).total_seconds(), deliveries, sent, again, received, len(history.events))


@contextmanager
def _run_target() -> Iterator[str]:
    with run_simulator("pressbox.demo.simulators.notification_target") as url:
        slow = Behaviour(kind=Kind.SLOW, seconds=TARGET_SECONDS)
        httpx.put(f"{url}/-/behaviours", content=slow.model_dump_json(), trust_env=False).raise_for_status()
        yield url


def _figures(ours: Broadcast, loops: Loops, workers: int) -> tuple[Figure, ...]:
    shared = "one worker" if workers == 1 else f"{workers} workers"
    rate = ours.deliveries / ours.seconds
    return (
        Figure(
            name=f"broadcast to {ours.deliveries:,}, {shared}",
            value=rate,
            unit="per second",
            better=Better.HIGHER,
            peer=loops.original,
            peer_name=f"one after the other, {SAMPLED} sampled",
            aim=TIMES_FASTER_AIM * loops.original,
            note=f"{ours.seconds:.1f} s from accepted to finished; the target takes {TARGET_SECONDS:g} s",
        ),
        Figure(
            name="times faster than the loop",
            value=rate / loops.original,
            unit="times",
            better=Better.HIGHER,
            aim=TIMES_FASTER_AIM,
        ),
        Figure(
            name="times faster than a loop that keeps its client",
            value=rate / loops.kept_client,
            unit="times",
            better=Better.HIGHER,
            note=f"{loops.kept_client:.2f} per second",
        ),
        Figure(
            name="deliveries that are not sent",
            value=ours.deliveries - ours.sent,
            unit="deliveries",
            aim=0,
            note=f"{ours.tried_again} were tried again",
        ),
        Figure(name="copies beyond one each", value=ours.received - ours.sent, unit="messages", aim=0),
        Figure(
            name="events in the broadcast's history", value=ours.history_events, unit="events", aim=HISTORY_EVENTS_AIM
        ),
    )
