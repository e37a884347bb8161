"""Targets that really hang, beside as many that answer: who answers gets the message, whoever else is on the page."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from pressbox.core.config import HttpSettings
from pressbox.core.http.proxy import GuardedProxy
from pressbox.delivery.adapters.address_book import AddressBook
from pressbox.delivery.adapters.apprise_sender import AppriseSender
from pressbox.delivery.adapters.mailer import SmtpMailer
from pressbox.delivery.adapters.routing_sender import MailRoute, RoutingSender
from pressbox.delivery.adapters.send_lanes import SendLanes, SqlLaneStore
from pressbox.delivery.adapters.send_limits import SendLimits
from pressbox.delivery.domain.attempts import Level
from pressbox.delivery.domain.pacing import Lane, mail_pace
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.activities.dispatch import Dispatcher
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.wordings import SqlWordings
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.links import SignedLinks
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.settings import SoonishSettings
from tests.integration.soonish.conftest import World

EACH = 250
PER_HOST = 16
LINKS = SignedLinks("https://events.example.org", ("a key of at least thirty-two characters",))
_PEOPLE = text("""
    WITH contact AS (
        INSERT INTO soonish.contacts (kind, encrypted_address, key_id, target, shown, verified_at)
        SELECT 'json', convert_to(:url || number, 'UTF8'), 'k', sha256(convert_to(:url || number, 'UTF8')), '', now()
        FROM generate_series(1, :each) AS number
        RETURNING id
    )
    INSERT INTO soonish.subscriptions (event_id, contact_id, state)
    SELECT :event_id, contact.id, 'active' FROM contact RETURNING id
""")
_COUNT = text("""
    SELECT count(*) FILTER (WHERE state = 'sent'), count(*) FILTER (WHERE tries > 0)
    FROM soonish.deliveries WHERE subscription_id = ANY(CAST(:people AS bigint[]))
""")


@pytest.mark.slow
@pytest.mark.limit(900)
async def test_two_hundred_and_fifty_that_hang_hold_up_nobody_who_answers(world: World) -> None:
    async with NotificationTarget() as target, NotificationTarget() as silent:
        silent.tell("", Kind.HANGING)
        # The name and the number are two hosts to whoever counts how many go to one.
        hanging = await _add(world, f"json://localhost:{silent.port}/hang-")
        quick = await _add(world, f"json://127.0.0.1:{target.port}/quick-")
        lanes = SendLanes(SqlLaneStore(world.database))
        limits = SendLimits(at_once=64, at_once_per_host=PER_HOST, seconds=5.0)
        proxy = GuardedProxy(HttpSettings(allow=("127.0.0.0/8", "::1/128", f"localhost:{silent.port}")))
        apprise = AppriseSender(proxy, lanes, limits)
        book = AddressBook(world.database, lambda encrypted, _: encrypted.decode())
        mail = MailRoute(SmtpMailer(SoonishSettings()), 1, Lane("mail", mail_pace(60)))
        sender = RoutingSender(book, apprise, mail, lanes, None)
        ledger = SqlLedger(world.database)
        # Those that hang come first in every page.
        number = await ledger.accept_message(
            world.event_id, Cause.ANNOUNCEMENT, "a", Level.INFO, MessageText("Room", "Room 2"), [*hanging, *quick]
        )
        dispatcher = Dispatcher(ledger, sender, LINKS, SqlWordings(world.database, LINKS), lease=timedelta(seconds=30))
        rounds = 0
        try:
            while (await _count(world, quick))[0] < EACH:
                rounds += 1
                assert rounds < 10, "each round sends to many of those who answer"
                await dispatcher.send_due(number, 64, opens=True)
        finally:
            await sender.close()
    sent, tried = await _count(world, hanging)
    assert sent == 0
    assert 0 < tried < EACH / 2, "most of those that hang wait for a better time; nobody waited for them"
    assert silent.received, "they had taken the message and never answered"
    assert len({item.key for item in target.received if item.key.startswith("quick-")}) == EACH
    assert len([item for item in target.received if item.key.startswith("quick-")]) == EACH, "once each"


async def _add(world: World, url: str) -> list[int]:
    async with world.database.unit_of_work() as work:
        values = {"url": url, "each": EACH, "event_id": world.event_id}
        return sorted(await work.session.scalars(_PEOPLE, values))


async def _count(world: World, people: list[int]) -> tuple[int, int]:
    async with world.database.unit_of_work() as work:
        sent, tried = (await work.session.execute(_COUNT, {"people": people})).one()
        return sent, tried
