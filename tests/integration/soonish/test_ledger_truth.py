"""The ledger after one message to targets of every kind: it says what is true of each, and none delays the others."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from pressbox.core.config import HttpSettings, Settings
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.routing_sender import build_sender
from pressbox.delivery.adapters.rows import ContactRow
from pressbox.delivery.domain.attempts import Level
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, Request
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import DeliveryRow, EventRow, SubscriptionRow
from pressbox.soonish.adapters.unwanted import UnwantedDeliveries
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from tests.integration.soonish.conftest import World, let_pass
from tests.waiting import look_until, until

QUICK = 30


@pytest.fixture
async def target() -> AsyncIterator[NotificationTarget]:
    async with NotificationTarget() as target:
        yield target


class Mailing:
    """One message to one person per named target."""

    def __init__(self, world: World, target: NotificationTarget) -> None:
        self.world = world
        self.target = target
        self.vault = AddressVault(["an instance key"])
        self.ledger = SqlLedger(world.database)
        settings = Settings(http=HttpSettings(allow=(f"127.0.0.1:{target.port}", "127.0.0.1:1")))
        self.sender = build_sender(
            settings, world.database, self.vault.reveal, find_unwanted=UnwantedDeliveries(world.database).find
        )
        links = SignedLinks("https://example.org", ["key"])
        self.post = Dispatcher(self.ledger, self.sender, links, SqlWordings(world.database, links))
        self.names: dict[int, str] = {}
        self.notification_id = 0

    async def __aenter__(self) -> "Mailing":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.sender.close()

    async def person(self, name: str, url: str | None = None) -> None:
        sealed = self.vault.seal(url or self.target.apprise_url(name), "json", name)
        async with self.world.database.unit_of_work() as work:
            contact = ContactRow(
                kind="json", encrypted_address=sealed.encrypted, key_id=sealed.key_id, target=sealed.target, shown=name
            )
            work.session.add(contact)
            await work.session.flush()
            row = SubscriptionRow(
                event_id=self.world.event_id, contact_id=contact.id, state=SubscriptionState.ACTIVE, own_offsets=True
            )
            work.session.add(row)
            await work.session.flush()
            self.names[row.id] = name

    async def accept(self) -> None:
        self.notification_id = await self.ledger.accept_message(
            self.world.event_id,
            Cause.ANNOUNCEMENT,
            "1",
            Level.INFO,
            MessageText("Room", "Room 12."),
            sorted(self.names),
        )
        await self.ledger.open_batch(self.notification_id, 0, 100)

    async def try_once(self) -> None:
        await self.post.send_due(self.notification_id, 64)

    async def rows(self) -> dict[str, DeliveryRow]:
        found = await self.world.ledger(self.notification_id)
        return {self.names[row.subscription_id]: row for row in found}


async def test_the_ledger_says_what_is_true_of_every_kind_of_target(world: World, target: NotificationTarget) -> None:
    async with Mailing(world, target) as mailing:
        for name in ("good", "slow", "busy", "shaky", "reset", "gone", "down"):
            await mailing.person(name)
        await mailing.person("dead", "json://127.0.0.1:1/dead")
        target.tell("slow", Kind.SLOW, seconds=0.3)
        target.tell("busy", Kind.BUSY, seconds=900, times=1)
        target.tell("shaky", Kind.FAILING, times=2)
        target.tell("reset", Kind.RESET)
        target.tell("gone", Kind.GONE)
        target.tell("down", Kind.FAILING)
        await mailing.accept()
        begun = datetime.now(UTC)
        await mailing.try_once()
        first = await mailing.rows()
        assert {name: row.state for name, row in first.items()} == {
            "good": "sent",
            "slow": "sent",
            "busy": "pending",
            "shaky": "pending",
            "reset": "uncertain",
            "gone": "failed",
            "down": "pending",
            "dead": "pending",
        }
        wait = first["busy"].next_try_at
        assert wait is not None
        assert begun < wait - timedelta(minutes=15) <= datetime.now(UTC), "the wish of the target is obeyed"
        for later in (5, 15):
            await let_pass(world.database, mailing.notification_id, timedelta(seconds=later))
            await mailing.try_once()
        last = await mailing.rows()
        assert {name: (row.state, row.tries) for name, row in last.items() if name != "busy"} == {
            "good": ("sent", 1),
            "slow": ("sent", 1),
            "shaky": ("sent", 3),
            "reset": ("uncertain", 1),
            "gone": ("failed", 1),
            "down": ("failed", 3),
            "dead": ("failed", 3),
        }
        copies = {name: len(target.of(name)) for name in mailing.names.values()}
        assert copies == {"good": 1, "slow": 1, "busy": 0, "shaky": 1, "reset": 1, "gone": 0, "down": 0, "dead": 0}
        assert "410" in last["gone"].reason
        assert "500" in last["down"].reason


async def test_a_busy_target_gets_it_when_it_said(world: World, target: NotificationTarget) -> None:
    async with Mailing(world, target) as mailing:
        await mailing.person("busy")
        target.tell("busy", Kind.BUSY, seconds=1, times=1)
        await mailing.accept()

        async def tried() -> DeliveryRow:
            await mailing.try_once()
            return (await mailing.rows())["busy"]

        begun = datetime.now(UTC)
        row = await tried()
        assert (row.state, row.tries) == ("pending", 1)
        wait = row.next_try_at
        assert wait is not None
        assert wait >= begun + timedelta(seconds=1)
        row = await look_until(tried, lambda row: row.state == "sent", "the second try")
        assert row.tries == 2
        assert datetime.now(UTC) >= wait, "not before its moment"
        assert len(target.of("busy")) == 1


class Patient(NotificationTarget):
    """Its slow target answers when all the others have got their message."""

    async def answer(self, request: Request) -> Answer:
        if self.key_of(request) == "slow":
            await until(lambda: len(self.received) == QUICK)
        return await super().answer(request)


async def test_a_slow_target_delays_nobody_else(world: World) -> None:
    async with Patient() as target, Mailing(world, target) as mailing:
        await mailing.person("slow")
        for number in range(QUICK):
            await mailing.person(f"quick-{number}")
        await mailing.accept()
        await mailing.try_once()
        assert {row.state for row in (await mailing.rows()).values()} == {"sent"}


async def test_every_message_has_its_links_in_the_language_of_its_reader(
    world: World, target: NotificationTarget
) -> None:
    async with Mailing(world, target) as mailing:
        await mailing.person("good")
        async with world.database.unit_of_work() as work:
            await work.session.execute(update(SubscriptionRow).values(language="de", timezone="Asia/Tokyo"))
            slug = await work.session.scalar(select(EventRow.slug))
        await mailing.accept()
        await mailing.try_once()
        [received] = target.of("good")
        lines = received.body.split("\n")
        assert lines[0] == "Room 12."
        assert [line.rsplit(" ", 1)[0] for line in lines[2:]] == [
            "Seite des Termins:",
            "Anmeldung ändern:",
            "Warum bekomme ich das? Hier stummschalten:",
            "Abmelden:",
        ]
        assert lines[2].endswith(f"https://example.org/events/{slug}")
