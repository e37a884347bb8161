"""The delivery ledger in a real database."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import event, update

from pressbox.soonish.adapters.broken_channels import SqlBrokenChannels
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import ChannelRow, ContactRow, SelectorRow, SubscriptionRow
from pressbox.soonish.domain.delivery import PROBE_AFTER, Cause, DeliveryState, Level, SkipReason, Verdict
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.ports import DeliveryResult
from tests.integration.soonish.conftest import NOW, World

TEXT = MessageText("Room change", "We meet in room 2.")
SENT, FAILED = Verdict(DeliveryState.SENT), Verdict(DeliveryState.FAILED)


async def announce(world: World, *subscription_ids: int, version: str = "a") -> int:
    return await SqlLedger(world.database).accept_message(
        world.event_id, Cause.ANNOUNCEMENT, version, Level.WARNING, TEXT, subscription_ids
    )


async def opened(world: World, *subscription_ids: int, version: str = "a") -> int:
    notification_id = await announce(world, *subscription_ids, version=version)
    await SqlLedger(world.database).open_batch(notification_id, 0, 500)
    return notification_id


async def phone(world: World) -> tuple[int, int]:
    """A subscriber with one channel: ids of both."""
    user = await world.user()
    channel = await world.channel(user)
    return await world.subscriber(user_id=user, channel_ids=(channel,)), channel


async def test_a_message_is_accepted_once_however_often_it_is_asked(world: World) -> None:
    subscription, _ = await phone(world)
    first = await announce(world, subscription)
    assert await announce(world, subscription) == first
    assert await announce(world, subscription, version="b") != first
    assert await SqlLedger(world.database).load_message(first) == (TEXT, Level.WARNING)


async def test_an_empty_choice_of_recipients_reaches_nobody(world: World) -> None:
    await phone(world)
    notification = await announce(world)
    assert await SqlLedger(world.database).open_batch(notification, 0, 500) == (None, 0)
    assert await world.ledger(notification) == []


async def test_batches_page_through_the_snapshot_and_say_when_nobody_is_left(world: World) -> None:
    people = [(await phone(world))[0] for _ in range(5)]
    ledger, notification = SqlLedger(world.database), await announce(world, *people)
    late, _ = await phone(world)
    assert await ledger.open_batch(notification, 0, 2) == (people[1], 5)
    assert await ledger.open_batch(notification, people[1], 2) == (people[3], 5)
    assert await ledger.open_batch(notification, people[3], 2) == (None, 5)
    assert await ledger.open_batch(notification, people[3], 2) == (None, 5), "a repeated batch writes nothing twice"
    assert [row.subscription_id for row in await world.ledger(notification)] == people
    assert late not in people


async def test_who_changes_channels_between_two_tries_is_not_asked_again(world: World) -> None:
    ledger, (subscription, channel) = SqlLedger(world.database), await phone(world)
    notification = await opened(world, subscription)
    async with world.database.unit_of_work() as work:
        user = (await work.session.get_one(ChannelRow, channel)).user_id
    another = await world.channel(user)
    async with world.database.unit_of_work() as work:
        work.session.add(SelectorRow(subscription_id=subscription, channel_id=another))
    await ledger.open_batch(notification, 0, 500)
    assert [row.channel_key for row in await world.ledger(notification)] == [f"channel:{channel}"]


async def test_a_batch_that_fits_exactly_is_the_last(world: World) -> None:
    people = [(await phone(world))[0] for _ in range(2)]
    assert await SqlLedger(world.database).open_batch(await announce(world, *people), 0, 2) == (None, 2)


async def test_everybody_is_in_the_ledger_with_the_reason_why_nothing_was_sent(world: World) -> None:
    user = await world.user()
    broken = await world.channel(user, broken=True)
    people = {
        "no channel": await world.subscriber(),
        "muted": await world.subscriber(state=SubscriptionState.MUTED),
        "broken": await world.subscriber(user_id=user, channel_ids=(broken,)),
        "left": (await phone(world))[0],
    }
    unconfirmed = await world.by_address(SubscriptionState.PENDING)
    notification = await announce(world, *people.values(), unconfirmed)
    async with world.database.unit_of_work() as work:
        left = update(SubscriptionRow).where(SubscriptionRow.id == people["left"])
        await work.session.execute(left.values(state=SubscriptionState.LEFT))
    ledger = SqlLedger(world.database)
    assert await ledger.open_batch(notification, 0, 500) == (None, 4), "an unconfirmed address is no recipient"
    reasons = {row.subscription_id: (row.state, row.reason) for row in await world.ledger(notification)}
    assert reasons == {
        people["no channel"]: (DeliveryState.SKIPPED, SkipReason.NO_TARGETS),
        people["muted"]: (DeliveryState.SKIPPED, SkipReason.MUTED),
        people["broken"]: (DeliveryState.SKIPPED, SkipReason.CHANNEL_BROKEN),
        people["left"]: (DeliveryState.SKIPPED, SkipReason.LEFT),
    }
    assert await ledger.load_due(notification, NOW) == []


async def test_two_channels_to_the_same_place_are_one_delivery(world: World) -> None:
    user = await world.user()
    first = await world.channel(user, "family", target=b"same")
    await world.channel(user, "family", target=b"same")
    other = await world.channel(user, "family")
    await world.channel(user, "work")
    await world.channel(user, "family", is_active=False)
    notification = await opened(world, await world.subscriber(user_id=user, channel_ids=(first,), tags=("family",)))
    rows = await world.ledger(notification)
    assert [(row.channel_key, row.rule) for row in rows] == [
        (f"channel:{first}", "you chose this channel"),
        (f"channel:{other}", "you chose the tag family"),
    ]


async def test_a_channel_of_somebody_else_is_never_used(world: World) -> None:
    foreign = await world.channel(await world.user(), "family")
    notification = await opened(world, await world.subscriber(channel_ids=(foreign,), tags=("family",)))
    assert [(row.channel_key, row.reason) for row in await world.ledger(notification)] == [("none", "no_targets")]


async def test_the_organiser_hears_of_the_creation_over_every_active_channel(world: World) -> None:
    channels = [await world.channel(world.organiser_id) for _ in range(2)]
    own = await world.subscriber(user_id=world.organiser_id, organiser_only=True)
    rows = await world.ledger(await opened(world, own))
    assert [row.channel_key for row in rows] == [f"channel:{channel}" for channel in channels]


async def test_a_try_is_counted_when_it_begins_and_only_pending_ones_are_due(world: World) -> None:
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(3)]
    notification = await opened(world, *people)
    due = await ledger.load_due(notification, NOW)
    assert [item.tries for item in due] == [0, 0, 0]
    await ledger.note_tries([item.delivery_id for item in due], NOW)
    await ledger.record_results(
        [
            DeliveryResult(due[0].delivery_id, SENT),
            DeliveryResult(due[1].delivery_id, Verdict(DeliveryState.PENDING, timedelta(seconds=5)), "busy"),
            DeliveryResult(due[2].delivery_id, Verdict(DeliveryState.UNCERTAIN), "no answer"),
        ],
        NOW,
    )
    assert await ledger.load_due(notification, NOW) == []
    again = await ledger.load_due(notification, NOW + timedelta(seconds=5))
    assert [(item.delivery_id, item.tries) for item in again] == [(due[1].delivery_id, 1)]
    counts, next_try_at = await ledger.count_deliveries(notification)
    assert (counts.sent, counts.pending, counts.uncertain) == (1, 1, 1)
    assert next_try_at == NOW + timedelta(seconds=5)
    rows = await world.ledger(notification)
    assert [row.maybe_twice for row in rows] == [False, False, False]
    assert [row.finished_at is None for row in rows] == [False, True, False]


async def test_a_try_that_was_cut_off_is_repeated_and_marked(world: World) -> None:
    ledger, (subscription, _) = SqlLedger(world.database), await phone(world)
    notification = await opened(world, subscription)
    [first] = await ledger.load_due(notification, NOW)
    await ledger.note_tries([first.delivery_id], NOW)
    [second] = await ledger.load_due(notification, NOW)
    assert second.tries == 1
    await ledger.record_results([DeliveryResult(second.delivery_id, SENT)], NOW)
    [row] = await world.ledger(notification)
    assert (row.state, row.maybe_twice, row.trying_since) == (DeliveryState.SENT, True, None)
    await ledger.record_results([DeliveryResult(second.delivery_id, FAILED, "late answer")], NOW)
    [row] = await world.ledger(notification)
    assert row.state == DeliveryState.SENT, "a final state stays"


async def test_a_channel_breaks_after_three_failures_and_one_success_mends_it(world: World) -> None:
    ledger, (subscription, channel) = SqlLedger(world.database), await phone(world)

    async def attempt(version: str, verdict: Verdict) -> ChannelRow:
        notification = await opened(world, subscription, version=version)
        for item in await ledger.load_due(notification, NOW):
            await ledger.note_tries([item.delivery_id], NOW)
            await ledger.record_results([DeliveryResult(item.delivery_id, verdict, "gone")], NOW)
        async with world.database.unit_of_work() as work:
            return await work.session.get_one(ChannelRow, channel)

    assert (await attempt("1", FAILED)).broken_at is None
    assert (await attempt("2", SENT)).failures == 0
    assert (await attempt("3", FAILED)).last_error == "gone"
    assert (await attempt("4", FAILED)).broken_at is None
    assert (await attempt("5", FAILED)).broken_at == NOW
    skipped = await opened(world, subscription, version="6")
    assert [row.reason for row in await world.ledger(skipped)] == [SkipReason.CHANNEL_BROKEN]


async def test_an_address_breaks_too(world: World) -> None:
    ledger, subscription = SqlLedger(world.database), await world.by_address()
    for version in "123":
        notification = await opened(world, subscription, version=version)
        [item] = await ledger.load_due(notification, NOW)
        await ledger.record_results([DeliveryResult(item.delivery_id, FAILED, "gone")], NOW)
    async with world.database.unit_of_work() as work:
        contact = await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))
        assert contact.broken_at == NOW


async def test_who_leaves_or_mutes_gets_nothing_that_was_queued_before(world: World) -> None:
    """Also what a target had put off with Retry-After, and what was already noted for a try of this round."""
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(4)]
    notification = await opened(world, *people)
    stays, leaves, mutes, put_off = await ledger.load_due(notification, NOW)
    assert await ledger.note_tries([put_off.delivery_id], NOW) == {put_off.delivery_id}
    later = Verdict(DeliveryState.PENDING, timedelta(hours=2))
    await ledger.record_results([DeliveryResult(put_off.delivery_id, later, "It answered 429.")], NOW)
    for item, state in ((leaves, "left"), (mutes, "muted"), (put_off, "left")):
        async with world.database.unit_of_work() as work:
            mine = update(SubscriptionRow).where(SubscriptionRow.id == item.subscription_id)
            await work.session.execute(mine.values(state=state))
    due = [item.delivery_id for item in (stays, leaves, mutes)]
    assert await ledger.note_tries(due, NOW) == {stays.delivery_id}
    await ledger.record_results([DeliveryResult(stays.delivery_id, SENT)], NOW)
    assert await ledger.load_due(notification, NOW + timedelta(hours=3)) == []
    assert [(row.state, row.reason) for row in await world.ledger(notification)] == [
        (DeliveryState.SENT, ""),
        (DeliveryState.SKIPPED, SkipReason.LEFT),
        (DeliveryState.SKIPPED, SkipReason.MUTED),
        (DeliveryState.SKIPPED, SkipReason.LEFT),
    ]


async def test_an_outage_of_our_own_mail_server_breaks_nobodys_address(world: World) -> None:
    ledger, subscription = SqlLedger(world.database), await world.by_address()
    for version in "12345":
        notification = await opened(world, subscription, version=version)
        [item] = await ledger.load_due(notification, NOW)
        result = DeliveryResult(item.delivery_id, FAILED, "The mail server answered 421.", is_own_fault=True)
        await ledger.record_results([result], NOW)
    async with world.database.unit_of_work() as work:
        contact = await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))
        assert (contact.failures, contact.broken_at) == (0, None)


async def test_a_broken_address_is_tried_again_later_and_hears_what_it_missed(world: World) -> None:
    ledger, subscription = SqlLedger(world.database), await world.by_address()
    contact = update(ContactRow)

    async def attempt(version: str, verdict: Verdict) -> ContactRow:
        notification = await opened(world, subscription, version=version)
        [item] = await ledger.load_due(notification, NOW)
        assert item.failing_since == broken_at
        await ledger.record_results([DeliveryResult(item.delivery_id, verdict, "gone")], NOW)
        async with world.database.unit_of_work() as work:
            return await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))

    broken_at = None
    for version in "123":
        row = await attempt(version, FAILED)
    broken_at = NOW
    assert (row.broken_at, row.probe_at) == (NOW, NOW + PROBE_AFTER)
    waiting = await opened(world, subscription, version="4")
    assert [row.reason for row in await world.ledger(waiting)] == [SkipReason.CHANNEL_BROKEN]
    past = datetime.now(UTC) - timedelta(minutes=1)
    for version, verdict, expected in (("5", FAILED, (NOW, NOW + PROBE_AFTER)), ("6", SENT, (None, None))):
        async with world.database.unit_of_work() as work:
            await work.session.execute(contact.values(probe_at=past))
        row = await attempt(version, verdict)
        assert (row.broken_at, row.probe_at) == expected


async def test_stopping_skips_the_rest_and_says_what_may_have_arrived(world: World) -> None:
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(4)]
    notification = await announce(world, *people)
    await ledger.open_batch(notification, 0, 3)
    done, flying, _ = await ledger.load_due(notification, NOW)
    await ledger.note_tries([done.delivery_id, flying.delivery_id], NOW)
    await ledger.record_results([DeliveryResult(done.delivery_id, SENT)], NOW)
    await ledger.cancel(notification)
    states = [row.state for row in await world.ledger(notification)]
    assert states == [DeliveryState.SENT, DeliveryState.UNCERTAIN, DeliveryState.SKIPPED, DeliveryState.SKIPPED]
    assert await ledger.open_batch(notification, people[2], 500) == (None, 4), "nobody is added after the stop"
    await ledger.record_results([DeliveryResult(flying.delivery_id, SENT)], NOW)
    assert (await ledger.count_deliveries(notification))[0].sent == 2, "an answer that came after the stop is the truth"


async def test_a_missed_reminder_is_recorded_with_its_reason(world: World) -> None:
    ledger, (subscription, _) = SqlLedger(world.database), await phone(world)
    notification = await announce(world, subscription)
    await ledger.skip(notification, "missed: too late")
    assert [(row.state, row.reason) for row in await world.ledger(notification)] == [("skipped", "missed: too late")]


async def test_a_batch_of_many_costs_a_handful_of_statements(world: World) -> None:
    people = [(await phone(world))[0] for _ in range(60)]
    ledger, notification = SqlLedger(world.database), await announce(world, *people)
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    event.listen(world.database.engine.sync_engine, "before_cursor_execute", note)
    await ledger.open_batch(notification, 0, 500)
    due = await ledger.load_due(notification, NOW)
    await ledger.note_tries([item.delivery_id for item in due], NOW)
    await ledger.record_results([DeliveryResult(item.delivery_id, SENT) for item in due], NOW)
    event.remove(world.database.engine.sync_engine, "before_cursor_execute", note)
    assert len(due) == 60
    assert len(statements) <= 25


async def test_a_broken_channel_is_given_out_once_with_the_ways_that_still_work(world: World) -> None:
    user = await world.user()
    broken, working = await world.channel(user, broken=True), await world.channel(user)
    await world.channel(user, is_active=False)
    await world.channel(await world.user())
    [found] = await SqlBrokenChannels(world.database).claim(10)
    assert (found.channel_id, found.other_channels) == (broken, (f"channel:{working}",))
    assert "@" not in repr(found)
    assert await SqlBrokenChannels(world.database).claim(10) == []
