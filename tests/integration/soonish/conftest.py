"""An event with its people in a real database."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import DeliveryState
from pressbox.delivery.ports import Claim, DeliveryResult
from pressbox.soonish.adapters.event_rows import facts_to_json, read_facts
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import (
    DeliveryRow,
    EventRow,
    EventVersionRow,
    NotificationRow,
    SelectorRow,
    SubscriptionRow,
)
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ports import DueDelivery

ROUND = Claim("this round", timedelta(seconds=30))
START = datetime(2027, 5, 1, 17, 30, tzinfo=UTC)
NOW = datetime(2027, 4, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class World:
    """Writes rows as the service would, without its rules."""

    database: Database
    organiser_id: int
    event_id: int

    async def user(self, *, name: str = "") -> int:
        async with self.database.unit_of_work() as work:
            row = UserRow(
                email=f"{secrets.token_hex(4)}@example.org", name=name, password_hash="unusable", role="member"
            )
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def channel(
        self, user_id: int, *tags: str, target: bytes | None = None, broken: bool = False, is_active: bool = True
    ) -> int:
        async with self.database.unit_of_work() as work:
            row = ChannelRow(
                user_id=user_id,
                name="Phone",
                tags=list(tags),
                is_active=is_active,
                encrypted_url=b"sealed",
                key_id="k",
                kind="json",
                target=target or secrets.token_bytes(8),
                broken_at=NOW if broken else None,
            )
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def subscriber(
        self,
        *,
        channel_ids: tuple[int, ...] = (),
        tags: tuple[str, ...] = (),
        user_id: int | None = None,
        state: SubscriptionState = SubscriptionState.ACTIVE,
        own_offsets: bool = False,
        organiser_only: bool = False,
    ) -> int:
        user_id = user_id or await self.user()
        async with self.database.unit_of_work() as work:
            row = SubscriptionRow(
                event_id=self.event_id,
                user_id=user_id,
                state=state,
                own_offsets=own_offsets,
                organiser_only=organiser_only,
            )
            work.session.add(row)
            await work.session.flush()
            work.session.add_all(SelectorRow(subscription_id=row.id, channel_id=item) for item in channel_ids)
            work.session.add_all(SelectorRow(subscription_id=row.id, tag=tag) for tag in tags)
            return row.id

    async def by_address(self, state: SubscriptionState = SubscriptionState.ACTIVE) -> int:
        async with self.database.unit_of_work() as work:
            contact = ContactRow(
                kind="email", encrypted_address=b"sealed", key_id="k", target=secrets.token_bytes(8), shown="a***"
            )
            work.session.add(contact)
            await work.session.flush()
            row = SubscriptionRow(event_id=self.event_id, contact_id=contact.id, state=state)
            work.session.add(row)
            await work.session.flush()
            return row.id

    async def edit(self, **values: object) -> None:
        async with self.database.unit_of_work() as work:
            row = await work.session.get_one(EventRow, self.event_id)
            for name, value in values.items():
                setattr(row, name, value)
            row.version += 1
            work.session.add(
                EventVersionRow(event_id=row.id, version=row.version, facts=facts_to_json(read_facts(row)))
            )

    async def ledger(self, notification_id: int) -> list[DeliveryRow]:
        statement = select(DeliveryRow).where(DeliveryRow.notification_id == notification_id).order_by(DeliveryRow.id)
        async with self.database.unit_of_work() as work:
            return list(await work.session.scalars(statement))


async def write_delivery(database: Database, event_id: int, subscription_id: int) -> int:
    """A delivery that waits, of a message to this person alone."""
    async with database.unit_of_work() as work:
        message = NotificationRow(
            event_id=event_id, cause="announcement", version=str(subscription_id), level="info", title="", body=""
        )
        work.session.add(message)
        await work.session.flush()
        row = DeliveryRow(
            notification_id=message.id,
            event_id=event_id,
            subscription_id=subscription_id,
            cause=message.cause,
            version=message.version,
            channel_key="channel:1",
            state=DeliveryState.PENDING,
        )
        work.session.add(row)
        await work.session.flush()
        return row.id


_LATER = text("""
    UPDATE soonish.deliveries
    SET next_try_at = next_try_at - CAST(:later AS interval), claimed_until = claimed_until - CAST(:later AS interval)
    WHERE notification_id = :id
""")


async def let_pass(database: Database, notification_id: int, later: timedelta) -> None:
    """Make deliveries as old as they are after that time: what is due is decided by the database's clock."""
    async with database.unit_of_work() as work:
        await work.session.execute(_LATER, {"id": notification_id, "later": later})


async def claim(
    database: Database, notification_id: int, *, later: timedelta = timedelta(0), by: Claim = ROUND
) -> Sequence[DueDelivery]:
    """What a round gets after that time. Whatever was claimed before has lapsed when `later` is longer than a lease."""
    await let_pass(database, notification_id, later)
    return await SqlLedger(database).claim_due(notification_id, by, 500, opens=False)


async def attempt(database: Database, results: Sequence[DeliveryResult], *, by: Claim = ROUND) -> None:
    """What a round does with what it holds."""
    ledger = SqlLedger(database)
    await ledger.note_tries([item.delivery_id for item in results], by)
    await ledger.record_results(results, by)


@pytest.fixture
async def world(database: Database) -> World:
    async with database.unit_of_work() as work:
        organiser = UserRow(email="organiser@example.org", password_hash="unusable", role="member")
        work.session.add(organiser)
        await work.session.flush()
        event = EventRow(
            slug=secrets.token_urlsafe(8),
            organiser_id=organiser.id,
            name="Summer fair",
            start_date=START,
            end_date=START + timedelta(hours=3),
            location="Town hall",
            timezone="Europe/Berlin",
            visibility=Visibility.PUBLIC,
            status=EventStatus.ACTIVE,
            description="",
            version=1,
        )
        work.session.add(event)
        await work.session.flush()
        work.session.add(EventVersionRow(event_id=event.id, version=1, facts=facts_to_json(read_facts(event))))
        return World(database, organiser.id, event.id)
