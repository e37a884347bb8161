"""What `pressbox bench reader-api` measures beside each other is the same page."""

from pressbox.bench.reader_api import BY_OFFSET, RequestTimes
from pressbox.bench.reader_library import fill
from pressbox.core.accounts.models import Role
from pressbox.core.accounts.people import insert_user
from pressbox.core.db.database import Database
from pressbox.curator.apps.domain import StreamQuery
from pressbox.curator.apps.stream_store import SqlStreams

ENTRIES = 400


async def test_the_page_by_offset_is_the_page_by_continuation(database: Database) -> None:
    async with database.unit_of_work() as work:
        user_id = (await insert_user(work.session, "reader@example.org", "", "unusable", Role.MEMBER)).id
    fill(database.driver_url, user_id, entries=ENTRIES, feeds=40)
    middle = ENTRIES // 2
    page = await SqlStreams(database).references(user_id, StreamQuery(after=ENTRIES - middle + 1, limit=50))
    async with database.unit_of_work() as work:
        connection = await work.session.connection()
        rows = (await connection.exec_driver_sql(BY_OFFSET, (user_id, middle, 50))).all()
    assert [one.entry_id for one in page.items] == [row[0] for row in rows]
    assert len(rows) == 50


def test_the_slow_end_is_what_counts() -> None:
    assert 900 < RequestTimes([0.1] * 18 + [1.0] * 2, 0, 0).p95 <= 1000
