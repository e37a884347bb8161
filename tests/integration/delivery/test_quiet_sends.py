"""In quiet hours what somebody follows waits, and leaves as it is then; what was told to them by name does not wait."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from pressbox.core.accounts.service import AccountService
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import publish_to, withdraw
from pressbox.delivery.domain.quiet_hours import QUIET, QuietHours
from pressbox.delivery.service.quiet_hours import PersonalQuietHours
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, TEAM, tell
from tests.site import PASSWORD, cheap_passwords

CHAT, PUSH = "channel:7", "push:3"


def quiet_now() -> QuietHours:
    """Around this moment, whenever it is."""
    now = utc_now()
    return QuietHours((now - timedelta(hours=2)).time(), (now + timedelta(hours=2)).time(), "UTC")


@pytest.fixture
def post(database: Database) -> Post:
    return Post(database)


@pytest.fixture
async def ada(database: Database, settings: Settings, post: Post) -> int:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    number = (await accounts.add_user("ada@example.org", PASSWORD)).id
    await PersonalFollows(database).follow(number, TEAM, "Liverpool", "/footy")
    await post.choose(number, CHAT, PUSH)
    await PersonalQuietHours(database).choose(number, quiet_now())
    return number


async def test_a_goal_waits_until_quiet_hours_end_and_leaves_once(database: Database, post: Post, ada: int) -> None:
    await tell(database, GOAL)
    assert await post.send() == 0
    assert {(row.state, row.reason) for row in await post.rows()} == {("pending", QUIET)}
    async with database.unit_of_work() as work:
        soon = text("SELECT count(*) FROM core.notice_sends WHERE next_try_at < now() + interval '1 hour'")
        assert await work.session.scalar(soon) == 0
    await PersonalQuietHours(database).choose(ada, None)
    assert await post.send() == 2
    assert sorted(key for key, _ in post.place.received) == [CHAT, PUSH]
    assert await post.send() == 0


async def test_what_is_taken_back_while_it_waits_is_never_told(database: Database, post: Post, ada: int) -> None:
    await tell(database, GOAL)
    await post.send()
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    await PersonalQuietHours(database).choose(ada, None)
    assert await post.send() == 0
    assert post.place.received == []


async def test_who_mutes_in_quiet_hours_hears_nothing_when_they_end(database: Database, post: Post, ada: int) -> None:
    await tell(database, GOAL)
    await post.send()
    await PersonalFollows(database).mute(ada, TEAM, True)
    await PersonalQuietHours(database).choose(ada, None)
    assert await post.send() == 0
    assert {(row.state, row.reason) for row in await post.rows()} == {("skipped", "muted")}


async def test_what_is_told_by_name_comes_at_its_time(database: Database, post: Post, ada: int) -> None:
    async with database.unit_of_work() as work:
        await publish_to(work, replace(GOAL, key="digest.1", followed=()), [ada])
    assert await post.send() == 2
