"""The search index in tables: many write and read it at once, and nothing gets lost between them."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence

import pytest
from sqlalchemy import func, insert, select, text
from temporalio.testing import ActivityEnvironment

from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.health import HealthState
from pressbox.curator.library.rows import SearchDocumentRow, SearchGenerationRow
from pressbox.curator.search.activities import IndexActivities
from pressbox.curator.search.contracts import Generation, IndexBatchInput, PruneInput, RemoveDocumentsInput
from pressbox.curator.search.ports import FoundIndex, SearchScope
from pressbox.curator.search.postgres.reader import PostgresReader
from pressbox.curator.search.postgres.writer import PostgresIndex
from pressbox.curator.search.service import ArticleSearch, search_part
from pressbox.curator.search.store import SqlIndexStore
from tests.fakes.curator_rows import Rows, read
from tests.fakes.curator_rows import entry as feed_entry
from tests.integration.curator.shelves import Shelf, entry, postgres_shelf
from tests.waiting import look_until


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return postgres_shelf(database)


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[PostgresIndex]:
    """The index as another process has it."""
    database = Database(database_url, pool_size=3)
    yield PostgresIndex(database)
    await database.close()


class RecordingRebuild:
    def __init__(self) -> None:
        self.started = 0

    async def start(self) -> None:
        self.started += 1


async def test_two_that_write_the_first_documents_make_one_index(
    shelf: Shelf, other: PostgresIndex, database: Database
) -> None:
    writers = (shelf.index, other)
    await asyncio.gather(*(writers[n % 2].add([entry(n, f"Number {n}"), entry(500, "Both")]) for n in range(1, 21)))
    async with database.unit_of_work() as work:
        assert len((await work.session.scalars(select(SearchGenerationRow.name))).all()) == 1
    assert await shelf.index.document_ids(0, 100) == (*range(1, 21), 500)


async def test_what_is_written_while_another_index_takes_over_is_in_the_new_one(
    shelf: Shelf, other: PostgresIndex
) -> None:
    await shelf.index.add([entry(1, "First")])

    async def write(first: int) -> None:
        for number in range(first, first + 15):
            await shelf.index.add([entry(number, "Written meanwhile")])

    async def rebuild() -> None:
        for _ in range(5):
            generation = await other.begin_generation()
            # As the real one does: all that there is when it has begun.
            await other.add([entry(n, "Rebuilt") for n in await other.document_ids(0, 1000)], generation)
            await other.swap(generation)

    await asyncio.gather(write(100), write(200), rebuild())
    assert set(await shelf.index.document_ids(0, 1000)) == {1, *range(100, 115), *range(200, 215)}


async def test_a_rebuild_begins_after_what_was_being_written(
    shelf: Shelf, other: PostgresIndex, database: Database
) -> None:
    """Otherwise the writer, who does not know of it, and the rebuild, which read before, would both leave it out."""
    await shelf.index.add([entry(1, "First")])
    found = await shelf.index.find()
    assert found
    async with asyncio.TaskGroup() as group:
        async with database.unit_of_work() as work:
            row = {"generation": found.generation, "entry_id": 2, "feed_id": 1, "heading": "", "words": ""}
            await work.session.execute(insert(SearchDocumentRow).values(**row, published_at=func.now()))
            writing = group.create_task(shelf.index.add([entry(2, "Being written")]))
            await until_somebody_waits(database, "transactionid")
            beginning = group.create_task(other.begin_generation())
            await until_somebody_waits(database, "advisory")
            assert not beginning.done()
            await work.session.rollback()
        await writing
        rebuilt = await beginning
    await other.add([entry(n, "Rebuilt") for n in await other.document_ids(0, 10)], rebuilt)
    await other.swap(rebuilt)
    assert await shelf.index.document_ids(0, 10) == (1, 2)


async def until_somebody_waits(database: Database, kind: str) -> None:
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = :kind")

    async def somebody_waits() -> bool:
        async with database.unit_of_work() as work:
            return bool(await work.session.scalar(waiting, {"kind": kind}))

    await look_until(somebody_waits, what=f"somebody who waits for {kind}")


async def test_a_rebuild_does_not_bring_back_an_older_text(shelf: Shelf) -> None:
    await shelf.add([entry(1, "Before")])
    generation = await shelf.index.begin_generation()
    await shelf.add([entry(1, "Afterwards")])
    # Loaded before the change, written after it.
    await shelf.index.add([entry(1, "Before")], generation)
    await shelf.index.swap(generation)
    assert await shelf.ids("afterwards") == [1]
    assert await shelf.ids("before") == []


async def test_an_index_that_was_replaced_leaves_no_rows(shelf: Shelf, database: Database) -> None:
    await shelf.add([entry(number, "One") for number in range(1, 50)])
    generation = await shelf.index.begin_generation()
    await shelf.index.swap(generation)
    async with database.unit_of_work() as work:
        assert (await work.session.scalars(select(SearchDocumentRow.entry_id))).all() == []


async def test_a_given_up_rebuild_is_not_written_to_for_ever(shelf: Shelf, database: Database) -> None:
    await shelf.add([entry(1, "One")])
    abandoned = await shelf.index.begin_generation()
    async with database.unit_of_work() as work:
        aged = "UPDATE curator.search_generations SET created_at = now() - interval '2 days' WHERE NOT in_use"
        await work.session.execute(text(aged))
    await shelf.add([entry(2, "Two")])
    async with database.unit_of_work() as work:
        statement = select(SearchDocumentRow.entry_id).where(SearchDocumentRow.generation == abandoned)
        assert (await work.session.scalars(statement)).all() == []


async def test_an_index_of_another_version_is_rebuilt_not_read(shelf: Shelf, database: Database) -> None:
    await shelf.add([entry(1, "One")])
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE curator.search_generations SET name = 'postgres0-old'"))
    with pytest.raises(TransientError, match=r"another version.*reindex --clean"):
        await shelf.hits("one")
    with pytest.raises(TransientError, match="another version"):
        await shelf.add([entry(2)])


async def test_texts_beyond_what_a_tsvector_holds_are_indexed_as_far_as_they_can_be(shelf: Shelf) -> None:
    chance = random.Random(1)
    every_pair = "一丁" + "".join(chr(0x4E00 + chance.randrange(20_000)) for _ in range(199_000))
    long = " ".join(f"word{n}" for n in range(17_500))
    await shelf.add([entry(1, "Han", every_pair), entry(2, "Long", f"{long} last"), entry(3, "Same", "same " * 90_000)])
    assert await shelf.ids("一丁") == [1]
    assert await shelf.ids("word17499 last") == [2]
    assert await shelf.ids('"word15 word16"') == [2]
    assert await shelf.ids("same") == [3]


@pytest.mark.parametrize(
    ("typed", "text"),
    [("восна", "весна"), ("χειμονας", "χειμωνας"), ("shalom", "shaloom"), ("Bundesverfasung", "Bundesverfassungsamt")],
)
async def test_slips_are_forgiven_in_scripts_with_an_alphabet(shelf: Shelf, typed: str, text: str) -> None:
    await shelf.add([entry(1, text)])
    assert await shelf.ids(typed) == [1]


async def found_by(search: ArticleSearch, feed_id: int, word: str = "article") -> int:
    return (await search.search(SearchScope(word, [feed_id]), 10))[1]


async def test_a_setting_that_changed_is_noticed_and_the_index_built_anew(database: Database) -> None:
    """The database knows the index of a folder; the process is told to look into the tables, where there is none."""
    rows = Rows(database)
    feed_id = await rows.feed(await rows.user())
    await rows.crawl(feed_id, read(*(feed_entry(number) for number in range(1, 4))))
    store, rebuild = SqlIndexStore(database), RecordingRebuild()
    await store.record_index(FoundIndex("1-20260101000000-abcdef", 7), complete=True)
    await store.mark_indexed({number: "all are" for number in await store.ids_after(0, 10)})
    search = ArticleSearch(PostgresReader(database, store.load_documents), store)
    with pytest.raises(TransientError, match="missing"):
        await found_by(search, feed_id)
    assert (await search_part(search)).state is HealthState.WARNING

    run, writer = ActivityEnvironment().run, IndexActivities(store, PostgresIndex(database), rebuild)
    assert (await run(writer.index_entries_batch, IndexBatchInput(limit=100))).indexed == 0
    assert rebuild.started == 1
    generation = await run(writer.init_search_index, Generation())
    await run(writer.clear_search_index, generation)
    wanted = tuple(await store.ids_after(0, 100))
    await run(writer.index_entries_batch, IndexBatchInput(entry_ids=wanted, generation=generation.name))
    await run(writer.swap_search_index, generation)
    assert await found_by(search, feed_id) == 3
    assert (await search_part(search)).state is HealthState.OK


async def test_two_workers_index_and_prune_side_by_side(database: Database, database_url: str) -> None:
    rows = Rows(database)
    feed_id = await rows.feed(await rows.user())
    await rows.crawl(feed_id, read(*(feed_entry(number) for number in range(1, 41))))
    second, rebuild = Database(database_url, pool_size=3), RecordingRebuild()
    store = SqlIndexStore(database)
    workers = [IndexActivities(SqlIndexStore(one), PostgresIndex(one), rebuild) for one in (database, second)]

    async def work(worker: IndexActivities) -> None:
        run = ActivityEnvironment().run
        while (await run(worker.index_entries_batch, IndexBatchInput(limit=7))).indexed:
            await run(worker.remove_documents_from_index, RemoveDocumentsInput(limit=10))

    await asyncio.gather(*(work(worker) for worker in workers))
    await second.close()
    assert rebuild.started == 0, "neither took the other's writes for damage"
    assert len(await PostgresIndex(database).document_ids(0, 100)) == 40
    assert await store.unindexed_ids(10) == []
    orphaned = await ActivityEnvironment().run(workers[0].get_orphaned_document_ids, PruneInput(limit=100))
    assert orphaned.document_ids == ()


async def test_questions_find_the_rare_word_before_the_common_one(shelf: Shelf) -> None:
    common = [entry(number, "The ferry", "The ferry sails every day.") for number in range(1, 30)]
    await shelf.add([*common, entry(100, "News", "An otter was seen near the ferry.")])
    ranked: Sequence[int] = await shelf.reader.search_any(["ferry", "otter"], [1], 5)
    assert ranked[0] == 100
    assert len(ranked) == 5
    assert await shelf.reader.search_any(["otters"], [1], 5) == [100], "another form of the word"
    assert await shelf.reader.search_any(["ferry"], [2], 5) == []
