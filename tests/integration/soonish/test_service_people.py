"""Channels, subscriptions, the board and private links through their use cases."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select, text, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.db.database import Database
from pressbox.core.errors import (
    ConflictError,
    GoneError,
    InvalidInputError,
    NotFoundError,
    NotSignedInError,
    TransientError,
)
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import AttemptResult, DeliveryState, Level, Verdict
from pressbox.delivery.domain.channels import ChannelInput
from pressbox.delivery.ports import DeliveryResult
from pressbox.soonish.adapters.reminders import SqlReminders
from pressbox.soonish.adapters.rows import EventRow, SubscriptionRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.links import Purpose
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import Holder, Viewer
from pressbox.soonish.service.inputs import Announcement, Preferences
from tests.integration.soonish.conftest import ROUND, claim
from tests.integration.soonish.service_world import START, House, soon

SECRET_URL = "ntfy://example.org/k3y-of-nobody-else"
ADDRESS = "guest.person@example.org"
CLIENT = "192.0.2.7"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def test_an_address_goes_in_and_never_comes_out(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    channel = await house.channel(organiser, url=SECRET_URL)
    joined = await house.guest(event.slug, SECRET_URL)
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, None, CLIENT)
    shown = repr((channel, joined, await house.service.board.list_subscribers(organiser, event.slug)))
    assert "k3y" not in shown
    async with house.database.unit_of_work() as work:
        names = await work.session.scalars(
            text("SELECT table_name FROM information_schema.tables WHERE table_schema = 'soonish'")
        )
        for name in names.all():
            rows = (await work.session.execute(text(f"SELECT * FROM soonish.{name}"))).all()
            everything = repr(
                [[bytes(value) if isinstance(value, memoryview) else value for value in row] for row in rows]
            )
            assert "k3y" not in everything, name
            assert "guest.person" not in everything, name
    assert channel.kind == "ntfy"


async def test_the_mail_of_an_account_is_one_target_also_after_its_address_changed(house: House) -> None:
    person = await house.person()
    house.service.channels.sends_mail = True
    await house.service.channels.add_email(person, ChannelInput("Mail", None))
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(UserRow).where(UserRow.id == person).values(email="now@example.org"))
    again = await house.service.channels.add_email(person, ChannelInput("Mail", None))
    assert [channel.id for channel in await house.service.channels.list(person)] == [again.id]
    await house.service.channels.add_email(person, ChannelInput("Mail, too", None))
    async with house.database.unit_of_work() as work:
        targets = (await work.session.scalars(select(ChannelRow.target).where(ChannelRow.user_id == person))).all()
    assert (len(targets), len(set(targets))) == (2, 1)


async def test_channels_are_their_owners_alone(house: House) -> None:
    owner, other = await house.person(), await house.person()
    channel = await house.channel(owner, "Family ", "family", "")
    assert channel.tags == ("family",)
    for attempt in (
        house.service.channels.get(other, channel.id),
        house.service.channels.test(other, channel.id),
        house.service.channels.change(other, channel.id, ChannelInput("Mine", None)),
        house.service.channels.remove(other, channel.id),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    event = await house.event(other)
    with pytest.raises(InvalidInputError) as caught:
        await house.service.subscriptions.subscribe(Viewer(other), event.slug, Preferences(channel_ids=(channel.id,)))
    assert caught.value.field == "channel_ids"
    assert await house.service.subscriptions.list(other) == [], "nothing is half-written"
    assert (await house.service.channels.test(owner, channel.id)).result == "accepted"
    assert [key for key, _ in house.target.sent] == [f"channel:{channel.id}"]
    changed = await house.service.channels.change(owner, channel.id, ChannelInput("Pager", None, (), is_active=False))
    assert (changed.name, changed.is_active, changed.kind) == ("Pager", False, channel.kind)
    await house.service.channels.remove(owner, channel.id)
    assert await house.service.channels.list(owner) == []


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (ChannelInput(" ", SECRET_URL), "name"),
        (ChannelInput("Phone", None), "url"),
        (ChannelInput("Phone", "not an address"), "url"),
        (ChannelInput("Phone", "ntfy://" + "x" * 2_000), "url"),
        (ChannelInput("Phone", SECRET_URL, ("t" * 41,)), "tags"),
    ],
)
async def test_a_wrong_channel_names_its_field(house: House, wrong: ChannelInput, field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await house.service.channels.add(await house.person(), wrong)
    assert caught.value.field == field
    assert "k3y" not in repr(caught.value)


async def test_a_test_is_written_in_the_language_of_its_owner(house: House) -> None:
    person = await house.person()
    channel = await house.channel(person)
    await house.service.channels.test(person, channel.id)
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(UserRow).where(UserRow.id == person).values(language="de"))
    await house.service.channels.test(person, channel.id)
    assert [message.title for _, message in house.target.sent] == ["Test from Pressbox", "Test von Pressbox"]


async def test_a_test_that_arrives_mends_a_broken_channel(house: House) -> None:
    owner = await house.person()
    channel = await house.channel(owner)
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(ChannelRow).values(failures=3, broken_at=START, last_error="410"))
    house.target.result = AttemptResult.REFUSED
    await house.service.channels.test(owner, channel.id)
    assert (await house.service.channels.get(owner, channel.id)).broken_at == START
    house.target.result = AttemptResult.ACCEPTED
    await house.service.channels.test(owner, channel.id)
    assert await house.service.channels.get(owner, channel.id) == channel


async def test_an_address_that_is_given_again_is_tried_again(house: House) -> None:
    event = await house.event(await house.person())
    await house.guest(event.slug, SECRET_URL)
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(ContactRow).values(failures=3, broken_at=START))
    await house.service.guests.subscribe_by_url(Viewer(), event.slug, SECRET_URL, None, CLIENT)
    async with house.database.unit_of_work() as work:
        assert (await work.session.scalars(select(ContactRow.broken_at))).all() == [None]


async def test_a_subscriber_chooses_channels_tags_and_offsets(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event, channel = await house.event(organiser), await house.channel(follower, "family")
    house.temporal.signals.clear()
    preferences = Preferences(channel_ids=(channel.id,), tags=("Family",), offsets=(HOUR, DAY, HOUR))
    made = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, preferences)
    assert (made.state, made.offsets, made.channel_ids, made.tags) == (
        SubscriptionState.ACTIVE,
        (DAY, HOUR),
        (channel.id,),
        ("family",),
    )
    assert house.temporal.signals == [(event.id, "participant_added")]
    again = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences(offsets=()))
    assert (again.id, again.offsets, again.channel_ids) == (made.id, (), ())
    assert house.temporal.signals[-1] == (event.id, "participant_changed")
    default = await house.service.subscriptions.change(Holder(made.id, follower), Preferences(tags=("family",)))
    assert default.offsets is None
    with pytest.raises(NotSignedInError):
        await house.service.subscriptions.subscribe(Viewer(), event.slug, Preferences())
    with pytest.raises(NotFoundError):
        await house.service.subscriptions.get(Holder(made.id, organiser))


async def test_whoever_joins_during_a_cancellation_hears_of_it_or_cannot_join(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    async with house.database.unit_of_work() as work:
        row = await work.session.get_one(EventRow, event.id, with_for_update=True)
        joining = asyncio.create_task(
            house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
        )
        finished, _ = await asyncio.wait({joining}, timeout=0.5)
        assert not finished, "it waits for the cancellation"
        row.status = EventStatus.CANCELLED
    with pytest.raises(ConflictError):
        await joining


async def test_offsets_that_are_too_late_are_said_at_once(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(EventRow).values(start_date=soon(0.5)))
    made = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    assert made.too_late == (DAY,)
    changed = await house.service.subscriptions.change(Holder(made.id, follower), Preferences(offsets=(HOUR,)))
    assert changed.too_late == ()


async def test_muting_and_leaving_tell_the_workflow_and_coming_back_is_new(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    made = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    holder = Holder(made.id, follower)
    house.temporal.signals.clear()
    assert (await house.service.subscriptions.mute(holder)).state is SubscriptionState.MUTED
    assert (await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())).state == "muted"
    assert (await house.service.subscriptions.unmute(holder)).state is SubscriptionState.ACTIVE
    await house.service.subscriptions.leave(holder)
    await house.service.subscriptions.leave(holder)
    with pytest.raises(GoneError):
        await house.service.subscriptions.unmute(holder)
    assert await house.service.subscriptions.list(follower) == []
    await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    kinds = [kind for _, kind in house.temporal.signals]
    assert kinds == ["participant_changed"] * 3 + ["participant_removed", "participant_added"]


async def test_an_unconfirmed_address_gets_one_mail_and_nothing_else(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    house.temporal.signals.clear()
    subscriptions = house.service.subscriptions
    for spelling in (ADDRESS, f" {ADDRESS.upper()} "):
        await house.service.guests.subscribe_by_email(Viewer(), event.slug, spelling, (HOUR,), CLIENT)
    assert [(to, subject) for to, subject, _ in house.mailbox.sent] == [(ADDRESS, "Confirm: Summer fair")]
    await house.service.board.announce(organiser, event.slug, Announcement("Hello"))
    assert (await house.service.board.list_messages(organiser, event.slug))[0].recipients == 0
    assert await house.service.board.list_subscribers(organiser, event.slug) == []
    assert "participant_added" not in {kind for _, kind in house.temporal.signals}
    holder = house.holder(Purpose.CONFIRM, house.mailbox.link("confirm"))
    assert (await subscriptions.get(holder)).state is SubscriptionState.PENDING, "looking changes nothing"
    joined = await house.service.guests.confirm(holder)
    assert (joined.subscription.state, joined.subscription.offsets) == (SubscriptionState.ACTIVE, (HOUR,))
    assert joined.subscription.address == "g***@example.org"
    assert house.temporal.signals[-1] == (event.id, "participant_added")
    await house.service.guests.confirm(holder)
    manage = joined.manage_url.rpartition("/")[2]
    assert (await subscriptions.get(house.holder(Purpose.MANAGE, manage))).id == joined.subscription.id


async def test_a_confirmation_link_expires_and_another_can_be_asked_for(house: House) -> None:
    event = await house.event(await house.person())
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, None, CLIENT)
    holder = house.holder(Purpose.CONFIRM, house.mailbox.link("confirm"))
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(SubscriptionRow).values(confirm_until=soon(-1)))
    with pytest.raises(GoneError):
        await house.service.guests.confirm(holder)
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, None, CLIENT)
    assert len(house.mailbox.sent) == 2
    await house.service.guests.confirm(holder)


async def test_a_mail_that_did_not_go_out_can_be_asked_for_again(house: House) -> None:
    event = await house.event(await house.person())
    house.mailbox.away = True
    with pytest.raises(TransientError):
        await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, None, CLIENT)
    house.mailbox.away = False
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, None, CLIENT)
    assert len(house.mailbox.sent) == 1


async def test_somebody_else_cannot_change_a_subscription_by_giving_its_address_again(house: House) -> None:
    event = await house.event(await house.person())
    subscriptions = house.service.subscriptions
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, (HOUR,), CLIENT)
    joined = await house.service.guests.confirm(house.holder(Purpose.CONFIRM, house.mailbox.link("confirm")))
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, (), CLIENT)
    assert house.mailbox.sent[-1][1] == "Your subscription: Summer fair"
    assert (await subscriptions.get(Holder(joined.subscription.id))).offsets == (HOUR,)
    await house.service.guests.subscribe_by_email(Viewer(), event.slug, ADDRESS, (), CLIENT)
    assert len(house.mailbox.sent) == 2, "the same answer, and no third mail"


async def test_a_link_is_good_for_its_own_purpose_only(house: House) -> None:
    event = await house.event(await house.person())
    subscriptions = house.service.subscriptions
    joined = await house.guest(event.slug, SECRET_URL)
    number = joined.subscription.id
    tokens = {purpose: house.links.make_token(purpose, number) for purpose in Purpose}
    with pytest.raises(NotFoundError):
        house.holder(Purpose.MANAGE, tokens[Purpose.UNSUBSCRIBE])
    for wrong in (tokens[Purpose.MANAGE], tokens[Purpose.WHY], "", "x", f"{number:x}." + "A" * 24):
        with pytest.raises(NotFoundError):
            house.holder(Purpose.UNSUBSCRIBE, wrong)
    for _ in range(2):
        await subscriptions.leave(house.holder(Purpose.UNSUBSCRIBE, tokens[Purpose.UNSUBSCRIBE]))
    assert (await subscriptions.get(Holder(number))).state is SubscriptionState.LEFT


async def test_being_reminded_once_can_be_asked_and_cancelled(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    made = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    holder = Holder(made.id, follower)
    house.temporal.away = True
    reminder = await house.service.subscriptions.remind_in(holder, timedelta(hours=2))
    assert [item.reminder_id for item in await SqlReminders(house.database).load_unstarted_requests()] == [
        reminder.id
    ], "the sweep starts it"
    await house.service.subscriptions.cancel_reminder(holder, reminder.id)
    assert (await house.service.subscriptions.get(holder)).reminders == (), "taken back although Temporal is away"
    assert await SqlReminders(house.database).is_request_withdrawn(reminder.id), "its workflow asks before it sends"
    assert await SqlReminders(house.database).load_unstarted_requests() == []
    house.temporal.away = False
    second = await house.service.subscriptions.remind_in(holder, timedelta(hours=3))
    assert house.temporal.reminders == [second.id]
    for delay, error in ((timedelta(seconds=5), InvalidInputError), (timedelta(days=30), ConflictError)):
        with pytest.raises(error):
            await house.service.subscriptions.remind_in(holder, delay)
    with pytest.raises(NotFoundError):
        await house.service.subscriptions.cancel_reminder(Holder(made.id, organiser), second.id)


async def test_an_announcement_goes_to_all_or_to_some_and_never_to_all_by_mistake(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    people = []
    for name in ("Ada", "Bo", "Cy"):
        user = await house.person(name)
        channel = await house.channel(user, url=f"ntfy://example.org/{name}")
        preferences = Preferences(channel_ids=(channel.id,))
        people.append((await house.service.subscriptions.subscribe(Viewer(user), event.slug, preferences)).id)
    await house.service.subscriptions.mute(Holder(people[2]))
    joined = await house.guest(event.slug, SECRET_URL)
    board = house.service.board
    reach = await board.preview_reach(organiser, event.slug)
    assert (reach.people, reach.unreachable, dict(reach.by_kind)) == (3, 1, {"ntfy": 3})
    assert (await board.preview_reach(organiser, event.slug, ())).people == 0
    assert (await board.preview_reach(organiser, event.slug, tuple(people[:1]))).people == 1
    house.temporal.signals.clear()
    some = Announcement("Room 2", level=Level.WARNING, subscription_ids=(people[0], joined.subscription.id))
    message = await board.announce(organiser, event.slug, some)
    assert (message.recipients, message.title, message.level) == (2, "Summer fair", Level.WARNING)
    assert house.temporal.signals == [(event.id, "send_manual_notification")]
    assert (await board.announce(organiser, event.slug, Announcement("All"))).recipients == 4
    with pytest.raises(InvalidInputError) as caught:
        await board.announce(organiser, event.slug, Announcement("None", subscription_ids=()))
    assert caught.value.field == "subscription_ids"
    with pytest.raises(InvalidInputError):
        await board.announce(organiser, event.slug, Announcement("  "))
    other = await house.event(organiser)
    foreign = await board.announce(organiser, other.slug, Announcement("Hello", subscription_ids=tuple(people)))
    assert foreign.recipients == 0, "subscribers of another event are not reached"
    listed = await board.list_subscribers(organiser, event.slug)
    assert [(item.name, item.state, item.kinds) for item in listed] == [
        ("Ada", "active", ("ntfy",)),
        ("Bo", "active", ("ntfy",)),
        ("Cy", "muted", ()),
        ("ntfy", "active", ("ntfy",)),
    ]
    assert [item.subscription_id for item in await board.list_subscribers(organiser, event.slug, after=people[1])] == [
        people[2],
        joined.subscription.id,
    ]


async def test_a_repeated_request_is_one_announcement(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    stated = Announcement("Room 2", request_key="form-1")
    house.temporal.signals.clear()
    first = await house.service.board.announce(organiser, event.slug, stated)
    assert (await house.service.board.announce(organiser, event.slug, stated)).id == first.id
    assert house.temporal.signals == [(event.id, "send_manual_notification")]


async def test_the_board_shows_every_delivery_and_the_link_says_why(house: House) -> None:
    organiser, follower = await house.person(), await house.person("Ada")
    event, channel = await house.event(organiser), await house.channel(follower, "family")
    made = await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences(tags=("family",)))
    message = await house.service.board.announce(organiser, event.slug, Announcement("Room 2", title="Room change"))
    await house.ledger.open_batch(message.id, 0, 500)
    [due] = await claim(house.database, message.id)
    await house.ledger.note_tries([due.delivery_id], ROUND)
    uncertain = DeliveryResult(due.delivery_id, Verdict(DeliveryState.UNCERTAIN), "no answer in time")
    await house.ledger.record_results([uncertain], ROUND)
    board = house.service.board
    [line] = await board.list_deliveries(organiser, message.id)
    assert (line.name, line.channel, line.state, line.tries, line.reason) == (
        "Ada",
        "ntfy",
        DeliveryState.UNCERTAIN,
        1,
        "no answer in time",
    )
    assert await board.list_deliveries(organiser, message.id, state=DeliveryState.SENT) == []
    assert await board.list_deliveries(organiser, message.id, after=line.id) == []
    assert (await board.get_message(organiser, message.id)).counts.uncertain == 1
    why = await board.explain(due.delivery_id)
    assert (why.cause, why.rule, why.channel, why.tries, why.state, why.event_name, why.title) == (
        Cause.ANNOUNCEMENT,
        "you chose the tag family",
        "Phone (ntfy)",
        1,
        DeliveryState.UNCERTAIN,
        "Summer fair",
        "Room change",
    )
    assert why.subscription_state is SubscriptionState.ACTIVE
    await house.service.subscriptions.mute(Holder(why.subscription_id))
    assert house.temporal.signals[-1] == (event.id, "participant_changed")
    assert (await board.explain(due.delivery_id)).subscription_state is SubscriptionState.MUTED
    await house.service.channels.remove(follower, channel.id)
    assert (await board.explain(due.delivery_id)).channel == "", "a channel that is gone is not named"
    await board.stop(organiser, message.id)
    assert house.temporal.cancelled == [message.id]
    assert made.id == why.subscription_id


async def test_a_message_can_be_stopped_before_its_broadcast_has_begun(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    await house.guest(event.slug, SECRET_URL, ())
    message = await house.service.board.announce(organiser, event.slug, Announcement("It is room 7 now."))
    house.temporal.away = True
    await house.service.board.stop(organiser, message.id)
    assert await house.ledger.open_batch(message.id, 0, 100) == (None, 1), "a late broadcast finds nobody left"
    (delivery,) = await house.service.board.list_deliveries(organiser, message.id)
    assert delivery.state is DeliveryState.SKIPPED
    with pytest.raises(ConflictError, match="already"):
        await house.service.board.stop(organiser, message.id)
