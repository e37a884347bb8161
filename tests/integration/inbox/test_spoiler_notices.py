"""What three people read of one goal: at once, under cover until they look, and ten minutes later."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from pressbox.core.accounts.service import AccountService
from pressbox.core.audiences.contracts import Audience
from pressbox.core.audiences.members import find_members
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import Notice, publish_to, withdraw
from pressbox.core.notices.reader import TOLD, TOLD_KIND, count_unread
from pressbox.core.notices.reading import read_notices
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.inbox.store import InboxStore, Line
from tests.fakes.notices import GOAL, TEAM, tell
from tests.site import PASSWORD, cheap_passwords

SPOILER = replace(GOAL, spoiler=True, covered_title="A goal in Liverpool – Arsenal")
SECOND = replace(SPOILER, key="footy.goal.2", title="Goal for Arsenal by Saka, 30′", detail="Liverpool 1–1 Arsenal")


class Three:
    """Ada sees scores at once, Ben when he looks, Cleo ten minutes later."""

    def __init__(self, database: Database, ada: int, ben: int, cleo: int) -> None:
        self.database = database
        self.ada, self.ben, self.cleo = ada, ben, cleo
        self.store, self.spoilers = InboxStore(database), PersonalSpoilers(database)

    async def lines(self, person: int) -> list[Line]:
        return list((await self.store.load(person)).lines)

    async def titles(self, person: int) -> list[str]:
        return [line.title for line in await self.lines(person)]

    async def unread(self) -> list[int]:
        async with self.database.unit_of_work() as work:
            return [await count_unread(work.session, person) for person in (self.ada, self.ben, self.cleo)]

    async def listeners(self, notice: Notice) -> set[int]:
        async with self.database.unit_of_work() as work:
            found = text("SELECT id FROM core.notices WHERE key = :key")
            number = await work.session.scalar(found, {"key": notice.key})
            audience = Audience(kind=TOLD_KIND, id=number)
            members = await find_members(work.session, [TOLD], [audience], [self.ada, self.ben, self.cleo])
        return {person for _, person in members.listed}

    async def pass_minutes(self, minutes: int) -> None:
        """Let all that is stored have happened so much earlier."""
        earlier = {"by": timedelta(minutes=minutes)}
        async with self.database.unit_of_work() as work:
            for statement in (
                "UPDATE core.notices SET changed_at = changed_at - :by",
                "UPDATE core.notice_versions SET changed_at = changed_at - :by",
                "UPDATE core.inbox SET arrived_at = arrived_at - :by, visible_at = visible_at - :by, "
                "read_at = read_at - :by, unread_at = unread_at - :by",
            ):
                await work.session.execute(text(statement), earlier)


@pytest.fixture
async def three(database: Database, settings: Settings) -> Three:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ids = [(await accounts.add_user(f"{name}@example.org", PASSWORD)).id for name in ("ada", "ben", "cleo")]
    for person in ids:
        await PersonalFollows(database).follow(person, TEAM, "Liverpool", "/footy")
    people = Three(database, *ids)
    await people.spoilers.choose(people.ben, choose("hidden"))
    await people.spoilers.choose(people.cleo, choose("delay", 10))
    return people


async def test_a_goal_is_told_at_once_under_cover_and_later(three: Three) -> None:
    await tell(three.database, SPOILER)
    assert await three.titles(three.ada) == ["Goal for Liverpool by Salah, 23′"]
    [line] = await three.lines(three.ben)
    assert (line.title, line.detail, line.covered) == ("A goal in Liverpool – Arsenal", "", True)
    assert await three.lines(three.cleo) == []
    assert (await three.unread(), await three.listeners(SPOILER)) == ([1, 1, 0], {three.ada, three.ben})
    await three.pass_minutes(9)
    assert await three.lines(three.cleo) == []
    await three.pass_minutes(1)
    assert await three.titles(three.cleo) == ["Goal for Liverpool by Salah, 23′"]
    assert (await three.unread(), await three.listeners(SPOILER)) == ([1, 1, 1], {three.ada, three.ben, three.cleo})


async def test_a_second_goal_is_not_told_to_who_hides_scores(three: Three) -> None:
    await tell(three.database, SPOILER, replace(SECOND, key="footy.goal.3"))
    await tell(three.database, SECOND)
    assert len(await three.lines(three.ada)) == 3
    assert await three.titles(three.ben) == ["A goal in Liverpool – Arsenal"]
    assert (await three.unread())[:2] == [3, 1]
    over = replace(SPOILER, key="over", kind="full-time", covered_title="Liverpool – Arsenal is over")
    await tell(three.database, over, replace(SECOND, key="another", subject="footy.fixture.10"))
    assert sorted(await three.titles(three.ben)) == [
        "A goal in Liverpool – Arsenal",
        "A goal in Liverpool – Arsenal",
        "Liverpool – Arsenal is over",
    ]


async def test_who_looks_reads_everything_and_is_told_of_none_of_it_again(three: Three) -> None:
    await tell(three.database, SPOILER, SECOND)
    await three.spoilers.reveal(three.ben, [SPOILER.subject])
    assert await three.titles(three.ben) == [SECOND.title, SPOILER.title]
    assert (await three.unread())[1] == 0
    # What happens after they looked they hear at once, and the match of another day stays hidden.
    await tell(three.database, replace(SECOND, key="footy.goal.4", title="Goal for Arsenal by Ødegaard, 88′"))
    await tell(three.database, replace(SECOND, key="footy.goal.5", subject="footy.fixture.10"))
    assert (await three.titles(three.ben))[:2] == ["A goal in Liverpool – Arsenal", "Goal for Arsenal by Ødegaard, 88′"]
    await three.spoilers.conceal(three.ben, [SPOILER.subject])
    assert await three.titles(three.ben) == ["A goal in Liverpool – Arsenal"] * 2


async def test_a_rewritten_goal_says_what_it_said_so_many_minutes_ago(three: Three) -> None:
    await tell(three.database, SPOILER)
    await three.pass_minutes(6)
    await tell(three.database, replace(SPOILER, detail="Liverpool 1–0 Arsenal. The clip is there.", picture="/x.jpg"))
    await three.pass_minutes(6)
    [line] = await three.lines(three.cleo)
    assert (line.detail, line.picture) == ("Liverpool 1–0 Arsenal", "")
    [covered] = await three.lines(three.ben)
    assert (covered.detail, covered.picture) == ("", "")
    assert await three.listeners(SPOILER) == {three.ada, three.ben}
    await three.pass_minutes(4)
    [line] = await three.lines(three.cleo)
    assert (line.detail, line.picture) == ("Liverpool 1–0 Arsenal. The clip is there.", "/x.jpg")


async def test_a_goal_that_is_taken_back_is_struck_out_at_each_ones_own_time(three: Three) -> None:
    await tell(three.database, SPOILER)
    await three.pass_minutes(11)
    for person in (three.ada, three.ben, three.cleo):
        await three.store.mark_all(person, up_to=2**62)
    async with three.database.unit_of_work() as work:
        await withdraw(work, [SPOILER.key])
    assert await three.unread() == [1, 0, 0]
    assert [(await three.lines(one))[0].withdrawn for one in (three.ada, three.ben, three.cleo)] == [True, False, False]
    # Reading it meanwhile does not take the later news away.
    [line] = await three.lines(three.cleo)
    await three.store.mark(three.cleo, [line.id], read=False)
    await three.store.mark(three.cleo, [line.id], read=True)
    await three.pass_minutes(10)
    assert await three.unread() == [1, 0, 1]
    [line] = await three.lines(three.cleo)
    assert (line.withdrawn, line.read) == (True, False)
    await three.store.mark_all(three.cleo, up_to=2**62)
    assert await three.unread() == [1, 0, 0]


async def test_a_goal_that_never_counted_is_never_seen_standing_by_who_waits_longer(three: Three) -> None:
    await three.spoilers.choose(three.cleo, choose("delay", 60))
    await tell(three.database, SPOILER)
    async with three.database.unit_of_work() as work:
        await withdraw(work, [SPOILER.key])
    await three.pass_minutes(60)
    [line] = await three.lines(three.cleo)
    assert line.withdrawn


async def test_another_choice_counts_for_what_is_there_already(three: Three) -> None:
    await tell(three.database, SPOILER, SECOND)
    await three.spoilers.choose(three.ben, choose("delay", 5))
    assert await three.lines(three.ben) == []
    await three.spoilers.choose(three.cleo, choose("hidden"))
    assert await three.titles(three.cleo) == ["A goal in Liverpool – Arsenal"]
    await three.spoilers.choose(three.ben, choose("off"))
    assert len(await three.lines(three.ben)) == 2


async def test_what_is_not_visible_is_neither_opened_nor_marked(three: Three) -> None:
    await tell(three.database, SPOILER)
    [line] = await three.lines(three.ada)
    assert await three.store.open(three.cleo, line.id) is None
    assert await three.store.mark_all(three.cleo, up_to=2**62) == 0
    await three.pass_minutes(10)
    assert (await three.unread())[2] == 1


async def test_senders_read_the_same_words_and_versions_of_each_persons_own(three: Three) -> None:
    await tell(three.database, SPOILER)
    await tell(three.database, replace(SPOILER, detail="Liverpool 1–0 Arsenal. The clip is there."))
    [line] = await three.lines(three.ada)
    wanted = [(person, line.id) for person in (three.ada, three.ben, three.cleo)]
    async with three.database.unit_of_work() as work:
        shown = await read_notices(work.session, wanted)
        assert await read_notices(work.session, []) == {}
    assert {who: (one.title, one.version) for (who, _), one in shown.items()} == {
        three.ada: (SPOILER.title, 2),
        three.ben: (SPOILER.covered_title, 1),
    }


async def test_what_is_told_to_people_by_name_keeps_to_their_choice_too(three: Three) -> None:
    async with three.database.unit_of_work() as work:
        await publish_to(work, SPOILER, [three.ada, three.ben, three.cleo])
    assert [await three.titles(one) for one in (three.ada, three.ben, three.cleo)] == [
        [SPOILER.title],
        [SPOILER.covered_title],
        [],
    ]


async def test_notices_without_scores_are_for_everybody_at_once(three: Three) -> None:
    await tell(three.database, replace(GOAL, kind="kick-off", title="Liverpool – Arsenal has begun"))
    assert await three.unread() == [1, 1, 1]


def test_a_spoiler_has_to_say_what_is_read_under_cover() -> None:
    with pytest.raises(ValueError, match="does not say"):
        replace(GOAL, spoiler=True)
