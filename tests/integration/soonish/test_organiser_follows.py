"""Who follows an organiser hears of each new public event once, and nothing at all of private ones."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy import select

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, NotFoundError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.rows import NoticeRow, NoticeSendRow
from pressbox.core.notices.ways import account_way, add_ways
from pressbox.inbox.store import InboxStore, Line
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.domain.notice_kinds import organiser_subject
from pressbox.soonish.personal_data import erase
from tests.integration.soonish.service_world import START, House, soon, stated

TITLE = "New event by Ada: Summer fair"


@pytest.fixture
def house(database: Database) -> House:
    return House(database)


async def follow(house: House) -> tuple[int, int]:
    """Ada, who organises, and Ben, who follows her and gets mail."""
    ada, ben = await house.person("Ada"), await house.person("Ben")
    seen = await house.service.events.create(ada, stated(name="Spring fair"))
    await house.service.organisers.follow(ben, seen.slug)
    async with house.database.unit_of_work() as work:
        await add_ways(work.session, ben, [account_way(ben)])
    return ada, ben


async def lines(house: House, user_id: int) -> Sequence[Line]:
    return (await InboxStore(house.database).load(user_id)).lines


async def titles(house: House, user_id: int) -> list[str]:
    return [line.title for line in await lines(house, user_id)]


async def sends(house: House, user_id: int) -> list[tuple[str, str]]:
    async with house.database.unit_of_work() as work:
        own = select(NoticeSendRow.state, NoticeSendRow.reason).where(NoticeSendRow.user_id == user_id)
        return [(state, reason) for state, reason in await work.session.execute(own.order_by(NoticeSendRow.id))]


async def test_a_new_public_event_is_told_to_who_follows_its_organiser_and_to_nobody_else(house: House) -> None:
    ada, ben = await follow(house)
    stranger = await house.person("Cleo")
    assert await titles(house, ben) == [], "what was there before is not new"
    event = await house.event(ada)
    [line] = await lines(house, ben)
    assert (line.title, line.path, line.because) == (TITLE, f"/events/{event.slug}", "Ada")
    assert "Town hall" in line.detail
    assert await sends(house, ben) == [("pending", "")]
    assert await titles(house, stranger) == await titles(house, ada) == []


async def test_an_event_that_becomes_public_later_counts_then(house: House) -> None:
    ada, ben = await follow(house)
    draft = await house.event(ada, draft=True)
    private = await house.event(ada, visibility=Visibility.PRIVATE)
    assert await titles(house, ben) == []
    await house.service.events.activate(ada, draft.slug)
    assert await titles(house, ben) == [TITLE]
    await house.service.events.edit(ada, private.slug, stated(name="Ball", visibility=Visibility.LISTED))
    assert await titles(house, ben) == ["New event by Ada: Ball", TITLE]


async def test_what_becomes_private_is_gone_from_every_inbox_and_leaves_by_no_way(house: House) -> None:
    ada, ben = await follow(house)
    event = await house.event(ada)
    await house.service.events.edit(ada, event.slug, stated(name="Secret", visibility=Visibility.PRIVATE))
    assert await titles(house, ben) == []
    assert await sends(house, ben) == [("skipped", "hidden")]
    await house.service.events.edit(ada, event.slug, stated(name="More secret", visibility=Visibility.PRIVATE))
    await house.service.events.cancel(ada, event.slug)
    assert await titles(house, ben) == []
    async with house.database.unit_of_work() as work:
        words = " ".join(await work.session.scalars(select(NoticeRow.title + NoticeRow.heading + NoticeRow.detail)))
    assert "ecret" not in words, "nothing that it said while it was private is written down"


async def test_public_private_and_public_again_is_told_once_and_also_to_who_came_meanwhile(house: House) -> None:
    ada, ben = await follow(house)
    event = await house.event(ada)
    cleo = await house.person("Cleo")
    seen = await house.service.events.create(ada, stated(name="Market"))
    await house.service.events.edit(ada, event.slug, stated(visibility=Visibility.PRIVATE))
    await house.service.organisers.follow(cleo, seen.slug)
    for _ in range(2):
        await house.service.events.edit(ada, event.slug, stated(visibility=Visibility.PUBLIC))
    assert await titles(house, ben) == ["New event by Ada: Market", TITLE]
    assert await titles(house, cleo) == [TITLE]
    assert await sends(house, ben) == [("pending", "")] * 2


async def test_a_change_is_read_in_its_new_words_and_told_to_nobody_new(house: House) -> None:
    ada, ben = await follow(house)
    event = await house.event(ada)
    cleo = await house.person("Cleo")
    await house.service.organisers.follow(cleo, event.slug)
    await house.service.events.edit(ada, event.slug, stated(name="Autumn fair", start=soon(12)))
    assert await titles(house, ben) == ["New event by Ada: Autumn fair"]
    assert await titles(house, cleo) == []
    assert await sends(house, ben) == [("pending", "")], "what waits is sent as it is then"


async def test_a_cancelled_event_is_taken_back_and_a_reopened_one_is_there_again(house: House) -> None:
    ada, ben = await follow(house)
    event = await house.event(ada)
    await house.service.events.cancel(ada, event.slug)
    assert [line.withdrawn for line in await lines(house, ben)] == [True]
    await house.service.events.reopen(ada, event.slug)
    assert [line.withdrawn for line in await lines(house, ben)] == [False]
    await house.service.events.delete(ada, event.slug)
    assert [line.withdrawn for line in await lines(house, ben)] == [True]


async def test_the_same_form_sent_twice_at_once_tells_once(house: House) -> None:
    ada, ben = await follow(house)
    form = stated()
    keyed = type(form)(**{**vars(form), "request_key": "one form"})
    await asyncio.gather(*(house.service.events.create(ada, keyed) for _ in range(3)))
    assert await titles(house, ben) == [TITLE]
    assert len(await sends(house, ben)) == 1


async def test_an_event_that_is_refused_tells_nobody(house: House) -> None:
    ada, ben = await follow(house)
    event = await house.event(ada, visibility=Visibility.PRIVATE)
    late = type(stated())(**{**vars(stated(name="Late")), "version": 7})
    with pytest.raises(ConflictError):
        await house.service.events.edit(ada, event.slug, late)
    assert await titles(house, ben) == []


async def test_whoever_muted_or_left_the_organiser_hears_nothing(house: House) -> None:
    ada, ben = await follow(house)
    await house.event(ada)
    follows = PersonalFollows(house.database)
    await follows.mute(ben, organiser_subject(ada), True)
    assert await sends(house, ben) == [("skipped", "muted")]
    market = await house.service.events.create(ada, stated(name="Market"))
    assert await titles(house, ben) == [TITLE]
    for _ in range(2):
        await house.service.organisers.unfollow(ben, market.slug)
    await house.service.events.create(ada, stated(name="Concert", start=START))
    assert await titles(house, ben) == [TITLE]
    assert await follows.list(ben) == []


async def test_only_the_named_organiser_of_a_public_event_of_somebody_else_can_be_followed(house: House) -> None:
    ada, ben, nameless = await house.person("Ada"), await house.person("Ben"), await house.person()
    public, private = await house.event(ada), await house.event(ada, visibility=Visibility.PRIVATE)
    unnamed, draft = await house.event(nameless), await house.event(ada, draft=True)
    for hidden in (private, draft):
        with pytest.raises(NotFoundError, match="There is no such event"):
            await house.service.organisers.follow(ben, hidden.slug)
    with pytest.raises(ConflictError):
        await house.service.organisers.follow(ada, public.slug)
    with pytest.raises(ConflictError):
        await house.service.organisers.follow(ben, unnamed.slug)
    assert await house.service.organisers.follows(ada, public.slug) is None
    for _ in range(2):
        await house.service.organisers.follow(ben, public.slug)
    assert await house.service.organisers.follows(ben, public.slug) is True
    assert [one.name for one in await PersonalFollows(house.database).list(ben)] == ["Ada"]


async def test_with_the_account_of_an_organiser_ends_what_others_follow_and_read_of_them(
    house: House, resources: Resources
) -> None:
    ada, ben = await follow(house)
    await house.event(ada)
    for _ in range(2):
        await erase(resources, ada)
    assert await PersonalFollows(house.database).list(ben) == []
    assert await titles(house, ben) == []


async def test_a_new_name_is_that_of_the_follow_with_the_next_event(house: House) -> None:
    ada, ben = await follow(house)
    async with house.database.unit_of_work() as work:
        (await work.session.get_one(UserRow, ada)).name = "Ada L."
    await house.event(ada)
    [line] = await lines(house, ben)
    assert (line.title, line.because) == ("New event by Ada L.: Summer fair", "Ada L.")
