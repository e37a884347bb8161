"""Who wants to hear of something later hears of it then, by every way and in the words that are true then."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.kinds import LONGEST_DELAY, choose_delay
from pressbox.core.notices.publish import withdraw
from pressbox.core.spoilers.choice import SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.inbox.store import InboxStore
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, LEAGUE, TEAM, tell
from tests.site import PASSWORD, cheap_passwords

CHAT = "channel:7"
CLIP = replace(GOAL, detail="Liverpool 1–0 Arsenal. The clip is there.")


@pytest.fixture
def post(database: Database) -> Post:
    return Post(database)


async def person(database: Database, settings: Settings, name: str, delay: int) -> int:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    number = (await accounts.add_user(f"{name}@example.org", PASSWORD)).id
    follows = PersonalFollows(database)
    await follows.follow(number, TEAM, "Liverpool", "/footy")
    await follows.choose(number, TEAM, kinds=None, reminders=None, delay_minutes=delay)
    return number


@pytest.fixture
async def ada(database: Database, settings: Settings, post: Post) -> int:
    """Follows Liverpool an hour late."""
    number = await person(database, settings, "ada", 60)
    await post.choose(number, CHAT)
    return number


async def lines(database: Database, user_id: int) -> list[tuple[str, bool]]:
    return [(line.detail, line.withdrawn) for line in (await InboxStore(database).load(user_id)).lines]


async def let_pass(database: Database, minutes: int) -> None:
    """Let everything have happened so many minutes earlier."""
    span = {"minutes": minutes}
    async with database.unit_of_work() as work:
        for table, columns in (
            ("inbox", ("arrived_at", "visible_at")),
            ("notice_sends", ("next_try_at",)),
            ("notice_versions", ("changed_at",)),
        ):
            moved = ", ".join(f"{column} = {column} - make_interval(mins => :minutes)" for column in columns)
            await work.session.execute(text(f"UPDATE core.{table} SET {moved}"), span)


async def test_a_goal_comes_later_by_every_way_and_to_others_at_once(
    database: Database, settings: Settings, post: Post, ada: int
) -> None:
    ben = await person(database, settings, "ben", 0)
    await tell(database, GOAL)
    assert await lines(database, ben) == [(GOAL.detail, False)]
    assert await lines(database, ada) == []
    assert (await InboxStore(database).load(ada)).unread == 0
    assert await post.send() == 0
    await let_pass(database, 30)
    assert (await lines(database, ada), await post.send()) == ([], 0)
    await tell(database, CLIP)
    await let_pass(database, 30)
    assert await lines(database, ada) == [(CLIP.detail, False)], "as it is true then"
    assert (await InboxStore(database).load(ada)).unread == 1
    assert await post.send() == 1
    assert await post.send() == 0


async def test_what_is_taken_back_before_its_time_is_sent_nowhere(database: Database, post: Post, ada: int) -> None:
    await tell(database, GOAL)
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    await let_pass(database, 60)
    assert await post.send() == 0
    assert await lines(database, ada) == [(GOAL.detail, True)]


@pytest.mark.parametrize("reason", ["muted", "unfollowed"])
async def test_who_mutes_or_leaves_while_it_waits_hears_nothing(
    database: Database, post: Post, ada: int, reason: str
) -> None:
    follows = PersonalFollows(database)
    await tell(database, GOAL)
    for _ in range(2):
        await (follows.mute(ada, TEAM, True) if reason == "muted" else follows.unfollow(ada, TEAM))
    await let_pass(database, 60)
    assert await post.send() == 0
    assert {(row.state, row.reason) for row in await post.rows()} == {("skipped", reason)}
    assert await lines(database, ada) == []


async def test_what_still_comes_by_another_follow_is_kept(database: Database, ada: int) -> None:
    follows = PersonalFollows(database)
    await follows.follow(ada, LEAGUE, "Premier League", "/footy")
    await tell(database, GOAL)
    await follows.unfollow(ada, TEAM)
    await let_pass(database, 60)
    assert len(await lines(database, ada)) == 1


async def test_the_closest_of_two_follows_says_when(database: Database, ada: int) -> None:
    await PersonalFollows(database).follow(ada, LEAGUE, "Premier League", "/footy")
    await tell(database, GOAL)
    assert await lines(database, ada) == []
    await tell(database, replace(GOAL, key="footy.goal.2", followed=(LEAGUE,)))
    assert len(await lines(database, ada)) == 1


async def test_a_delay_comes_on_top_of_that_of_scores(database: Database, ada: int) -> None:
    await PersonalSpoilers(database).choose(ada, SpoilerChoice(SpoilerMode.DELAY, 60))
    await tell(database, replace(GOAL, spoiler=True, covered_title="A goal in Liverpool – Arsenal"))
    await let_pass(database, 90)
    assert await lines(database, ada) == []
    await let_pass(database, 30)
    assert len(await lines(database, ada)) == 1


async def test_another_delay_counts_for_what_comes_after(database: Database, ada: int) -> None:
    await tell(database, GOAL)
    await PersonalFollows(database).choose(ada, TEAM, kinds=None, reminders=None, delay_minutes=0)
    assert await lines(database, ada) == []
    await tell(database, replace(GOAL, key="footy.goal.2"))
    assert len(await lines(database, ada)) == 1


def test_a_delay_has_bounds() -> None:
    assert choose_delay(LONGEST_DELAY) == LONGEST_DELAY
    for wrong in (-1, LONGEST_DELAY + 1):
        with pytest.raises(InvalidInputError):
            choose_delay(wrong)
