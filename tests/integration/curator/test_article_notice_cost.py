"""Telling of articles costs the same few statements, however many articles and followers there are."""

import pytest
from sqlalchemy import text

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.curator.following.service import ArticleFollows
from pressbox.curator.library.subjects import FollowedKind
from tests.fakes.article_desk import Desk
from tests.statements import count_statements

_PEOPLE = """
    WITH people AS (
        INSERT INTO core.users (email, password_hash, role)
        SELECT concat('person-', n, '@example.org'), 'unusable', 'member' FROM generate_series(1, :people) AS n
        RETURNING id
    ), reading AS (
        INSERT INTO curator.subscriptions (user_id, feed_id) SELECT id, feed FROM people, unnest(:feeds) AS feed
    ), sending AS (
        INSERT INTO core.notice_ways (user_id, channel_key) SELECT id, concat('account:', id) FROM people
    )
    INSERT INTO core.follows (user_id, subject, name, path)
    SELECT id, concat('curator.feed.', feed), 'A feed', '/reader' FROM people, unnest(:feeds) AS feed
    WHERE :follows
"""
# The lock, the mark, the searches, and who hears of what.
MARKED = 4
# Then the articles, the notices, their copies, what leaves, and in three the word that something changed.
TOLD = MARKED + 7


async def count(desk: Desk, *, people: int, feeds: int, articles: int, follows: bool = True) -> tuple[int, int]:
    """The statements, and how many lines they left in inboxes."""
    numbers = [await desk.library.feed() for _ in range(feeds)]
    values = {"people": people, "feeds": numbers, "follows": follows}
    async with desk.database.unit_of_work() as work:
        await work.session.execute(text(_PEOPLE), values)
    found = [await desk.find(feed, f"Number {number}") for feed in numbers for number in range(articles)]
    with count_statements(desk.database) as statements:
        await desk.index(*found)
    async with desk.database.unit_of_work() as work:
        lines = await work.session.scalar(text("SELECT count(*) FROM core.inbox"))
    return len(statements), lines


@pytest.mark.parametrize(("people", "feeds", "articles"), [(1, 1, 1), (300, 1, 1), (300, 4, 10)])
async def test_the_statements_do_not_grow(resources: Resources, people: int, feeds: int, articles: int) -> None:
    spent, lines = await count(Desk(resources, (0, 0)), people=people, feeds=feeds, articles=articles)
    assert lines == people * feeds
    assert spent <= TOLD


async def test_a_search_is_tried_once_however_many_follow_it(resources: Resources) -> None:
    spent = []
    for people in (1, 50):
        desk = Desk(resources, (0, 0))
        feed = await desk.library.feed()
        async with desk.database.unit_of_work() as work:
            await work.session.execute(text("TRUNCATE core.users CASCADE"))
            await work.session.execute(text(_PEOPLE), {"people": people, "feeds": [feed], "follows": False})
            ids = list(await work.session.scalars(text("SELECT id FROM core.users")))
        for user_id in ids:
            await ArticleFollows(desk.database).follow_search(user_id, "number")
        found = [await desk.find(feed, f"Number {number}") for number in range(5)]
        with count_statements(desk.database) as statements:
            await desk.index(*found)
        spent.append(len(statements))
    # The searches, what is news, and its words come to the rest; and the names of the searches.
    assert spent[0] == spent[1] <= TOLD + 4


async def test_where_nobody_follows_it_is_one_statement_more(resources: Resources) -> None:
    spent, lines = await count(Desk(resources, (0, 0)), people=20, feeds=2, articles=5, follows=False)
    assert (lines, spent <= MARKED) == (0, True)


async def test_indexing_again_asks_nothing(resources: Resources) -> None:
    desk = Desk(resources, (0, 0))
    feed = await desk.library.feed()
    entry = await desk.find(feed, seen=utc_now())
    await desk.index(entry)
    with count_statements(desk.database) as statements:
        await desk.index(entry, shown="b")
    assert [one for one in statements if FollowedKind.FEED.subject(0)[:-1] in one] == []
