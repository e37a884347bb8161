"""Sending a message again to those to whom it failed: once, only to them, and only to who still wants it."""

import asyncio

import pytest
from sqlalchemy import select

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.delivery.domain.attempts import DeliveryState, Verdict
from pressbox.delivery.domain.channels import ChannelInput
from pressbox.delivery.ports import DeliveryResult
from pressbox.soonish.adapters.rows import DeliveryRow
from pressbox.soonish.domain.delivery import MessageState, SkipReason
from pressbox.soonish.domain.views import EventView, Holder, MessageView, ResendView, Viewer
from pressbox.soonish.ports import DueDelivery
from pressbox.soonish.service.inputs import Announcement, Preferences
from tests.integration.soonish.conftest import ROUND, claim
from tests.integration.soonish.service_world import House

OUTCOMES = (DeliveryState.SENT, DeliveryState.FAILED, DeliveryState.FAILED, DeliveryState.UNCERTAIN)


class Mailing:
    """A finished announcement to four guests: sent, failed, failed, and perhaps arrived."""

    house: House
    organiser: int
    event: EventView
    message: MessageView
    deliveries: list[DueDelivery]

    @classmethod
    async def make(cls, house: House) -> "Mailing":
        self = cls()
        self.house, self.organiser = house, await house.person()
        self.event = await house.event(self.organiser)
        for number in range(len(OUTCOMES)):
            await house.guest(self.event.slug, f"ntfy://example.org/{number}", client=f"192.0.2.{number}")
        self.message = await house.service.board.announce(self.organiser, self.event.slug, Announcement("Doors at 7"))
        self.deliveries = await self.deliver(*OUTCOMES)
        return self

    async def deliver(self, *outcomes: DeliveryState) -> list[DueDelivery]:
        """What a broadcast does: every due delivery ends with these outcomes, in order."""
        ledger, number = self.house.ledger, self.message.id
        await ledger.open_batch(number, 0, 100)
        due = list(await claim(self.house.database, number))
        await ledger.note_tries([item.delivery_id for item in due], ROUND)
        results = [
            DeliveryResult(item.delivery_id, Verdict(state), "" if state is DeliveryState.SENT else "gone")
            for item, state in zip(due, outcomes, strict=True)
        ]
        await ledger.record_results(results, ROUND)
        await ledger.finish(number)
        return due

    async def resend(self, *deliveries: DueDelivery, with_uncertain: bool = False) -> ResendView:
        chosen = tuple(item.delivery_id for item in deliveries) or None
        return await self.house.service.board.resend(
            self.organiser, self.message.id, chosen, with_uncertain=with_uncertain
        )

    async def due(self) -> list[int]:
        found = [item.delivery_id for item in await claim(self.house.database, self.message.id)]
        await self.house.ledger.release(found, ROUND)
        return found

    async def row(self, delivery: DueDelivery) -> DeliveryRow:
        async with self.house.database.unit_of_work() as work:
            return await work.session.get_one(DeliveryRow, delivery.delivery_id)

    async def get_message(self) -> MessageView:
        return await self.house.service.board.get_message(self.organiser, self.message.id)


@pytest.fixture
async def mailing(database: Database) -> Mailing:
    return await Mailing.make(House(database))


async def test_only_what_failed_is_sent_again_with_fresh_tries(mailing: Mailing) -> None:
    assert (await mailing.get_message()).state is MessageState.INCOMPLETE
    sent = await mailing.resend()
    assert sent == ResendView(message_id=mailing.message.id, deliveries=2, skipped=0)
    _, first, second, _ = mailing.deliveries
    assert await mailing.due() == [first.delivery_id, second.delivery_id]
    assert mailing.house.temporal.signals[-1] == (mailing.event.id, "resend_message")
    assert (await mailing.get_message()).state is MessageState.SENDING
    await mailing.deliver(DeliveryState.SENT, DeliveryState.SENT)
    rows = await mailing.house.service.board.list_deliveries(mailing.organiser, mailing.message.id)
    assert [row.tries for row in rows] == [1, 2, 2, 1], "earlier tries stay counted"
    assert [row.state for row in rows] == [DeliveryState.SENT] * 3 + [DeliveryState.UNCERTAIN]


async def test_one_delivery_can_be_sent_again_alone(mailing: Mailing) -> None:
    await mailing.resend(mailing.deliveries[1])
    assert await mailing.due() == [mailing.deliveries[1].delivery_id]


async def test_two_clicks_at_once_send_once(mailing: Mailing) -> None:
    answers = await asyncio.gather(mailing.resend(), mailing.resend(), return_exceptions=True)
    assert sorted(type(answer).__name__ for answer in answers) == ["ConflictError", "ResendView"]
    waiting = [signal for _, signal in mailing.house.temporal.signals if signal == "resend_message"]
    assert len(waiting) == 1


async def test_what_may_have_arrived_needs_a_word_and_is_marked(mailing: Mailing) -> None:
    perhaps = mailing.deliveries[3]
    with pytest.raises(ConflictError):
        await mailing.resend(perhaps)
    assert (await mailing.get_message()).finished_at is not None, "a refused request changes nothing"
    await mailing.resend(perhaps, with_uncertain=True)
    assert await mailing.due() == [perhaps.delivery_id]
    assert (await mailing.row(perhaps)).maybe_twice


async def test_who_has_left_or_muted_the_event_gets_nothing(mailing: Mailing) -> None:
    _, first, second, _ = mailing.deliveries
    subscriptions = mailing.house.service.subscriptions
    await subscriptions.leave(Holder(first.subscription_id))
    assert await mailing.resend() == ResendView(message_id=mailing.message.id, deliveries=1, skipped=1)
    await mailing.deliver(DeliveryState.FAILED)
    await subscriptions.mute(Holder(second.subscription_id))
    with pytest.raises(ConflictError, match="nothing to send again"):
        await mailing.resend()


async def test_nobody_else_can_send_it_again(mailing: Mailing) -> None:
    stranger = await mailing.house.person()
    with pytest.raises(NotFoundError):
        await mailing.house.service.board.resend(stranger, mailing.message.id)


async def test_messages_of_a_deleted_event_are_not_sent_again(mailing: Mailing) -> None:
    house = mailing.house
    await house.service.events.delete(mailing.organiser, mailing.event.slug)
    with pytest.raises(NotFoundError):
        await mailing.resend()


async def test_who_has_another_channel_by_now_gets_it_there(database: Database) -> None:
    house = House(database)
    organiser, member = await house.person(), await house.person()
    event = await house.event(organiser)
    old = await house.channel(member, "events")
    await house.service.subscriptions.subscribe(Viewer(member), event.slug, Preferences(tags=("events",)))
    mailing = Mailing()
    mailing.house, mailing.organiser, mailing.event = house, organiser, event
    mailing.message = await house.service.board.announce(organiser, event.slug, Announcement("Doors at 7"))
    [failed] = await mailing.deliver(DeliveryState.FAILED)
    await house.service.channels.remove(member, old.id)
    new = await house.service.channels.add(member, ChannelInput("New", "ntfy://example.org/new", ("events",)))
    assert (await mailing.resend()).deliveries == 1
    row = await mailing.row(failed)
    assert (row.state, row.reason) == (DeliveryState.SKIPPED, SkipReason.CHANNEL_REPLACED)
    async with database.unit_of_work() as work:
        pending = select(DeliveryRow.channel_key).where(DeliveryRow.state == DeliveryState.PENDING)
        mine = pending.where(DeliveryRow.notification_id == mailing.message.id)
        assert (await work.session.scalars(mine)).all() == [f"channel:{new.id}"]
