"""Events through their use cases: what is written, who is told, who may see what."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from pressbox.delivery.domain.attempts import Level
from pressbox.soonish.adapters.rows import InvitationRow
from pressbox.soonish.domain.delivery import Cause
from pressbox.soonish.domain.events import EventStatus, Visibility
from pressbox.soonish.domain.views import Viewer
from pressbox.soonish.service.inputs import EventInput, Preferences
from tests.integration.soonish.service_world import START, House, soon, stated


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def test_a_new_event_begins_its_workflow_and_tells_only_its_organiser(house: House) -> None:
    organiser = await house.person("Organiser")
    event = await house.event(organiser)
    assert (event.status, event.version, event.organiser, event.organises) == (EventStatus.ACTIVE, 1, "Organiser", True)
    assert house.temporal.signals == [(event.id, "participant_added")]
    [message] = await house.service.board.list_messages(organiser, event.slug)
    assert (message.cause, message.recipients) == (Cause.CREATED, 1)
    assert await house.service.board.list_subscribers(organiser, event.slug) == [], "an organiser is no subscriber"
    assert event.subscription_id is None


async def test_a_draft_is_seen_by_nobody_else_and_begins_nothing(house: House) -> None:
    organiser, other = await house.person(), await house.person()
    event = await house.event(organiser, draft=True)
    assert house.temporal.signals == []
    for viewer in (Viewer(), Viewer(other)):
        with pytest.raises(NotFoundError):
            await house.service.events.get(viewer, event.slug)
    await house.service.events.edit(organiser, event.slug, stated(name="Autumn fair"))
    assert house.temporal.signals == []
    event = await house.service.events.activate(organiser, event.slug)
    assert (event.status, event.name, event.version) == (EventStatus.ACTIVE, "Autumn fair", 2)
    assert house.temporal.signals == [(event.id, "participant_added")]


async def test_a_change_raises_the_version_and_nothing_changed_does_not(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    house.temporal.signals.clear()
    assert (await house.service.events.edit(organiser, event.slug, stated())).version == 1
    assert house.temporal.signals == []
    moved = await house.service.events.edit(organiser, event.slug, stated(start=START + timedelta(hours=1)))
    assert (moved.version, moved.start_date) == (2, START + timedelta(hours=1))
    assert house.temporal.signals == [(event.id, "event_updated")]


async def test_the_answer_is_good_while_temporal_is_away_and_the_sweep_has_what_to_tell(house: House) -> None:
    organiser = await house.person()
    house.temporal.away = True
    event = await house.event(organiser)
    await house.service.events.cancel(organiser, event.slug)
    house.temporal.away = False
    await house.service.events.cancel(organiser, event.slug)
    nothing = await house.outbox.claim(event.id, timedelta(seconds=1), 10)
    assert nothing == [], "the next one who comes tells what is left, once"
    assert house.temporal.signals == [(event.id, "cancel_event"), (event.id, "participant_added")]


async def test_a_cancellation_is_critical_and_knows_its_recipients_from_that_moment(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    event = await house.service.events.cancel(organiser, event.slug)
    assert (event.status, event.version) == (EventStatus.CANCELLED, 2)
    message = (await house.service.board.list_messages(organiser, event.slug))[0]
    assert (message.cause, message.level, message.recipients) == (Cause.CANCELLED, Level.CRITICAL, 1)
    assert (await house.service.events.cancel(organiser, event.slug)).version == 2, "twice is once"
    for change in (
        house.service.events.complete(organiser, event.slug),
        house.service.events.activate(organiser, event.slug),
    ):
        with pytest.raises(ConflictError):
            await change
    with pytest.raises(ConflictError):
        await house.service.subscriptions.subscribe(Viewer(await house.person()), event.slug, Preferences())


async def test_deleting_cancels_first_and_then_nobody_finds_it(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    await house.service.events.delete(organiser, event.slug)
    assert (event.id, "cancel_event") in house.temporal.signals
    for viewer in (Viewer(), Viewer(organiser), Viewer(follower)):
        with pytest.raises(NotFoundError):
            await house.service.events.get(viewer, event.slug)
    assert await house.service.events.list_organised(organiser) == []
    assert await house.service.events.list_followed(follower) == []
    assert await house.service.subscriptions.list(follower) == []


async def test_an_event_can_be_ended_early_without_a_message(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    assert (await house.service.events.complete(organiser, event.slug)).status is EventStatus.COMPLETED
    assert house.temporal.signals[-1] == (event.id, "event_updated")
    assert len(await house.service.board.list_messages(organiser, event.slug)) == 1
    with pytest.raises(ConflictError):
        await house.service.events.edit(organiser, event.slug, stated(name="Too late"))
    draft = await house.event(organiser, draft=True)
    with pytest.raises(ConflictError):
        await house.service.events.complete(organiser, draft.slug)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (stated(name="  "), "name"),
        (stated(name="x" * 201), "name"),
        (stated(name="nul\x00"), "name"),
        (stated(location="x" * 10_001), "location"),
        (stated(start=datetime(2020, 1, 1, tzinfo=UTC)), "start_date"),
        (replace(stated(), timezone="Mars/Olympus"), "timezone"),
        (replace(stated(), end_date=START - timedelta(hours=1)), "end_date"),
        (EventInput("Fair", datetime(2027, 3, 28, 2, 30), "Europe/Berlin"), "start_date"),  # noqa: DTZ001
    ],
)
async def test_a_wrong_field_is_named_and_nothing_is_written(house: House, wrong: EventInput, field: str) -> None:
    organiser = await house.person()
    with pytest.raises(InvalidInputError) as caught:
        await house.service.events.create(organiser, wrong)
    assert caught.value.field == field
    assert await house.service.events.list_organised(organiser) == []


async def test_a_stranger_cannot_see_join_guess_or_change_a_private_event(house: House) -> None:
    organiser, stranger = await house.person(), await house.person()
    event = await house.event(organiser, visibility=Visibility.PRIVATE)
    events, subscriptions, board = house.service.events, house.service.subscriptions, house.service.board
    invitations = house.service.invitations
    await invitations.create(organiser, event.slug)
    guesses = (None, "", "x" * 43, event.slug)
    for viewer in [Viewer(user, guess) for user in (None, stranger) for guess in guesses]:
        with pytest.raises(NotFoundError):
            await events.get(viewer, event.slug)
        with pytest.raises(NotFoundError):
            await house.service.guests.subscribe_by_url(viewer, event.slug, "ntfy://example.org/a", None, "192.0.2.1")
        with pytest.raises(NotFoundError):
            await house.service.guests.subscribe_by_email(viewer, event.slug, "a@example.org", None, "192.0.2.1")
    with pytest.raises(NotFoundError):
        await subscriptions.subscribe(Viewer(stranger), event.slug, Preferences())
    for attempt in (
        events.cancel(stranger, event.slug),
        events.get_organised(stranger, event.slug),
        invitations.create(stranger, event.slug),
        invitations.list(stranger, event.slug),
        board.list_messages(stranger, event.slug),
        board.list_subscribers(stranger, event.slug),
        board.preview_reach(stranger, event.slug),
    ):
        with pytest.raises(NotFoundError):
            await attempt
    [message] = await board.list_messages(organiser, event.slug)
    with pytest.raises(NotFoundError):
        await board.get_message(stranger, message.id)
    with pytest.raises(NotFoundError):
        await board.list_deliveries(stranger, message.id)
    with pytest.raises(NotFoundError):
        await board.stop(stranger, message.id)
    assert await events.list_public() == []
    assert house.mailbox.sent == []


async def test_an_invitation_opens_a_private_event_until_it_ends(house: House) -> None:
    organiser, guest = await house.person(), await house.person()
    event = await house.event(organiser, visibility=Visibility.PRIVATE)
    other = await house.event(organiser, visibility=Visibility.PRIVATE)
    events, invitations = house.service.events, house.service.invitations
    first, second = [await invitations.create(organiser, event.slug) for _ in range(2)]
    assert first.expires_at - first.created_at == timedelta(days=7)
    assert (await events.get(Viewer(None, first.token), event.slug)).id == event.id
    with pytest.raises(NotFoundError):
        await events.get(Viewer(None, first.token), other.slug)
    await house.service.subscriptions.subscribe(Viewer(guest, first.token), event.slug, Preferences())
    await invitations.revoke(organiser, event.slug, first.id)
    with pytest.raises(NotFoundError):
        await events.get(Viewer(None, first.token), event.slug)
    assert (await events.get(Viewer(guest), event.slug)).subscription_id is not None, "a subscriber still sees it"
    async with house.database.unit_of_work() as work:
        await work.session.execute(update(InvitationRow).values(expires_at=datetime(2026, 1, 1, tzinfo=UTC)))
    with pytest.raises(NotFoundError):
        await events.get(Viewer(None, second.token), event.slug)
    assert [item.revoked_at is None for item in await invitations.list(organiser, event.slug)] == [True, False]
    with pytest.raises(NotFoundError):
        await invitations.revoke(organiser, other.slug, second.id)


async def test_a_public_event_is_seen_by_all_and_changed_by_its_organiser_only(house: House) -> None:
    organiser, other = await house.person(), await house.person()
    event = await house.event(organiser)
    assert [item.slug for item in await house.service.events.list_public()] == [event.slug]
    assert not (await house.service.events.get(Viewer(other), event.slug)).organises
    for attempt in (
        house.service.events.edit(other, event.slug, stated()),
        house.service.events.get_organised(other, event.slug),
        house.service.events.cancel(other, event.slug),
        house.service.events.delete(other, event.slug),
        house.service.board.list_subscribers(other, event.slug),
    ):
        with pytest.raises(ForbiddenError):
            await attempt


async def test_a_calendar_has_what_somebody_organises_or_follows_and_no_drafts(house: House) -> None:
    organiser, follower = await house.person(), await house.person()
    event = await house.event(organiser)
    await house.event(organiser, draft=True)
    await house.service.subscriptions.subscribe(Viewer(follower), event.slug, Preferences())
    [first] = await house.service.events.list_for_calendar(follower)
    await house.service.events.edit(organiser, event.slug, stated(start=soon(11)))
    [second] = await house.service.events.list_for_calendar(follower)
    await house.service.events.cancel(organiser, event.slug)
    [third] = await house.service.events.list_for_calendar(follower)
    assert first.slug == second.slug == third.slug, "the UID of the calendar"
    assert [item.version for item in (first, second, third)] == [1, 2, 3], "its SEQUENCE rises"
    assert third.status is EventStatus.CANCELLED
    assert [item.slug for item in await house.service.events.list_for_calendar(organiser)] == [event.slug], "no drafts"
