"""From a channel key to the right address: loaded, decrypted, and given to mail, Apprise or the Apprise server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from sqlalchemy import update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConfigurationError
from pressbox.delivery.adapters.address_vault import AddressVault
from pressbox.delivery.adapters.routing_sender import RoutingSender, build_sender
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.ports import NoTurnError, OutgoingMessage
from pressbox.delivery.settings import SmtpSecurity
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.mail_sink import MailPolicy, MailSink
from pressbox.demo.simulators.notification_target import NotificationTarget
from pressbox.soonish.adapters.ledger import end_message
from pressbox.soonish.adapters.rows import DeliveryRow, SubscriptionRow
from pressbox.soonish.adapters.unwanted import UnwantedDeliveries
from pressbox.soonish.domain.delivery import SkipReason
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.settings import SoonishSettings
from tests.integration.soonish.conftest import World, write_delivery
from tests.statements import count_statements

MESSAGE = OutgoingMessage(
    "Room change", "Room 12.", Level.INFO, "https://example.org/why/1", "https://example.org/unsubscribe/1"
)
SIGNED = "Room 12.\n\nWhy did I get this? https://example.org/why/1\nUnsubscribe: https://example.org/unsubscribe/1"


@dataclass(frozen=True)
class Outside:
    database: Database
    vault: AddressVault
    target: NotificationTarget
    mail: MailSink
    user_id: int
    senders: list[RoutingSender] = field(default_factory=list)

    def sender(self, api: str | None = None, mails_per_minute: float = 600.0) -> RoutingSender:
        settings = self.settings(api, mails_per_minute)
        unwanted = UnwantedDeliveries(self.database).find
        self.senders.append(build_sender(settings, self.database, self.vault.reveal, find_unwanted=unwanted))
        return self.senders[-1]

    def settings(self, api: str | None = None, mails_per_minute: float = 600.0) -> Settings:
        return Settings(
            http=HttpSettings(allow=(f"127.0.0.1:{self.target.port}",)),
            applications=(
                SoonishSettings(
                    smtp_host="127.0.0.1",
                    smtp_port=self.mail.smtp_port,
                    smtp_from="events@example.org",
                    smtp_security=SmtpSecurity.NONE,
                    apprise_api_url=api,
                    mails_per_minute=mails_per_minute,
                ),
            ),
        )

    async def channel(self, name: str, *, is_active: bool = True) -> str:
        sealed = self.vault.seal(self.target.apprise_url(name), "json", "JSON")
        async with self.database.unit_of_work() as work:
            row = ChannelRow(
                user_id=self.user_id,
                name=name,
                is_active=is_active,
                encrypted_url=sealed.encrypted,
                key_id=sealed.key_id,
                kind=sealed.kind,
                target=sealed.target,
            )
            work.session.add(row)
            await work.session.flush()
            return f"channel:{row.id}"

    async def contact(self, address: str, kind: str) -> str:
        sealed = self.vault.seal(address, kind, "a***")
        async with self.database.unit_of_work() as work:
            row = ContactRow(
                kind=kind,
                encrypted_address=sealed.encrypted,
                key_id=sealed.key_id,
                target=sealed.target,
                shown=sealed.shown,
            )
            work.session.add(row)
            await work.session.flush()
            return f"contact:{row.id}"


@pytest.fixture
async def outside(database: Database, world: World) -> AsyncIterator[Outside]:
    async with NotificationTarget() as target, MailSink() as mail:
        outside = Outside(database, AddressVault(["an instance key"]), target, mail, world.organiser_id)
        yield outside
        for sender in outside.senders:
            await sender.close()


async def test_each_kind_of_address_goes_its_own_way(outside: Outside) -> None:
    sender = outside.sender()
    for key in (
        await outside.channel("phone"),
        await outside.contact(outside.target.apprise_url("stranger"), "json"),
        await outside.contact("anna@example.org", "email"),
    ):
        assert (await sender.send(key, MESSAGE)).result is AttemptResult.ACCEPTED
    assert [item.body for item in outside.target.received] == [SIGNED, SIGNED]
    [mail] = outside.mail.to("anna@example.org")
    assert mail.body.strip() == SIGNED
    assert mail.headers["List-Unsubscribe"] == "<https://example.org/unsubscribe/1>"


async def test_mail_of_an_account_goes_to_the_address_that_it_has_now(outside: Outside) -> None:
    key = await outside.channel("mail")
    sealed = outside.vault.seal("before@example.org", "email", "")
    mail = {"kind": sealed.kind, "encrypted_url": sealed.encrypted, "target": sealed.target}
    async with outside.database.unit_of_work() as work:
        await work.session.execute(update(ChannelRow).values(mail))
        await work.session.execute(update(UserRow).where(UserRow.id == outside.user_id).values(email="now@example.org"))
    assert (await outside.sender().send(key, MESSAGE)).result is AttemptResult.ACCEPTED
    assert [len(outside.mail.to(f"{name}@example.org")) for name in ("before", "now")] == [0, 1]


async def test_a_test_message_has_no_links(outside: Outside) -> None:
    sender = outside.sender()
    await sender.send(await outside.channel("phone"), OutgoingMessage("Test", "It works.", Level.INFO, "", ""))
    await sender.send(
        await outside.contact("a@example.org", "email"), OutgoingMessage("Test", "It works.", Level.INFO, "", "")
    )
    assert outside.target.received[0].body == "It works."
    assert "List-Unsubscribe" not in outside.mail.received[0].headers


async def test_a_channel_that_is_gone_or_switched_off_is_refused(outside: Outside) -> None:
    sender = outside.sender()
    for key in (await outside.channel("off", is_active=False), "channel:999999", "contact:999999", "none"):
        assert (await sender.send(key, MESSAGE)).result is AttemptResult.REFUSED
    assert outside.target.received == []


async def test_with_an_apprise_server_nothing_but_mail_leaves_this_process(outside: Outside) -> None:
    class Server(HttpService):
        asked = 0

        async def answer(self, request: Request) -> Answer:
            Server.asked += 1
            return Answer.of({"error": None})

    async with Server() as server:
        sender = outside.sender(server.url)
        assert (await sender.send(await outside.channel("phone"), MESSAGE)).result is AttemptResult.ACCEPTED
        await sender.send(await outside.contact("anna@example.org", "email"), MESSAGE)
        relay = await outside.contact("mailto://mx.example.org?to=victim@example.org", "mailto")
        assert (await sender.send(relay, MESSAGE)).result is AttemptResult.REFUSED, "checked before it is handed on"
    assert Server.asked == 1
    assert outside.target.received == []
    assert len(outside.mail.received) == 1


async def test_mail_of_two_processes_together_keeps_the_pace_of_the_server(outside: Outside) -> None:
    senders = [outside.sender(mails_per_minute=0.1) for _ in range(2)]
    keys = [await outside.contact(f"p{number}@example.org", "email") for number in range(4)]
    attempts = await asyncio.gather(*(sender.send(key, MESSAGE) for sender in senders for key in keys))
    assert sorted(attempt.result for attempt in attempts) == sorted(
        [AttemptResult.ACCEPTED, *[AttemptResult.UNAVAILABLE] * 7]
    )
    assert len(outside.mail.received) == 1
    with pytest.raises(NoTurnError):
        async with senders[1].turn(keys[3]):
            pytest.fail("it has no turn")


async def test_a_mail_server_that_is_away_is_left_alone_by_all_and_delays_nobody_else(outside: Outside) -> None:
    first, second = outside.sender(), outside.sender()
    phone, mail = await outside.channel("phone"), await outside.contact("anna@example.org", "email")
    outside.mail.policy = MailPolicy(greeting=b"421 Too many connections\r\n")
    assert (await first.send(mail, MESSAGE)).is_own_fault
    for sender in (first, second):
        with pytest.raises(NoTurnError) as caught:
            async with sender.turn(mail):
                pytest.fail("nobody asks the server again so soon")
        assert caught.value.wait > timedelta(seconds=5)
    assert outside.mail.connections == 1
    assert (await second.send(phone, MESSAGE)).result is AttemptResult.ACCEPTED


async def test_what_a_target_asked_of_one_process_is_heard_by_the_other(outside: Outside) -> None:
    first, second = outside.sender(), outside.sender()
    busy, other = await outside.channel("busy"), await outside.channel("other")
    outside.target.tell("busy", Kind.BUSY, seconds=3000, times=1)
    assert (await first.send(busy, MESSAGE)).retry_after == timedelta(seconds=3000)
    held = await second.send(busy, MESSAGE)
    assert held.result is AttemptResult.UNAVAILABLE
    assert held.retry_after is not None
    assert held.retry_after > timedelta(seconds=1500)
    assert outside.target.of("busy") == []
    assert (await second.send(other, MESSAGE)).result is AttemptResult.ACCEPTED


async def test_many_at_once_share_a_few_statements(outside: Outside) -> None:
    keys = [await outside.channel(f"phone-{number}") for number in range(40)]
    sender = outside.sender()
    with count_statements(outside.database) as statements:
        attempts = await asyncio.gather(*(sender.send(key, MESSAGE) for key in keys))
    assert {attempt.result for attempt in attempts} == {AttemptResult.ACCEPTED}
    assert len([one for one in statements if "FROM soonish.channels" in one]) == 1


async def test_an_address_of_an_unknown_key_is_an_error_and_not_an_attempt(outside: Outside) -> None:
    """It is ours to mend: the channel of a person must not be called broken for it."""
    key = await outside.channel("phone")
    async with outside.database.unit_of_work() as work:
        await work.session.execute(update(ChannelRow).values(key_id="lost"))
    sender = outside.sender()
    with pytest.raises(ConfigurationError, match="PRESSBOX_SOONISH_OLD_SECRET_KEYS"):
        await sender.send(key, MESSAGE)


async def test_nothing_is_sent_that_was_stopped_muted_or_left_at_the_last_moment(
    outside: Outside, world: World
) -> None:
    sender = outside.sender()
    key = await outside.channel("phone")
    people = [await world.subscriber() for _ in range(4)]
    deliveries = [await write_delivery(world.database, world.event_id, number) for number in people]
    async with world.database.unit_of_work() as work:
        for number, state in ((people[1], SubscriptionState.MUTED), (people[2], SubscriptionState.LEFT)):
            mine = update(SubscriptionRow).where(SubscriptionRow.id == number)
            await work.session.execute(mine.values(state=state))
        last = await work.session.get_one(DeliveryRow, deliveries[3])
        await end_message(work, last.notification_id, "stopped", cancelled=True)
    attempts = [await sender.send(key, replace(MESSAGE, recipient_id=number)) for number in (*deliveries, 0)]
    assert [(attempt.result, attempt.reason) for attempt in attempts] == [
        (AttemptResult.ACCEPTED, ""),
        (AttemptResult.UNWANTED, SkipReason.MUTED),
        (AttemptResult.UNWANTED, SkipReason.LEFT),
        (AttemptResult.UNWANTED, SkipReason.BROADCAST_CANCELLED),
        (AttemptResult.UNWANTED, SkipReason.LEFT),
    ]
    assert len(outside.target.received) == 1
