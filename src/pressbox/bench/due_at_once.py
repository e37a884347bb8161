"""`pressbox bench due`: ten thousand reminders of one event that are due in the same second; nobody may be left out."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import text

from pressbox.bench.crowds import gather_crowd
from pressbox.bench.instance import further_workers, instance_resources, measured_instance, temporary_home
from pressbox.bench.report import Better, Figure, Report, Say, describe_machine
from pressbox.core.app import Resources
from pressbox.demo.instance import Instance
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.embedded.ports import free_port

PEOPLE = 10_000
OFFSET_SECONDS = 900
# Long enough to sign everybody up and to make the schedule before it is due.
PREPARING = timedelta(seconds=45)
LONGEST_SECONDS = 1_800.0
EVENTS_AIM = 0.2

_LEDGER = text("""
    SELECT count(*), count(*) FILTER (WHERE delivery.state = 'sent'),
        count(*) FILTER (WHERE delivery.state NOT IN ('sent', 'pending')), max(delivery.finished_at)
    FROM soonish.deliveries AS delivery
    JOIN soonish.notifications AS message ON message.id = delivery.notification_id
    JOIN soonish.events AS event ON event.id = message.event_id
    WHERE event.slug = :slug AND delivery.cause = 'reminder'
""")


@dataclass(frozen=True)
class DueAtOnce:
    """What became of reminders of one second; `events` is what all workflows that sent them have in their histories."""

    people: int
    sent: int
    ended_otherwise: int
    received: int
    seconds: float
    events: int


def run_due_at_once(say: Say, people: int = PEOPLE, workers: int = 1) -> Report:
    """Takes a few minutes, on a temporary home."""
    machine, port = describe_machine(), free_port()
    settings = {
        "PRESSBOX_HTTP_ALLOW": f"127.0.0.1:{port}",
        "PRESSBOX_SOONISH_APPRISE_API_URL": "",
        # The message about the edit would be counted.
        "PRESSBOX_SOONISH_MERGE_WINDOW_SECONDS": "3600",
    }
    with (
        temporary_home() as home,
        measured_instance(home, **settings) as instance,
        further_workers(instance, workers - 1, "soonish", **settings),
    ):
        found = asyncio.run(_measure(instance, port, people, say))
    return Report(name="due", measured_at=datetime.now(UTC), machine=machine, figures=_figures(found, workers))


async def _measure(instance: Instance, port: int, people: int, say: Say) -> DueAtOnce:
    client = httpx.AsyncClient(base_url=f"{instance.web_url}/api/soonish", trust_env=False, timeout=60.0)
    async with instance_resources(instance) as resources, client, NotificationTarget(port) as target:
        due = (datetime.now(UTC) + PREPARING).replace(microsecond=0)
        say(f"{people:,} people")
        crowd = await gather_crowd(
            client,
            resources.database,
            start=due + timedelta(seconds=OFFSET_SECONDS),
            url=target.apprise_url("due"),
            read_message=target.read_last,
            people=people,
            choose_offsets=lambda _: (OFFSET_SECONDS,),
        )
        target.forget()
        say(f"Waiting for {due:%H:%M:%S} UTC")
        deadline = asyncio.get_running_loop().time() + LONGEST_SECONDS
        while True:
            noted, sent, otherwise, last = await _read_ledger(resources, crowd.slug)
            if sent + otherwise >= people or asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(0.5)
        seconds = (last - due).total_seconds() if last is not None else LONGEST_SECONDS
        received = len(target.of("due"))
        say(f"{noted:,} noted, {sent:,} sent")
        return DueAtOnce(people, sent, otherwise, received, seconds, await _count_events(resources))


async def _read_ledger(resources: Resources, slug: str) -> tuple[int, int, int, datetime | None]:
    async with resources.database.unit_of_work() as work:
        noted, sent, otherwise, last = (await work.session.execute(_LEDGER, {"slug": slug})).one()
        return noted, sent, otherwise, last


async def _count_events(resources: Resources) -> int:
    total = 0
    async for run in resources.temporal.list_workflows("WorkflowType = 'ReminderWorkflow'"):
        total += run.history_length
    return total


def _figures(found: DueAtOnce, workers: int) -> tuple[Figure, ...]:
    shared = "one worker" if workers == 1 else f"{workers} workers"
    return (
        Figure(
            name=f"{found.people:,} due in one second, {shared}",
            value=found.sent / found.seconds,
            unit="per second",
            better=Better.HIGHER,
            note=f"the last one was sent {found.seconds:.1f} s after it was due",
        ),
        Figure(name="not sent", value=found.people - found.sent, unit="reminders", aim=0),
        Figure(name="ended as failed, skipped or uncertain", value=found.ended_otherwise, unit="reminders", aim=0),
        Figure(name="copies beyond one each", value=found.received - found.sent, unit="messages", aim=0),
        Figure(name="history events of a reminder", value=found.events / found.people, unit="events", aim=EVENTS_AIM),
    )
