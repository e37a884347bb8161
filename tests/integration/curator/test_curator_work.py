"""What models cost, and what happens when people and crawls act at the same time, on a real database."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from pressbox.core.app import Resources
from pressbox.core.errors import InvalidInputError
from pressbox.core.spending.domain import PaidAnswer, PaidCall
from pressbox.curator.library.rows import EntryRow, EntryStateRow, SubscriptionRow
from pressbox.curator.reading.domain import ListKind, Selection
from tests.fakes.reader import NOW, Library
from tests.fakes.spending import spend


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


async def test_costs_are_told_per_day_and_feed_to_those_whom_they_concern(library: Library) -> None:
    anna = await library.person()
    mine, foreign = await library.feed(anna, title="Mine"), await library.feed(title="Foreign")
    for number, (feed, days) in enumerate([(mine, 0), (mine, 0), (mine, 1), (foreign, 0), (mine, 40), (None, 0)]):
        call = PaidCall(f"hash {number}", "1", "a model", "distil", None, feed)
        await spend(library.database, call, PaidAnswer("{}", 100, 10, 0.5), NOW - timedelta(days=days))
    costs = await library.service.costs.costs(anna)
    today = NOW.date()
    assert [(item.day, item.feed_title, item.calls, item.tokens_in, item.cost) for item in costs.days] == [
        (today, "Mine", 2, 200, 1.0),
        (today - timedelta(days=1), "Mine", 1, 100, 0.5),
    ]
    assert (costs.budget.tokens_today, costs.budget.tokens_per_day) == (4 * 110, 1000)
    assert (costs.budget.used_up, costs.today) == (False, today)
    assert await library.service.costs.spent_budget() is None
    everything = await library.service.costs.costs(anna, administrator=True)
    # What others read counts, and has no name, like what belongs to no feed.
    assert [(item.day, item.feed_id, item.feed_title, item.calls, item.cost) for item in everything.days] == [
        (today, None, "", 2, 1.0),
        (today, mine, "Mine", 2, 1.0),
        (today - timedelta(days=1), mine, "Mine", 1, 0.5),
    ]


async def test_costs_are_told_per_feature_with_what_was_of_no_use(library: Library) -> None:
    anna = await library.person()
    mine = await library.feed(anna, title="Mine")
    for number, feature in enumerate(["distil", "context", "context"]):
        call = PaidCall(f"hash {number}", "1", "a model", feature, None, mine)
        await spend(library.database, call, PaidAnswer("{}", 400, 100, 0.5, usable=number != 2), NOW)
    costs = await library.service.costs.costs(anna)
    assert [(item.feature, item.calls, item.useless) for item in costs.days] == [("context", 2, 1), ("distil", 1, 0)]
    spent = await library.service.costs.spent_budget()
    assert spent is not None
    assert (spent.tokens_today, spent.resumes_at) == (1500, NOW.replace(hour=0) + timedelta(days=1))


async def test_counts_are_right_after_windows_and_crawls_acted_at_the_same_time(library: Library) -> None:
    anna, bert = await library.person(), await library.person()
    feeds = [await library.feed(anna, bert) for _ in range(3)]
    entries = [await library.entry(feed, story=f"s{number % 4}") for number in range(8) for feed in feeds]
    states = library.service.states
    later = NOW + timedelta(minutes=1)
    await asyncio.gather(
        states.mark_read(anna, entries[::2]),
        states.mark_read(anna, entries[1::3]),
        states.mark_read(bert, entries[:5]),
        states.mark_read(anna, entries[:4], read=False),
        states.mark_all_read(bert, Selection(ListKind.FEED, feeds[0]), until=NOW),
        states.star(anna, entries[0]),
        states.set_note(anna, entries[0], "Mine."),
        *(library.entry(feed, seen=later, story="s1") for feed in feeds),
    )
    unread = (
        select(func.count())
        .select_from(EntryRow)
        .where(
            EntryRow.feed_id == SubscriptionRow.feed_id,
            ~select(EntryStateRow.entry_id)
            .where(
                EntryStateRow.entry_id == EntryRow.id,
                EntryStateRow.user_id == SubscriptionRow.user_id,
                EntryStateRow.read_at.is_not(None),
            )
            # Otherwise it would ask whether anybody has read it.
            .correlate(EntryRow, SubscriptionRow)
            .exists(),
        )
        .scalar_subquery()
    )
    async with library.database.unit_of_work() as work:
        rows = (await work.session.execute(select(SubscriptionRow.unread, unread))).tuples().all()
    assert len(rows) == 6
    assert [told for told, _ in rows] == [real for _, real in rows]
    article = await library.service.reading.load_article(anna, entries[0])
    assert (article.starred, article.note) == (True, "Mine.")


async def test_too_much_at_once_is_refused(library: Library) -> None:
    anna = await library.person()
    for refused in (
        library.service.states.mark_read(anna, range(1001)),
        library.service.states.mark_all_read(anna, Selection(query="fire"), until=NOW),
        library.service.reading.load_entries(anna, Selection(query="x" * 501)),
        library.service.outlines.take(anna, b"x" * 10_000_001),
    ):
        with pytest.raises(InvalidInputError):
            await refused
