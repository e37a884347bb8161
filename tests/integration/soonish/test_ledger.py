"""The delivery ledger in a real database."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from pressbox.core.accounts.rows import UserRow
from pressbox.delivery.adapters.broken_channels import SqlBrokenChannels
from pressbox.delivery.adapters.rows import ChannelRow, ContactRow
from pressbox.delivery.domain.attempts import (
    PROBE_AFTER,
    AttemptResult,
    DeliveryState,
    Level,
    Verdict,
    judge_attempt,
)
from pressbox.delivery.ports import Claim, DeliveryResult
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import DeliveryRow, SelectorRow, SubscriptionRow
from pressbox.soonish.domain.delivery import ORDER_PATIENCE, Cause, SkipReason
from pressbox.soonish.domain.messages import MessageText
from pressbox.soonish.domain.reminders import SubscriptionState
from tests.integration.soonish.conftest import ROUND, World, attempt, claim
from tests.statements import count_statements

TEXT = MessageText("Room change", "We meet in room 2.")
OTHER = Claim("another round", timedelta(seconds=30))
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
    assert await claim(world.database, notification) == []


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
    due = await claim(world.database, notification)
    assert [item.tries for item in due] == [0, 0, 0]
    await ledger.note_tries([item.delivery_id for item in due], ROUND)
    await ledger.record_results(
        [
            DeliveryResult(due[0].delivery_id, SENT),
            DeliveryResult(due[1].delivery_id, Verdict(DeliveryState.PENDING, timedelta(seconds=5)), "busy"),
            DeliveryResult(due[2].delivery_id, Verdict(DeliveryState.UNCERTAIN), "no answer"),
        ],
        ROUND,
    )
    assert await claim(world.database, notification) == []
    again = await claim(world.database, notification, later=timedelta(seconds=6))
    assert [(item.delivery_id, item.tries) for item in again] == [(due[1].delivery_id, 1)]
    counts, next_try_at = await ledger.count_deliveries(notification)
    assert (counts.sent, counts.pending, counts.uncertain) == (1, 1, 1)
    assert next_try_at is not None
    rows = await world.ledger(notification)
    assert [row.maybe_twice for row in rows] == [False, False, False]
    assert [row.finished_at is None for row in rows] == [False, True, False]


async def test_a_try_that_was_cut_off_is_repeated_and_marked(world: World) -> None:
    ledger, (subscription, _) = SqlLedger(world.database), await phone(world)
    notification = await opened(world, subscription)
    [first] = await claim(world.database, notification)
    await ledger.note_tries([first.delivery_id], ROUND)
    assert await claim(world.database, notification) == [], "somebody is at it"
    [second] = await claim(world.database, notification, later=timedelta(minutes=1), by=OTHER)
    assert second.tries == 1
    await attempt(world.database, [DeliveryResult(second.delivery_id, SENT)], by=OTHER)
    [row] = await world.ledger(notification)
    assert (row.state, row.maybe_twice, row.trying_since) == (DeliveryState.SENT, True, None)
    await ledger.record_results([DeliveryResult(second.delivery_id, FAILED, "late answer")], ROUND)
    await ledger.record_results([DeliveryResult(second.delivery_id, FAILED, "late answer")], OTHER)
    [row] = await world.ledger(notification)
    assert row.state == DeliveryState.SENT, "a final state stays"


async def test_a_channel_breaks_after_three_failures_and_one_success_mends_it(world: World) -> None:
    ledger, (subscription, channel) = SqlLedger(world.database), await phone(world)

    async def deliver(version: str, verdict: Verdict) -> ChannelRow:
        notification = await opened(world, subscription, version=version)
        for item in await claim(world.database, notification):
            await ledger.note_tries([item.delivery_id], ROUND)
            await ledger.record_results([DeliveryResult(item.delivery_id, verdict, "gone")], ROUND)
        async with world.database.unit_of_work() as work:
            return await work.session.get_one(ChannelRow, channel)

    assert (await deliver("1", FAILED)).broken_at is None
    assert (await deliver("2", SENT)).failures == 0
    assert (await deliver("3", FAILED)).last_error == "gone"
    assert (await deliver("4", FAILED)).broken_at is None
    assert (await deliver("5", FAILED)).broken_at is not None
    skipped = await opened(world, subscription, version="6")
    assert [row.reason for row in await world.ledger(skipped)] == [SkipReason.CHANNEL_BROKEN]


async def test_a_delivery_that_is_put_off_is_due_later_and_was_not_tried(world: World) -> None:
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(3)]
    notification = await opened(world, *people)
    soon, late, sent = await claim(world.database, notification)
    await attempt(world.database, [DeliveryResult(sent.delivery_id, SENT)])
    waits = {soon.delivery_id: timedelta(seconds=15), late.delivery_id: timedelta(hours=1)}
    await ledger.postpone(waits | {sent.delivery_id: timedelta(hours=2)}, ROUND)
    assert await claim(world.database, notification) == []
    assert await claim(world.database, notification, later=timedelta(minutes=1)) == [soon]
    counts, next_try_at = await ledger.count_deliveries(notification)
    assert (counts.sent, counts.pending) == (1, 2)
    assert next_try_at is not None
    assert [row.tries for row in await world.ledger(notification)] == [0, 0, 1]


async def test_a_place_that_never_answers_is_broken_after_a_while(world: World) -> None:
    subscription, channel = await phone(world)
    uncertain = Verdict(DeliveryState.UNCERTAIN)
    for version in "123":
        notification = await opened(world, subscription, version=version)
        [item] = await claim(world.database, notification)
        await attempt(world.database, [DeliveryResult(item.delivery_id, uncertain, "no answer came")])
    async with world.database.unit_of_work() as work:
        row = await work.session.get_one(ChannelRow, channel)
        assert row.broken_at is not None
        assert row.last_error == "no answer came"


async def test_an_address_breaks_too(world: World) -> None:
    subscription = await world.by_address()
    for version in "123":
        notification = await opened(world, subscription, version=version)
        [item] = await claim(world.database, notification)
        await attempt(world.database, [DeliveryResult(item.delivery_id, FAILED, "gone")])
    async with world.database.unit_of_work() as work:
        contact = await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))
        assert contact.broken_at is not None


async def test_who_leaves_or_mutes_gets_nothing_that_was_queued_before(world: World) -> None:
    """Also what a target had put off with Retry-After, and what was already noted for a try of this round."""
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(4)]
    notification = await opened(world, *people)
    stays, leaves, mutes, put_off = await claim(world.database, notification)
    assert await ledger.note_tries([put_off.delivery_id], ROUND) == {put_off.delivery_id}
    later = Verdict(DeliveryState.PENDING, timedelta(hours=2))
    await ledger.record_results([DeliveryResult(put_off.delivery_id, later, "It answered 429.")], ROUND)
    for item, state in ((leaves, "left"), (mutes, "muted"), (put_off, "left")):
        async with world.database.unit_of_work() as work:
            mine = update(SubscriptionRow).where(SubscriptionRow.id == item.subscription_id)
            await work.session.execute(mine.values(state=state))
    due = [item.delivery_id for item in (stays, leaves, mutes)]
    assert await ledger.note_tries(due, ROUND) == {stays.delivery_id}
    await ledger.record_results([DeliveryResult(stays.delivery_id, SENT)], ROUND)
    assert await claim(world.database, notification, later=timedelta(hours=3)) == []
    assert [(row.state, row.reason) for row in await world.ledger(notification)] == [
        (DeliveryState.SENT, ""),
        (DeliveryState.SKIPPED, SkipReason.LEFT),
        (DeliveryState.SKIPPED, SkipReason.MUTED),
        (DeliveryState.SKIPPED, SkipReason.LEFT),
    ]


async def put_off(world: World, wait: timedelta) -> tuple[int, int, int]:
    """Somebody whose phone asked us to wait, somebody whose phone took it, and the message."""
    (slow, _), (quick, _) = await phone(world), await phone(world)
    first = await opened(world, slow, quick)
    verdicts = {slow: Verdict(DeliveryState.PENDING, wait), quick: SENT}
    due = await claim(world.database, first)
    await attempt(world.database, [DeliveryResult(item.delivery_id, verdicts[item.subscription_id]) for item in due])
    return slow, quick, first


async def test_a_place_hears_of_things_in_their_order_and_nobody_else_waits(world: World) -> None:
    slow, quick, first = await put_off(world, timedelta(minutes=1))
    second, ledger = await opened(world, slow, quick, version="b"), SqlLedger(world.database)
    [due] = await claim(world.database, second)
    assert due.subscription_id == quick
    await attempt(world.database, [DeliveryResult(due.delivery_id, SENT)])
    counts, next_try_at = await ledger.count_deliveries(second)
    assert (counts.sent, counts.pending) == (1, 1)
    assert next_try_at == (await ledger.count_deliveries(first))[1], "nobody looks before"
    [again] = await claim(world.database, first, later=timedelta(minutes=1))
    await attempt(world.database, [DeliveryResult(again.delivery_id, SENT)])
    [due] = await claim(world.database, second)
    assert due.subscription_id == slow


async def test_a_place_waits_for_an_earlier_message_only_so_long(world: World) -> None:
    slow, _, first = await put_off(world, timedelta(hours=1))
    second = await opened(world, slow, version="b")
    assert await claim(world.database, second) == []
    [earlier] = [row for row in await world.ledger(first) if row.subscription_id == slow]
    _, next_try_at = await SqlLedger(world.database).count_deliveries(second)
    assert next_try_at == earlier.created_at + ORDER_PATIENCE
    older = update(DeliveryRow).where(DeliveryRow.notification_id == first)
    async with world.database.unit_of_work() as work:
        await work.session.execute(older.values(created_at=DeliveryRow.created_at - ORDER_PATIENCE))
    assert [item.subscription_id for item in await claim(world.database, second)] == [slow]


async def test_a_reminder_waits_for_no_other_message(world: World) -> None:
    slow, _, _ = await put_off(world, timedelta(hours=1))
    ledger = SqlLedger(world.database)
    reminder = await ledger.accept_message(world.event_id, Cause.REMINDER, "1", Level.INFO, TEXT, [slow])
    await ledger.open_batch(reminder, 0, 500)
    assert [item.subscription_id for item in await claim(world.database, reminder)] == [slow]


async def test_an_outage_of_our_own_mail_server_breaks_nobodys_address(world: World) -> None:
    subscription = await world.by_address()
    for version in "12345":
        notification = await opened(world, subscription, version=version)
        [item] = await claim(world.database, notification)
        result = DeliveryResult(item.delivery_id, FAILED, "The mail server answered 421.", is_own_fault=True)
        await attempt(world.database, [result])
    async with world.database.unit_of_work() as work:
        contact = await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))
        assert (contact.failures, contact.broken_at) == (0, None)


async def test_a_broken_address_is_tried_again_later_and_hears_what_it_missed(world: World) -> None:
    subscription = await world.by_address()
    contact = update(ContactRow)

    async def deliver(version: str, verdict: Verdict) -> ContactRow:
        notification = await opened(world, subscription, version=version)
        [item] = await claim(world.database, notification)
        assert (item.failing_since is not None) == is_broken
        await attempt(world.database, [DeliveryResult(item.delivery_id, verdict, "gone")])
        async with world.database.unit_of_work() as work:
            return await work.session.get_one(ContactRow, int(item.channel_key.removeprefix("contact:")))

    is_broken = False
    for version in "123":
        row = await deliver(version, FAILED)
    is_broken, broken_at = True, row.broken_at
    assert broken_at is not None
    assert row.probe_at == broken_at + PROBE_AFTER
    waiting = await opened(world, subscription, version="4")
    assert [row.reason for row in await world.ledger(waiting)] == [SkipReason.CHANNEL_BROKEN]
    past = datetime.now(UTC) - timedelta(minutes=1)
    for version, verdict in (("5", FAILED), ("6", SENT)):
        async with world.database.unit_of_work() as work:
            await work.session.execute(contact.values(probe_at=past))
        row = await deliver(version, verdict)
        assert (row.broken_at, row.probe_at is None) == ((None, True) if verdict is SENT else (broken_at, False))
    assert row.failures == 0


async def test_stopping_skips_the_rest_and_says_what_may_have_arrived(world: World) -> None:
    ledger, people = SqlLedger(world.database), [(await phone(world))[0] for _ in range(4)]
    notification = await announce(world, *people)
    await ledger.open_batch(notification, 0, 3)
    done, flying, _ = await claim(world.database, notification)
    await ledger.note_tries([done.delivery_id, flying.delivery_id], ROUND)
    await ledger.record_results([DeliveryResult(done.delivery_id, SENT)], ROUND)
    await ledger.cancel(notification)
    states = [row.state for row in await world.ledger(notification)]
    assert states == [DeliveryState.SENT, DeliveryState.UNCERTAIN, DeliveryState.SKIPPED, DeliveryState.SKIPPED]
    assert await ledger.open_batch(notification, people[2], 500) == (None, 4), "nobody is added after the stop"
    await ledger.record_results([DeliveryResult(flying.delivery_id, SENT)], ROUND)
    assert (await ledger.count_deliveries(notification))[0].sent == 2, "an answer that came after the stop is the truth"


async def test_what_was_held_back_after_the_stop_is_skipped(world: World) -> None:
    ledger, (subscription, _) = SqlLedger(world.database), await phone(world)
    notification = await opened(world, subscription)
    [held] = await claim(world.database, notification)
    await ledger.note_tries([held.delivery_id], ROUND)
    await ledger.cancel(notification)
    verdict = judge_attempt(AttemptResult.UNWANTED, 1)
    await ledger.record_results([DeliveryResult(held.delivery_id, verdict, SkipReason.BROADCAST_CANCELLED)], ROUND)
    [row] = await world.ledger(notification)
    assert (row.state, row.reason) == (DeliveryState.SKIPPED, SkipReason.BROADCAST_CANCELLED)


async def test_a_missed_reminder_is_recorded_with_its_reason(world: World) -> None:
    ledger, (subscription, _) = SqlLedger(world.database), await phone(world)
    notification = await announce(world, subscription)
    await ledger.skip(notification, "missed: too late")
    assert [(row.state, row.reason) for row in await world.ledger(notification)] == [("skipped", "missed: too late")]


async def test_a_batch_of_many_costs_a_handful_of_statements(world: World) -> None:
    people = [(await phone(world))[0] for _ in range(60)]
    ledger, notification = SqlLedger(world.database), await announce(world, *people)
    with count_statements(world.database) as statements:
        await ledger.open_batch(notification, 0, 500)
        due = await claim(world.database, notification)
        await ledger.note_tries([item.delivery_id for item in due], ROUND)
        await ledger.record_results([DeliveryResult(item.delivery_id, SENT) for item in due], ROUND)
    assert len(due) == 60
    # Five of them put the message into the inboxes.
    assert len(statements) <= 30


async def test_a_broken_channel_is_given_out_once_with_the_ways_that_still_work(world: World) -> None:
    user = await world.user()
    broken, working = await world.channel(user, broken=True), await world.channel(user)
    await world.channel(user, is_active=False)
    await world.channel(await world.user())
    async with world.database.unit_of_work() as work:
        await work.session.execute(update(UserRow).where(UserRow.id == user).values(language="de"))
    [found] = await SqlBrokenChannels(world.database).claim(10)
    assert (found.channel_id, found.other_channels) == (broken, (f"channel:{working}",))
    assert found.title.endswith("funktioniert nicht mehr"), "in the language of its owner"
    assert "@" not in repr(found)
    assert await SqlBrokenChannels(world.database).claim(10) == []
