"""Messages of events stand in the inboxes of subscribers with an account, once, however they are sent."""

import asyncio
from datetime import timedelta

from sqlalchemy import update

from pressbox.delivery.ports import Claim
from pressbox.inbox.store import InboxStore
from pressbox.soonish.adapters.ledger import SqlLedger
from pressbox.soonish.adapters.rows import SubscriptionRow
from pressbox.soonish.domain.reminders import SubscriptionState
from tests.integration.soonish.conftest import World
from tests.integration.soonish.test_ledger import announce


async def titles(world: World, user_id: int) -> list[str]:
    return [line.title for line in (await InboxStore(world.database).load(user_id)).lines]


async def test_a_message_is_in_the_inbox_of_everybody_it_goes_to_and_of_nobody_else(world: World) -> None:
    ada, ben, uninvolved = [await world.user() for _ in range(3)]
    # Without any channel the inbox is the one place where it can be read.
    people = [await world.subscriber(user_id=person, channel_ids=()) for person in (ada, ben)]
    notification = await announce(world, *people)
    assert await titles(world, ada) == [], "an accepted message may still be stopped"
    for _ in range(2):
        await SqlLedger(world.database).open_batch(notification, 0, 500)
    assert [await titles(world, person) for person in (ada, ben, uninvolved)] == [["Room change"], ["Room change"], []]


async def test_who_muted_or_left_the_event_is_not_told(world: World) -> None:
    ada, ben = await world.user(), await world.user()
    people = [await world.subscriber(user_id=person, channel_ids=()) for person in (ada, ben)]
    notification = await announce(world, *people)
    async with world.database.unit_of_work() as work:
        for subscription, state in zip(people, (SubscriptionState.MUTED, SubscriptionState.LEFT), strict=True):
            await work.session.execute(
                update(SubscriptionRow).where(SubscriptionRow.id == subscription).values(state=state)
            )
    await SqlLedger(world.database).open_batch(notification, 0, 500)
    assert [await titles(world, person) for person in (ada, ben)] == [[], []]


async def test_rounds_side_by_side_tell_everybody_once(world: World) -> None:
    users = [await world.user() for _ in range(12)]
    people = [await world.subscriber(user_id=person, channel_ids=()) for person in users]
    notification = await announce(world, *people)
    ledger = SqlLedger(world.database)
    rounds = [Claim(f"round {number}", timedelta(seconds=30)) for number in range(6)]
    await asyncio.gather(*(ledger.claim_due(notification, one, 3, opens=True) for one in rounds))
    assert [await titles(world, person) for person in users] == [["Room change"]] * 12
