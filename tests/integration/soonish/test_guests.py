"""People without an account: what confirms itself, and how much anybody can set off through us."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, GoneError, InvalidInputError, RateLimitedError, TransientError
from pressbox.delivery.adapters.rows import ContactRow
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.soonish.adapters.rows import SubscriptionRow
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.links import Purpose
from pressbox.soonish.domain.reminders import SubscriptionState
from pressbox.soonish.domain.views import Holder, Viewer
from pressbox.soonish.service.inputs import Announcement, Preferences
from pressbox.soonish.settings import SoonishSettings
from tests.integration.soonish.service_world import House

URL = "ntfy://example.org/k3y-of-nobody-else"
HOUR = timedelta(hours=1)


@pytest.fixture
def house(database: Database) -> House:
    limits = SoonishSettings(
        guest_confirmations_per_target=2,
        guest_confirmations_per_client=6,
        guest_confirmations_per_event=8,
        guest_confirmations_per_host=5,
        guest_subscriptions_per_target=2,
        guest_reminders_per_subscription=3,
        guest_reminders_per_target=4,
        guest_changes_per_subscription=4,
    )
    return House(database, settings=limits)


async def ask(house: House, slug: str, url: str, client: str = "192.0.2.7") -> None:
    await house.service.guests.subscribe_by_url(Viewer(), slug, url, None, client)


async def ask_by_mail(house: House, slug: str, email: str, client: str = "192.0.2.7") -> None:
    await house.service.guests.subscribe_by_email(Viewer(), slug, email, None, client)


async def test_any_other_target_confirms_itself_too_and_gets_nothing_before(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser)
    house.temporal.signals.clear()
    for _ in range(3):
        await ask(house, event.slug, URL)
    [(key, message)] = house.target.sent
    assert key.startswith("contact:")
    assert message.title == "Confirm: Summer fair"
    await house.service.board.announce(organiser, event.slug, Announcement("Hello"))
    assert (await house.service.board.list_messages(organiser, event.slug))[0].recipients == 0
    assert await house.service.board.list_subscribers(organiser, event.slug) == []
    assert "participant_added" not in {kind for _, kind in house.temporal.signals}
    holder = house.holder(Purpose.CONFIRM, house.target.link("confirm"))
    assert (await house.service.subscriptions.get(holder)).state is SubscriptionState.PENDING
    joined = await house.service.guests.confirm(holder)
    assert joined.subscription.state is SubscriptionState.ACTIVE
    assert house.temporal.signals[-1] == (event.id, "participant_added")
    async with house.database.unit_of_work() as work:
        assert await work.session.scalar(select(ContactRow.verified_at)) is not None


@pytest.mark.parametrize(
    ("visibility", "joins"), [(Visibility.PRIVATE, False), (Visibility.PUBLIC, True)], ids=["private", "public"]
)
async def test_a_revoked_invitation_ends_the_links_of_those_who_have_not_confirmed(
    house: House, visibility: Visibility, joins: bool
) -> None:
    organiser = await house.person()
    event = await house.event(organiser, visibility=visibility)
    first, second = [await house.service.invitations.create(organiser, event.slug) for _ in range(2)]
    await house.service.guests.subscribe_by_url(Viewer(None, first.token), event.slug, URL, None, "192.0.2.7")
    holder = house.holder(Purpose.CONFIRM, house.target.link("confirm"))
    await house.service.invitations.revoke(organiser, event.slug, first.id)
    if joins:
        assert (await house.service.guests.confirm(holder)).subscription.state is SubscriptionState.ACTIVE
        return
    with pytest.raises(GoneError):
        await house.service.guests.confirm(holder)
    assert await house.service.board.list_subscribers(organiser, event.slug) == []
    # With an invitation that holds they ask again, and get another link.
    await house.service.guests.subscribe_by_url(Viewer(None, second.token), event.slug, URL, None, "192.0.2.7")
    assert len(house.target.sent) == 2
    assert (await house.service.guests.confirm(holder)).subscription.state is SubscriptionState.ACTIVE


async def test_whoever_joined_before_an_invitation_was_revoked_stays(house: House) -> None:
    organiser = await house.person()
    event = await house.event(organiser, visibility=Visibility.PRIVATE)
    invitation = await house.service.invitations.create(organiser, event.slug)
    await house.service.guests.subscribe_by_url(Viewer(None, invitation.token), event.slug, URL, None, "192.0.2.7")
    holder = house.holder(Purpose.CONFIRM, house.target.link("confirm"))
    await house.service.guests.confirm(holder)
    await house.service.invitations.revoke(organiser, event.slug, invitation.id)
    assert (await house.service.guests.confirm(holder)).subscription.state is SubscriptionState.ACTIVE


async def test_a_stranger_does_not_learn_whether_an_address_is_subscribed_or_what_answers_there(house: House) -> None:
    event = await house.event(await house.person())
    joined = await house.guest(event.slug, URL, (HOUR,))
    await ask(house, event.slug, URL)
    assert house.target.sent[-1][1].title == "Your subscription: Summer fair"
    await ask(house, event.slug, URL)
    assert len(house.target.sent) == 2, "the same answer, and no third message"
    assert (await house.service.subscriptions.get(Holder(joined.subscription.id))).offsets == (HOUR,)
    for result, expected in ((AttemptResult.REFUSED, InvalidInputError), (AttemptResult.UNAVAILABLE, TransientError)):
        house.target.result = result
        with pytest.raises(expected, match="message with the link"):
            await ask(house, event.slug, "ntfy://example.org/other")


async def test_a_message_that_did_not_arrive_can_be_asked_for_again(house: House) -> None:
    event = await house.event(await house.person())
    house.target.result = AttemptResult.UNAVAILABLE
    with pytest.raises(TransientError):
        await ask(house, event.slug, URL)
    house.target.result = AttemptResult.ACCEPTED
    await ask(house, event.slug, URL)
    assert len(house.target.sent) == 2


@pytest.mark.parametrize(
    "spellings",
    [
        ("victim@gmail.com", "victim+1@gmail.com", "v.i.c.t.i.m+2@googlemail.com"),
        ("Victim@example.org", "victim+a@example.org", "vic.tim@EXAMPLE.org"),
    ],
)
async def test_all_spellings_of_one_mailbox_share_one_limit(house: House, spellings: tuple[str, ...]) -> None:
    event = await house.event(await house.person())
    for number, spelling in enumerate(spellings[:2]):
        await ask_by_mail(house, event.slug, spelling, f"192.0.2.{number}")
    with pytest.raises(RateLimitedError):
        await ask_by_mail(house, event.slug, spellings[2], "192.0.2.99")
    assert len(house.mailbox.sent) == 2


async def test_one_target_is_asked_so_often_a_day_over_all_events_and_spellings(house: House) -> None:
    organiser = await house.person()
    spellings = ("ntfy://topic", "ntfys://TOPIC?priority=high", "ntfy://user:pass@ntfy.sh/topic")
    for number, spelling in enumerate(spellings):
        event = await house.event(organiser)
        if number < 2:
            await ask(house, event.slug, spelling, f"192.0.2.{number}")
    with pytest.raises(RateLimitedError):
        await ask(house, event.slug, spellings[2], "192.0.2.99")
    assert len(house.target.sent) == 2


async def test_one_client_one_event_and_one_server_have_their_share_a_day(house: House) -> None:
    organiser = await house.person()
    first, second = await house.event(organiser), await house.event(organiser)
    for number in range(5):
        await ask(house, first.slug, f"json://victim.example/{number}")
    with pytest.raises(RateLimitedError):
        await ask(house, first.slug, "json://victim.example/another")
    with pytest.raises(RateLimitedError):
        await ask_by_mail(house, second.slug, "a@example.org")
    for number in range(2):
        await ask_by_mail(house, first.slug, f"b{number}@example.org", f"2001:db8:{number}::1")
    with pytest.raises(RateLimitedError):
        await ask_by_mail(house, first.slug, "c@example.org", "2001:db8:9::1")
    await ask_by_mail(house, second.slug, "c@example.org", "2001:db8:9::1")
    assert len(house.target.sent) == 5


async def test_reminders_of_one_address_are_bounded_however_they_are_asked_for(house: House) -> None:
    organiser = await house.person()
    first, second, third = [await house.event(organiser) for _ in range(3)]
    many = tuple(timedelta(minutes=number) for number in range(1, 5))
    with pytest.raises(InvalidInputError) as caught:
        await house.guest(first.slug, URL, many)
    assert caught.value.field == "offsets"
    joined = await house.guest(first.slug, URL, many[:3])
    holder = Holder(joined.subscription.id)
    with pytest.raises(InvalidInputError):
        await house.service.subscriptions.change(holder, Preferences(offsets=many))
    await house.service.subscriptions.remind_in(holder, HOUR)
    with pytest.raises(ConflictError, match="4 reminders"):
        await house.service.subscriptions.remind_in(holder, 2 * HOUR)
    with pytest.raises(ConflictError):
        await house.guest(second.slug, URL, many[:1])
    await house.service.subscriptions.change(holder, Preferences(offsets=()))
    with pytest.raises(RateLimitedError):
        await house.service.subscriptions.change(holder, Preferences(offsets=many[:1]))
    await house.service.subscriptions.leave(holder)
    async with house.database.unit_of_work() as work:
        row = SubscriptionRow
        mine = update(row).where(row.contact_id.is_not(None)).values(state=SubscriptionState.ACTIVE, own_offsets=True)
        await work.session.execute(mine)
    house.settings = house.settings.model_copy(update={"guest_confirmations_per_target": 9})
    house.__post_init__()
    with pytest.raises(ConflictError, match="2 events"):
        await house.guest(third.slug, URL, ())
