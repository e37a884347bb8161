"""What `pressbox bench reader` fills the reader with is a reader's library."""

from pressbox.bench.reader import BROWSING, REQUESTS, UP_TO_DATE
from pressbox.bench.reader_library import CATEGORIES, fill, mark_read
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.people import insert_user
from pressbox.core.db.database import Database
from pressbox.curator.reading.domain import ListKind, Selection
from pressbox.curator.reading.store import SqlReadingLists
from pressbox.curator.sources.store import SqlSubscriptions


async def test_the_tables_are_filled_as_the_reader_would_have_done(database: Database) -> None:
    async with database.unit_of_work() as work:
        user_id = (await insert_user(work.session, "reader@example.org", "", "unusable", Role.MEMBER)).id
    fill(database.driver_url, user_id, entries=400, feeds=40)
    lists, sources = SqlReadingLists(database), SqlSubscriptions(database)
    before = await sources.sources(user_id)
    assert (len(before.feeds), len(before.categories)) == (40, CATEGORIES)
    assert sum(feed.unread for feed in before.feeds) == 400
    page = await lists.load_entries(user_id, Selection(kind=ListKind.ALL), None, 50)
    assert [item.id for item in page.items][:3] == [1, 2, 3]
    # One in twenty is another feed's copy of the article before.
    assert 20 not in [item.id for item in page.items]
    assert "<p>" in (await lists.load_article(user_id, 7)).body_html

    mark_read(database.driver_url, user_id, UP_TO_DATE, 400)
    unread = await lists.load_entries(user_id, Selection(kind=ListKind.UNREAD), None, 50)
    assert unread.items
    assert all(item.id > 360 for item in unread.items)


def test_shares_are_shares() -> None:
    assert all(0 <= share <= 1 for share in (*BROWSING, *UP_TO_DATE))
    assert REQUESTS >= 100
