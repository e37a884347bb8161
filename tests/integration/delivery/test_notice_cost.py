"""What telling costs: flat per notice when it is published, and a few statements per page when it leaves."""

import pytest
from sqlalchemy import event, text

from pressbox.core.db.database import Database
from pressbox.core.notices.publish import withdraw
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, TEAM, tell

_FOLLOWERS = """
    WITH people AS (
        INSERT INTO core.users (email, password_hash, role)
        SELECT concat('person-', n, '@example.org'), 'unusable', 'member' FROM generate_series(1, :people) AS n
        RETURNING id
    ), following AS (
        INSERT INTO core.follows (user_id, subject, name, path) SELECT id, :team, 'Liverpool', '/footy' FROM people
    )
    INSERT INTO core.notice_ways (user_id, channel_key) SELECT id, concat('account:', id) FROM people
"""


class Statements:
    """Counts what the database is asked."""

    def __init__(self, database: Database) -> None:
        self.count = 0
        event.listen(database.engine.sync_engine, "before_cursor_execute", self._note)

    def _note(self, *_: object) -> None:
        self.count += 1

    def take(self) -> int:
        taken, self.count = self.count, 0
        return taken


async def measure(database: Database, people: int, post: Post) -> tuple[int, int, int]:
    """The statements of a goal, of its withdrawal, and of one page of 500 on its way."""
    async with database.unit_of_work() as work:
        await work.session.execute(text(_FOLLOWERS), {"people": people, "team": TEAM})
    statements = Statements(database)
    await tell(database, GOAL)
    published = statements.take()
    await post.start(post.sender(), at_once=64, page=500)
    sent = statements.take()
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    return published, statements.take(), sent


@pytest.mark.slow
@pytest.mark.parametrize("people", [1, 1000])
async def test_telling_many_costs_as_many_statements_as_telling_one(database: Database, people: int) -> None:
    post = Post(database)
    published, taken_back, sent = await measure(database, people, post)
    assert len(post.place.received) == people
    assert published <= 9, "the notice, its copies, its rows, the change and the word to readers"
    assert taken_back <= 10
    # A page of 500 is claimed and decided by about ten; the rest are notes, last looks and results, in groups that grow
    # with the load: a fifth of a statement per person was counted at 1,000; one for each would mean no groups at all.
    assert sent <= 40 + people
