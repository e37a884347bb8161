"""Taking back a cancellation: who is told, what returns, and when it is too late."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from icalendar import Calendar
from sqlalchemy import update

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, ForbiddenError, InvalidInputError
from pressbox.delivery.domain.attempts import DeliveryState, Level, Verdict
from pressbox.delivery.ports import DeliveryResult
from pressbox.soonish.adapters.rows import EventRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus
from pressbox.soonish.domain.views import EventView, MessageView
from pressbox.soonish.service.inputs import Announcement
from pressbox.soonish.web.calendar import build_calendar
from tests.integration.soonish.conftest import ROUND, claim
from tests.integration.soonish.service_world import BASE, House, stated


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def invite(house: House, organiser: int, *guests: str) -> EventView:
    event = await house.event(organiser)
    for number, name in enumerate(guests):
        await house.guest(event.slug, f"ntfy://example.org/{name}", client=f"192.0.2.{number}")
    return event


async def newest(house: House, organiser: int, slug: str) -> MessageView:
    return (await house.service.board.list_messages(organiser, slug))[0]


async def deliver(house: House, number: int, *states: DeliveryState) -> None:
    """The first deliveries of the message end like this; the others still wait."""
    await house.ledger.open_batch(number, 0, 100)
    due = await claim(house.database, number)
    told = due[: len(states)]
    await house.ledger.note_tries([item.delivery_id for item in told], ROUND)
    results = [DeliveryResult(item.delivery_id, Verdict(state)) for item, state in zip(told, states, strict=True)]
    await house.ledger.record_results(results, ROUND)


async def test_whoever_was_told_of_the_cancellation_is_told_that_it_takes_place(house: House) -> None:
    organiser = await house.person()
    event = await invite(house, organiser, "a", "b")
    cancelled = await house.service.events.cancel(organiser, event.slug)
    await deliver(house, (await newest(house, organiser, event.slug)).id, DeliveryState.SENT, DeliveryState.SENT)
    house.temporal.signals.clear()
    reopened = await house.service.events.reopen(organiser, event.slug)
    assert (reopened.status, reopened.version) == (EventStatus.ACTIVE, cancelled.version + 1)
    message = await newest(house, organiser, event.slug)
    assert (message.cause, message.level, message.recipients) == (Cause.REOPENED, Level.CRITICAL, 2)
    assert "takes place after all" in message.title
    assert house.temporal.signals == [(event.id, "event_updated"), (event.id, "send_manual_notification")]
    assert (await house.service.events.reopen(organiser, event.slug)).version == reopened.version, "twice is once"
    (entry,) = Calendar.from_ical(build_calendar("Feed", [reopened], BASE)).walk("VEVENT")
    assert (entry["STATUS"], entry["SEQUENCE"]) == ("CONFIRMED", reopened.version)


async def test_a_cancellation_that_is_still_being_sent_stops_and_only_who_heard_of_it_hears_again(house: House) -> None:
    organiser = await house.person()
    event = await invite(house, organiser, "a", "b", "c")
    await house.service.events.cancel(organiser, event.slug)
    cancellation = await newest(house, organiser, event.slug)
    await deliver(house, cancellation.id, DeliveryState.SENT)
    await house.service.events.reopen(organiser, event.slug)
    stopped = await house.service.board.get_message(organiser, cancellation.id)
    assert (stopped.counts.sent, stopped.counts.skipped, stopped.counts.pending) == (1, 2, 0)
    assert (await newest(house, organiser, event.slug)).recipients == 1
    with pytest.raises(ConflictError, match="takes place after all"):
        await house.service.board.resend(organiser, cancellation.id)


async def test_a_cancelled_draft_is_a_draft_again(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser, draft=True)
    await house.service.events.cancel(organiser, event.slug)
    assert (await house.service.events.reopen(organiser, event.slug)).status is EventStatus.DRAFT
    assert house.temporal.signals == []


async def test_an_event_that_would_be_over_stays_cancelled(house: House, database: Database) -> None:
    organiser, other = await house.person(), await house.person()
    event = await house.event(organiser)
    await house.service.events.cancel(organiser, event.slug)
    with pytest.raises(ForbiddenError):
        await house.service.events.reopen(other, event.slug)
    async with database.unit_of_work() as work:
        past = datetime.now(UTC) - timedelta(days=2)
        await work.session.execute(update(EventRow).values(start_date=past, end_date=None))
    with pytest.raises(ConflictError, match="already be over"):
        await house.service.events.reopen(organiser, event.slug)


async def end_by_its_time(database: Database, *, started: timedelta) -> None:
    """As its workflow does it, four hours after a start without an end."""
    async with database.unit_of_work() as work:
        values = {"start_date": datetime.now(UTC) - started, "end_date": None, "status": EventStatus.COMPLETED}
        await work.session.execute(update(EventRow).values(**values))


async def test_an_event_without_an_end_that_takes_longer_goes_on(house: House, database: Database) -> None:
    organiser = await house.person()
    event = await invite(house, organiser, "a")
    await end_by_its_time(database, started=timedelta(hours=5))
    house.temporal.signals.clear()
    until = datetime.now(UTC) + timedelta(hours=3)
    longer = await house.service.events.change(organiser, event.slug, lambda stated: replace(stated, end_date=until))
    assert (longer.status, longer.version) == (EventStatus.ACTIVE, event.version + 1)
    assert house.temporal.signals == [(event.id, "event_updated")], "its people are told, and it ends again"
    announced = await house.service.board.announce(organiser, event.slug, Announcement("The music goes on."))
    assert announced.recipients == 1


async def test_an_event_that_its_organiser_has_ended_stays_ended(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    await house.service.events.complete(organiser, event.slug)
    with pytest.raises(ConflictError, match="can no longer be changed"):
        await house.service.events.edit(organiser, event.slug, stated(location="Hall 2"))


async def test_an_event_that_is_over_is_not_changed_without_a_later_end(house: House, database: Database) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    await end_by_its_time(database, started=timedelta(days=1))
    with pytest.raises(InvalidInputError, match="already be over"):
        await house.service.events.change(organiser, event.slug, lambda stated: replace(stated, location="Hall 2"))
    assert (await house.service.events.get_organised(organiser, event.slug)).status is EventStatus.COMPLETED
