"""How many statements the pages of the reader make: each is a round trip, and takes longer than the rows it brings."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.curator.apps.domain import Stream, StreamKind, StreamQuery
from pressbox.curator.reading.domain import ListKind, Selection
from tests.fakes.reader import NOW, Library
from tests.site import Browser, browsing, serving
from tests.statements import count_statements

FEEDS = 4


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def person(resources: Resources, settings: Settings, library: Library) -> AsyncIterator[Browser]:
    async with serving(resources, settings) as app, browsing(app, "reader") as person:
        for _ in range(FEEDS):
            feed_id = await library.feed(person.user_id)
            for _ in range(3):
                await library.entry(feed_id)
        # The first request also looks up what is remembered for a while, such as the person's limits.
        await person.get("/reader")
        yield person


async def ask(person: Browser, library: Library, path: str) -> list[str]:
    with count_statements(library.database) as statements:
        answer = await person.get(path)
    assert answer.status_code == 200
    return statements


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/reader", 8),
        ("/reader?list=all", 7),
        ("/reader?list=all&sort=oldest", 7),
        ("/reader?list=starred", 5),
    ],
)
async def test_a_list_takes_few_statements(person: Browser, library: Library, path: str, most: int) -> None:
    statements = await ask(person, library, path)
    assert len(statements) <= most, "\n".join(statements)


async def test_an_article_takes_few_statements_beside_its_list(person: Browser, library: Library) -> None:
    entry_id = await library.entry(await library.feed(person.user_id))
    statements = await ask(person, library, f"/reader/entries/{entry_id}?list=all")
    assert len(statements) <= 20, "\n".join(statements)


async def test_a_page_reads_the_feeds_of_a_person_once(person: Browser, library: Library) -> None:
    """There may be hundreds of them."""
    entry_id = await library.entry(await library.feed(person.user_id))
    for path in ("/reader", f"/reader/entries/{entry_id}"):
        statements = await ask(person, library, path)
        titles = [one for one in statements if "curator.subscriptions.title" in one]
        assert len(titles) == 1, "\n".join(titles)


@contextmanager
def noted_statements(database: Database, words: str) -> Iterator[list[tuple[str, Any]]]:
    """Note the statements that hold these words, with their values."""
    noted: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, values: object, *___: object) -> None:
        if words in statement:
            noted.append((statement, values))

    event.listen(database.engine.sync_engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(database.engine.sync_engine, "before_cursor_execute", note)


async def explain(database: Database, statement: str, values: Any) -> str:
    """The plan of a table that is too large to be read as a whole."""
    async with database.engine.connect() as connection:
        autocommit = await connection.execution_options(isolation_level="AUTOCOMMIT")
        await autocommit.exec_driver_sql("VACUUM ANALYZE curator.entries, curator.entry_states")
    async with database.engine.begin() as connection:
        await connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        await connection.exec_driver_sql("SET LOCAL enable_bitmapscan = off")
        found = await connection.exec_driver_sql(f"EXPLAIN {statement}", values)
        return "\n".join(row[0] for row in found)


async def test_ids_for_an_app_are_found_without_opening_the_entries(library: Library) -> None:
    anna = await library.person()
    feed_id = await library.feed(anna)
    for _ in range(200):
        await library.entry(feed_id)
    unread = StreamQuery(Stream(StreamKind.ALL), excluding=(Stream(StreamKind.READ),), limit=1000)
    with noted_statements(library.database, "first_seen_at") as noted:
        page = await library.service.streams.references(anna, unread)
    assert len(page.items) == 200
    [(statement, values)] = noted
    assert "Index Only Scan Backward using ix_entries_arrived" in await explain(library.database, statement, values)


async def test_a_list_is_found_without_opening_the_entries(library: Library) -> None:
    anna = await library.person()
    for _ in range(20):
        feed_id = await library.feed(anna)
        for _ in range(10):
            await library.entry(feed_id)
    with noted_statements(library.database, "LIMIT") as noted:
        await library.service.reading.load_entries(anna, Selection(ListKind.UNREAD), limit=15)
    [(statement, values)] = noted
    assert "Index Only Scan Backward using ix_entries_listed" in await explain(library.database, statement, values)


async def test_all_read_looks_for_copies_only_while_something_is_unread(library: Library) -> None:
    """With everything read there is no copy left; looking for one took as long as marking."""
    anna = await library.person()
    feeds = [await library.feed(anna) for _ in range(2)]
    for feed_id in feeds:
        await library.entry(feed_id, story="shared")
        await library.entry(feed_id)
    states, everything = library.service.states, Selection(ListKind.ALL)
    with noted_statements(library.database, "INSERT INTO curator.entry_states") as noted:
        assert (await states.mark_all_read(anna, Selection(ListKind.FEED, feeds[0]), until=NOW)).count == 3
        assert len(noted) == 2
        assert (await states.mark_all_read(anna, everything, until=NOW)).count == 1
        assert len(noted) == 3
