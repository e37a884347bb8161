"""What people are told leaves by the ways they chose, once, and follows what becomes of it."""

from dataclasses import replace

import pytest

from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import publish_to, withdraw
from pressbox.core.notices.ways import leave_ways
from pressbox.core.spoilers.choice import SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.delivery.domain.attempts import AttemptResult
from pressbox.delivery.ports import Attempt
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, LEAGUE, TEAM, tell
from tests.site import PASSWORD, cheap_passwords

TITLE = "Goal for Liverpool by Salah, 23′"
WITH_CLIP = replace(GOAL, detail="Liverpool 1–0 Arsenal. The clip is there.", path="/footy/clips/x", gist=TITLE)
OTHER_SCORER = replace(GOAL, title="Goal for Liverpool by Jota, 23′")
COVERED = replace(GOAL, spoiler=True, covered_title="A goal in Liverpool – Arsenal")
CHAT, PUSH = "channel:7", "push:3"


@pytest.fixture
def post(database: Database) -> Post:
    return Post(database)


@pytest.fixture
async def ada(database: Database, settings: Settings) -> int:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    number = (await accounts.add_user("ada@example.org", PASSWORD)).id
    await PersonalFollows(database).follow(number, TEAM, "Liverpool", "/footy")
    return number


@pytest.fixture
async def ben(database: Database, settings: Settings) -> int:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    number = (await accounts.add_user("ben@example.org", PASSWORD)).id
    await PersonalFollows(database).follow(number, LEAGUE, "Premier League", "/footy")
    return number


async def take_back(database: Database) -> None:
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])


async def test_a_notice_goes_once_by_every_way_that_each_follower_chose(
    database: Database, post: Post, ada: int, ben: int
) -> None:
    await post.choose(ada, f"account:{ada}", CHAT)
    await tell(database, GOAL)
    await tell(database, GOAL)
    assert await post.send() == 2
    assert await post.send() == 0
    assert sorted(post.place.received) == [(f"account:{ada}", TITLE), (CHAT, TITLE)], "Ben chose none"
    assert {(row.state, row.maybe_twice) for row in await post.rows()} == {("sent", False)}
    assert post.place.bodies[0].splitlines()[0] == "Liverpool – Arsenal"


async def test_a_clip_replaces_the_push_and_is_not_written_to_anybody_again(
    database: Database, post: Post, ada: int
) -> None:
    await post.choose(ada, CHAT, PUSH)
    await tell(database, GOAL)
    await post.send()
    await tell(database, WITH_CLIP)
    await post.send()
    assert post.place.titles(CHAT) == [TITLE]
    assert post.place.titles(PUSH) == [TITLE, TITLE]


async def test_what_waits_is_sent_as_it_is_now(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT)
    await tell(database, GOAL)
    await tell(database, OTHER_SCORER)
    await tell(database, replace(OTHER_SCORER, path="/footy/clips/x"))
    await post.send()
    assert post.place.titles(CHAT) == ["Goal for Liverpool by Jota, 23′"]


async def test_another_scorer_and_the_referee_are_corrected_everywhere_once(
    database: Database, post: Post, ada: int
) -> None:
    await post.choose(ada, CHAT, PUSH)
    await tell(database, GOAL)
    await post.send()
    for change in (OTHER_SCORER, OTHER_SCORER):
        await tell(database, change)
        await post.send()
    for _ in range(2):
        await take_back(database)
        await post.send()
    assert post.place.titles(CHAT) == [
        TITLE,
        "Correction: Goal for Liverpool by Jota, 23′",
        "Taken back: Goal for Liverpool by Jota, 23′",
    ]
    assert len(post.place.titles(PUSH)) == 3
    await tell(database, OTHER_SCORER)
    await post.send()
    assert post.place.titles(CHAT)[-1] == "Correction: Goal for Liverpool by Jota, 23′", "it counts after all"


async def test_what_is_withdrawn_before_it_was_sent_is_not_sent_and_can_come_back(
    database: Database, post: Post, ada: int
) -> None:
    await post.choose(ada, CHAT, PUSH)
    await tell(database, GOAL)
    await take_back(database)
    assert await post.send() == 0
    assert {(row.state, row.reason) for row in await post.rows()} == {("skipped", "withdrawn")}
    await tell(database, GOAL)
    await post.send()
    assert sorted(post.place.received) == [(CHAT, TITLE), (PUSH, TITLE)]


async def test_a_muted_team_is_silent_also_for_what_is_queued(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT)
    await PersonalFollows(database).follow(ada, LEAGUE, "Premier League", "/footy")
    await tell(database, GOAL)
    await PersonalFollows(database).mute(ada, LEAGUE, True)
    assert [(row.state, row.reason) for row in await post.rows()] == [("skipped", "muted")]
    assert await post.send() == 0


async def test_who_mutes_while_it_waits_for_its_turn_gets_nothing(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT)
    await tell(database, GOAL)
    sender = post.sender(freeze_at="look")
    running = post.start(sender)
    await sender.frozen.wait()
    await PersonalFollows(database).mute(ada, TEAM, True)
    sender.thawed.set()
    await running
    assert post.place.received == []
    assert [(row.state, row.reason) for row in await post.rows()] == [("skipped", "muted")]


async def test_who_unfollows_one_of_two_still_hears_by_the_other(database: Database, post: Post, ada: int) -> None:
    follows = PersonalFollows(database)
    await post.choose(ada, CHAT)
    await follows.follow(ada, LEAGUE, "Premier League", "/footy")
    await tell(database, GOAL, replace(GOAL, key="footy.goal.2"))
    await follows.unfollow(ada, LEAGUE)
    assert [row.state for row in await post.rows()] == ["pending", "pending"]
    await follows.unfollow(ada, TEAM)
    assert [(row.state, row.reason) for row in await post.rows()] == [("skipped", "unfollowed")] * 2


async def test_a_muted_person_hears_no_correction_either(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT)
    await tell(database, GOAL)
    await post.send()
    await PersonalFollows(database).mute(ada, TEAM, True)
    await take_back(database)
    await post.send()
    assert post.place.titles(CHAT) == [TITLE]


async def test_a_way_that_is_left_gets_nothing_more(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT)
    await tell(database, GOAL)
    async with database.unit_of_work() as work:
        await leave_ways(work.session, ada, [CHAT])
    assert [(row.state, row.reason) for row in await post.rows()] == [("skipped", "way_left")]
    await tell(database, replace(GOAL, key="footy.goal.2"))
    assert len(await post.rows()) == 1


async def test_who_hides_scores_reads_none_and_hears_of_one_goal_per_match(
    database: Database, post: Post, ada: int
) -> None:
    await PersonalSpoilers(database).choose(ada, SpoilerChoice(SpoilerMode.HIDDEN))
    await post.choose(ada, CHAT)
    await tell(database, COVERED)
    await tell(database, replace(COVERED, key="footy.goal.2", title="Goal for Arsenal by Saka, 30′"))
    await post.send()
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    await post.send()
    assert post.place.received == [(CHAT, "A goal in Liverpool – Arsenal")]
    assert "1–0" not in "".join(post.place.bodies)


async def test_who_wants_scores_later_is_told_later(database: Database, post: Post, ada: int) -> None:
    await PersonalSpoilers(database).choose(ada, SpoilerChoice(SpoilerMode.DELAY, 5))
    await post.choose(ada, CHAT)
    await tell(database, COVERED)
    assert await post.send() == 0
    await post.hurry()
    assert await post.send() == 0, "a row that is due too early looks again when the person may see it"
    assert [row.state for row in await post.rows()] == ["pending"]
    await PersonalSpoilers(database).choose(ada, SpoilerChoice())
    await post.hurry()
    assert await post.send() == 1


async def test_what_an_application_sends_itself_goes_only_to_browsers(database: Database, post: Post, ada: int) -> None:
    await post.choose(ada, CHAT, PUSH)
    async with database.unit_of_work() as work:
        await publish_to(work, replace(GOAL, key="soonish.message.1", followed=(), sends_itself=True), [ada])
        await publish_to(work, replace(GOAL, key="digest.1", followed=()), [ada])
    await post.send()
    assert sorted(post.place.received) == [(CHAT, TITLE), (PUSH, TITLE), (PUSH, TITLE)]


async def test_a_target_in_trouble_is_tried_again_and_a_refusal_is_final(
    database: Database, post: Post, ada: int
) -> None:
    await post.choose(ada, CHAT)
    await tell(database, GOAL)
    await post.send(Attempt(AttemptResult.UNAVAILABLE, "It answered 503."))
    assert [(row.state, row.reason) for row in await post.rows()] == [("pending", "It answered 503.")]
    await post.hurry()
    await post.send(Attempt(AttemptResult.REFUSED, "It answered 404."))
    assert [(row.state, row.reason) for row in await post.rows()] == [("failed", "It answered 404.")]
    await take_back(database)
    assert await post.send() == 0, "who was told nothing needs no correction"
