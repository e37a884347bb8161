"""Moves an event while its reminders are firing, and counts who got none, one or two."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx
from sqlalchemy import text

from pressbox.bench.crowds import gather_crowd
from pressbox.core.db.database import Database
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.domain.reminders import WantedReminder, message_version

# Reminders fire every second for this time; in the middle of it the event moves by half of it.
FIRING = timedelta(seconds=20)
MOVE_BY = FIRING / 2
SHORTEST_OFFSET = 60
# Long enough to create the schedules before the first one fires.
PREPARING = timedelta(seconds=20)
LONGEST_SECONDS = 120.0

_NOTED = text("""
    SELECT count(*) FROM soonish.reminder_schedules AS schedule
    JOIN soonish.subscriptions AS subscription ON subscription.id = schedule.subscription_id
    JOIN soonish.events AS event ON event.id = subscription.event_id
    WHERE event.slug = :slug
""")
_SENT = text("""
    SELECT message.version FROM soonish.deliveries AS delivery
    JOIN soonish.notifications AS message ON message.id = delivery.notification_id
    JOIN soonish.events AS event ON event.id = message.event_id
    WHERE event.slug = :slug AND delivery.cause = 'reminder' AND delivery.state = 'sent'
""")


@dataclass(frozen=True)
class MovedWhileDue:
    sent_before: int
    sent_after: int
    expected_after: int
    lost: int
    doubled: int


async def measure_move_while_due(web_url: str, database: Database, port: int, *, people: int) -> MovedWhileDue:
    """Measure through the API and the worker of the instance. Reminders after the move are still in the future."""
    client = httpx.AsyncClient(base_url=f"{web_url}/api/soonish", trust_env=False, timeout=60.0)
    async with client, NotificationTarget(port) as target:
        spread = int(FIRING.total_seconds())
        start = (datetime.now(UTC) + PREPARING).replace(microsecond=0) + timedelta(seconds=SHORTEST_OFFSET + spread)
        crowd = await gather_crowd(
            client,
            database,
            start=start,
            url=target.apprise_url("due"),
            read_message=target.read_last,
            people=people,
            choose_offsets=lambda number: (SHORTEST_OFFSET + number % spread,),
        )
        slug = crowd.slug
        await _wait_for_schedules(database, slug, people)
        await _sleep_until(start - timedelta(seconds=SHORTEST_OFFSET) - FIRING / 2)
        moved = start + MOVE_BY
        await _patch_event(client, slug, start_date=moved.isoformat())
        owed = datetime.now(UTC)
        after = [WantedReminder(one, timedelta(seconds=seconds), moved) for one, seconds in crowd.reminders]
        expected = {message_version(item) for item in after if item.fire_at > owed}
        await _sleep_until(max(item.fire_at for item in after))
        sent = await _wait_for_messages(database, slug, expected)
        before = {message_version(WantedReminder(item.subscription_id, item.offset, start)) for item in after}
        received = [item for item in target.received if "starts in" in item.title]
        return MovedWhileDue(
            sent_before=len([version for version in sent if version in before]),
            sent_after=len([version for version in sent if version in expected]),
            expected_after=len(expected),
            lost=len(expected - set(sent)),
            doubled=len(received) - len(set(sent)),
        )


async def _patch_event(client: httpx.AsyncClient, slug: str, **changes: str) -> None:
    (await client.patch(f"/events/{slug}", json=changes)).raise_for_status()


async def _wait_for_schedules(database: Database, slug: str, people: int) -> None:
    async with asyncio.timeout(PREPARING.total_seconds()):
        while True:
            async with database.unit_of_work() as work:
                if await work.session.scalar(_NOTED, {"slug": slug}) == people:
                    return
            await asyncio.sleep(0.2)


async def _wait_for_messages(database: Database, slug: str, expected: set[str]) -> Sequence[str]:
    """Everything that was sent, once everybody expected has a message, or after a timeout."""
    deadline = datetime.now(UTC) + timedelta(seconds=LONGEST_SECONDS)
    while True:
        async with database.unit_of_work() as work:
            sent = [str(version) for version in await work.session.scalars(_SENT, {"slug": slug})]
        if expected <= set(sent) or datetime.now(UTC) > deadline:
            # A second copy would arrive right after the first.
            await asyncio.sleep(3)
            return sent
        await asyncio.sleep(1)


async def _sleep_until(moment: datetime) -> None:
    await asyncio.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()))
