"""What is published reaches whoever follows it, once, and follows what becomes of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.changes import ChangeRow
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import FOLLOWS, PersonalFollows, rename_subject
from pressbox.core.notices.publish import NOTICE_CHANGED, withdraw
from pressbox.core.notices.rows import NoticeRow
from pressbox.core.quotas.quota import QuotaExceededError
from pressbox.inbox.store import Inbox, InboxStore
from pressbox.maintenance.contracts import Kind
from pressbox.maintenance.store import MaintenanceStore
from tests.fakes.notices import GOAL, LEAGUE, TEAM, tell
from tests.site import PASSWORD, cheap_passwords


@pytest.fixture
async def people(database: Database, settings: Settings) -> tuple[int, int]:
    accounts = AccountService(database, settings, passwords=cheap_passwords())
    ada = await accounts.add_user("ada@example.org", PASSWORD)
    ben = await accounts.add_user("ben@example.org", PASSWORD)
    return ada.id, ben.id


@pytest.fixture
def follows(database: Database) -> PersonalFollows:
    return PersonalFollows(database)


async def inbox(database: Database, user_id: int) -> Inbox:
    return await InboxStore(database).load(user_id)


async def test_who_follows_a_subject_is_told_once_and_nobody_else(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, ben = people
    await follows.follow(ada, LEAGUE, "Premier League", "/footy")
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    await tell(database, GOAL)
    page = await inbox(database, ada)
    assert [(line.title, line.because, line.read) for line in page.lines] == [
        ("Goal for Liverpool by Salah, 23′", "Liverpool", False)
    ]
    assert (page.unread, await inbox(database, ben)) == (1, Inbox([], 0, None))


async def test_a_notice_that_changes_is_rewritten_where_it_stands(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, ben = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    [line] = (await inbox(database, ada)).lines
    await InboxStore(database).mark(ada, [line.id], read=True)
    # Who follows it only now was not there when it happened.
    await follows.follow(ben, TEAM, "Liverpool", "/footy")
    await tell(database, replace(GOAL, picture="/footy/clips/x.jpg", path="/footy/clips/x"))
    [line] = (await inbox(database, ada)).lines
    assert (line.picture, line.path, line.read) == ("/footy/clips/x.jpg", "/footy/clips/x", True)
    assert not (await inbox(database, ben)).lines


async def test_what_is_withdrawn_is_unread_again_and_can_come_back(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, _ = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    store = InboxStore(database)
    await store.mark_all(ada, up_to=2**62)
    for _ in range(2):
        async with database.unit_of_work() as work:
            await withdraw(work, [GOAL.key, "footy.goal.never-told"])
    [line] = (await inbox(database, ada)).lines
    assert (line.withdrawn, line.read) == (True, False)
    await tell(database, GOAL)
    [line] = (await inbox(database, ada)).lines
    assert not line.withdrawn
    async with database.unit_of_work() as work:
        assert await work.session.scalar(select(NoticeRow.version)) == 3


async def test_a_change_is_announced_once_and_only_when_there_is_one(
    database: Database, people: tuple[int, int]
) -> None:
    await tell(database, GOAL)
    await tell(database, GOAL)
    async with database.unit_of_work() as work:
        changes = list(await work.session.scalars(select(ChangeRow).where(ChangeRow.kind == NOTICE_CHANGED)))
    assert len(changes) == 1


async def test_what_is_muted_is_silent_whatever_else_is_followed(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, ben = people
    for person in people:
        await follows.follow(person, TEAM, "Liverpool", "/footy")
        await follows.follow(person, LEAGUE, "Premier League", "/footy")
    assert await follows.mute(ada, TEAM, True)
    await tell(database, GOAL)
    assert not (await inbox(database, ada)).lines
    assert len((await inbox(database, ben)).lines) == 1
    assert [(follow.name, follow.muted) for follow in await follows.list(ada)] == [
        ("Premier League", False),
        ("Liverpool", True),
    ]
    assert await follows.mute(ada, TEAM, False)
    await tell(database, replace(GOAL, key="footy.goal.2"))
    assert len((await inbox(database, ada)).lines) == 1
    assert not await follows.mute(ada, "footy.team.7", True)


async def test_pages_follow_each_other_and_keep_subjects_together(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, _ = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    for number in range(5):
        await tell(database, replace(GOAL, key=f"footy.goal.{number}", subject=f"footy.fixture.{number % 2}"))
    store = InboxStore(database)
    first = await store.load(ada, limit=3)
    rest = await store.load(ada, before=first.older, limit=3)
    ids = [line.id for line in (*first.lines, *rest.lines)]
    assert (ids, rest.older) == (sorted(ids, reverse=True), None)
    whole = await store.load(ada)
    assert [[line.subject[-1] for line in lines] for lines in whole.groups] == [["0"] * 3, ["1"] * 2]


async def test_what_came_while_the_page_was_read_stays_unread(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, _ = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    seen = (await inbox(database, ada)).lines[0].id
    await tell(database, replace(GOAL, key="footy.goal.2"))
    assert await InboxStore(database).mark_all(ada, up_to=seen) == 1
    assert (await inbox(database, ada)).unread == 1


async def test_nobody_opens_or_marks_what_another_was_told(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, ben = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    [line] = (await inbox(database, ada)).lines
    store = InboxStore(database)
    assert await store.open(ben, line.id) is None
    assert await store.mark(ben, [line.id], read=True) == 0
    assert (await inbox(database, ada)).unread == 1
    assert await store.open(ada, line.id) == "/footy/matches/9"
    assert (await inbox(database, ada)).unread == 0


async def test_a_person_follows_so_many_things_and_no_more(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, _ = people
    for number in range(FOLLOWS.default):
        await follows.follow(ada, f"footy.team.{number}", "A team", "/footy")
    with pytest.raises(QuotaExceededError, match="50"):
        await follows.follow(ada, "footy.team.1000", "One more", "/footy")
    assert len(await follows.list(ada)) == FOLLOWS.default


async def test_followers_of_a_subject_that_gets_another_name_follow_the_new_one(
    database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, ben = people
    await follows.follow(ada, "footy.team.-5", "Liverpool", "/footy")
    await follows.follow(ben, "footy.team.-5", "Liverpool", "/footy")
    await follows.follow(ben, TEAM, "Liverpool", "/footy")
    async with database.unit_of_work() as work:
        await rename_subject(work.session, "footy.team.-5", TEAM)
    assert [[follow.subject for follow in await follows.list(person)] for person in people] == [[TEAM], [TEAM]]


async def test_old_notices_leave_every_inbox(
    resources: Resources, database: Database, people: tuple[int, int], follows: PersonalFollows
) -> None:
    ada, _ = people
    await follows.follow(ada, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    maintenance = MaintenanceStore(database, resources.objects)
    now = datetime.now(UTC)
    assert await maintenance.delete_rows(Kind.NOTICES, now - timedelta(days=90)) == 0
    assert await maintenance.delete_rows(Kind.NOTICES, now + timedelta(minutes=1)) == 1
    assert not (await inbox(database, ada)).lines
