"""An index that is lost, damaged, restored or mixed up says so, and is rebuilt instead of finding nothing."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import delete
from temporalio.testing import ActivityEnvironment

from pressbox.core.app import Resources
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.health import HealthState
from pressbox.curator.library.rows import SearchIndexRow
from pressbox.curator.search.activities import IndexActivities
from pressbox.curator.search.contracts import Generation, IndexBatchInput
from pressbox.curator.search.index.folder import IndexFolder
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import DamagedIndexError, SearchScope
from pressbox.curator.search.service import ArticleSearch, search_part
from pressbox.curator.search.store import SqlIndexStore
from pressbox.curator.search.wiring import index_problem
from pressbox.curator.settings import CuratorSettings
from tests.fakes.curator_rows import Rows, entry, read


class RecordingRebuild:
    def __init__(self) -> None:
        self.started = 0

    async def start(self) -> None:
        self.started += 1


@dataclass
class Library:
    """One indexed library: its folder, whoever writes it, and whoever searches it."""

    folder: Path
    store: SqlIndexStore
    rebuild: RecordingRebuild
    feed_id: int

    @property
    def writer(self) -> IndexActivities:
        return IndexActivities(self.store, TantivyIndex(self.folder), self.rebuild)

    @property
    def search(self) -> ArticleSearch:
        return ArticleSearch(TantivyReader(self.folder), self.store)

    async def index(self) -> int:
        done = await ActivityEnvironment().run(self.writer.index_entries_batch, IndexBatchInput(limit=100))
        return int(done.indexed)

    async def rebuild_beside(self) -> None:
        """Do what the workflow does, in its order."""
        run, writer = ActivityEnvironment().run, self.writer
        generation = await run(writer.init_search_index, Generation())
        await run(writer.clear_search_index, generation)
        wanted = tuple(await self.store.ids_after(0, 100))
        await run(writer.index_entries_batch, IndexBatchInput(entry_ids=wanted, generation=generation.name))
        await run(writer.swap_search_index, generation)

    async def found(self, word: str = "article") -> int:
        return (await self.search.search(SearchScope(word, [self.feed_id]), 10))[1]

    async def health(self) -> HealthState:
        return (await search_part(self.search)).state


@pytest.fixture
async def library(database: Database, tmp_path: Path) -> Library:
    rows = Rows(database)
    feed_id = await rows.feed(await rows.user())
    await rows.crawl(feed_id, read(*(entry(number) for number in range(1, 4))))
    made = Library(tmp_path / "index", SqlIndexStore(database), RecordingRebuild(), feed_id)
    assert await made.index() == 3
    assert await made.found() == 3
    assert await made.health() is HealthState.OK
    return made


async def test_a_lost_index_is_no_empty_answer_and_is_rebuilt(library: Library) -> None:
    shutil.rmtree(library.folder)
    with pytest.raises(TransientError, match="missing"):
        await library.found()
    assert await library.health() is HealthState.WARNING
    assert await library.store.index_check_is_due()
    assert await library.index() == 0
    assert library.rebuild.started == 1
    await library.rebuild_beside()
    assert await library.found() == 3
    assert await library.health() is HealthState.OK
    assert not await library.store.index_check_is_due()


async def test_the_first_who_finds_nothing_has_the_index_checked_at_once(library: Library) -> None:
    asked = 0

    async def check_soon() -> None:
        nonlocal asked
        asked += 1

    shutil.rmtree(library.folder)
    search = ArticleSearch(TantivyReader(library.folder), library.store, check_soon)
    for _ in range(3):
        with pytest.raises(TransientError):
            await search.search(SearchScope("article", [library.feed_id]), 10)
    assert asked == 1


async def test_an_index_of_another_database_is_not_written_to_and_is_replaced(library: Library, tmp_path: Path) -> None:
    shutil.rmtree(library.folder)
    await TantivyIndex(library.folder).begin_generation()
    other = IndexFolder(library.folder)
    other.switch_to(other.begin_build())
    await TantivyIndex(library.folder).remove([1])
    assert await library.health() is HealthState.WARNING
    assert await library.index() == 0
    assert library.rebuild.started == 1


async def test_an_index_that_the_database_never_heard_of_is_not_adopted(library: Library, database: Database) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(delete(SearchIndexRow))
    assert await library.health() is HealthState.WARNING
    await Rows(database).crawl(library.feed_id, read(entry(9), etag="second"))
    assert await library.index() == 0
    assert library.rebuild.started == 1
    await library.rebuild_beside()
    assert await library.found() == 4


async def test_a_question_beside_a_lost_index_has_it_checked_too(library: Library) -> None:
    assert await library.search.search_any(["article"], [library.feed_id], 10)
    assert not await library.store.index_check_is_due()
    assert await library.search.search_any(["nowhere"], [library.feed_id], 10) == []
    assert not await library.store.index_check_is_due(), "nothing was found, and that is true"
    shutil.rmtree(library.folder)
    with pytest.raises(TransientError, match="missing where this process looks for it"):
        await library.search.search_any(["article"], [library.feed_id], 10)
    assert await library.store.index_check_is_due()


async def test_a_worker_that_answers_questions_is_not_ready_without_the_index(
    library: Library, resources: Resources
) -> None:
    seen = _looking_at(resources, library.folder)
    assert await index_problem(seen, {"curator-heavy"}) is None
    blind = _looking_at(resources, library.folder / "not-mounted")
    assert "missing where this process looks for it" in str(await index_problem(blind, {"curator-heavy"}))
    assert await index_problem(blind, {"curator-heavy", "curator-index"}) is None, "it mends the index itself"
    assert await index_problem(blind, {"footy"}) is None


def _looking_at(resources: Resources, folder: Path) -> Resources:
    return replace(resources, settings=resources.settings.with_group(CuratorSettings(index_path=folder)))


async def test_an_older_copy_of_the_folder_is_noticed(library: Library, tmp_path: Path) -> None:
    shutil.copytree(library.folder, tmp_path / "copy")
    rows = Rows(library.store._database)
    await rows.crawl(library.feed_id, read(entry(9), etag="second"))
    assert await library.index() == 1
    shutil.rmtree(library.folder)
    shutil.copytree(tmp_path / "copy", library.folder)
    assert await library.index() == 0
    assert library.rebuild.started == 1


async def test_a_database_that_is_older_than_the_folder_is_noticed(library: Library) -> None:
    known = await library.store.known_index()
    await TantivyIndex(library.folder).remove([1])
    assert known is not None
    assert not known.writing
    assert await library.index() == 0
    assert library.rebuild.started == 1


async def test_a_writer_that_was_killed_between_index_and_database_goes_on(library: Library) -> None:
    await library.store.begin_index_write()
    await TantivyIndex(library.folder).remove([10**9])
    assert await library.index() == 0
    assert library.rebuild.started == 0
    assert await library.health() is HealthState.OK


@pytest.mark.parametrize("damage", ["meta", "segments", "pointer", "version"])
async def test_a_damaged_index_is_rebuilt_while_the_page_says_so(library: Library, damage: str) -> None:
    (generation,) = [child for child in library.folder.iterdir() if child.is_dir()]
    if damage == "meta":
        (generation / "meta.json").write_text("{")
    elif damage == "segments":
        for file in generation.glob("*.store"):
            file.write_bytes(b"")
        for file in generation.glob("*.term"):
            file.write_bytes(b"")
    elif damage == "pointer":
        shutil.rmtree(generation)
    else:
        generation.rename(generation.with_name(generation.name.replace("1-", "0-", 1)))
        (library.folder / "current").write_text(generation.name.replace("1-", "0-", 1))
    with pytest.raises(TransientError):
        await library.found()
    assert await library.health() is HealthState.WARNING
    assert await library.index() == 0
    assert library.rebuild.started == 1
    await library.rebuild_beside()
    assert await library.found() == 3


async def test_a_disk_that_refuses_is_not_a_damaged_index(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: IndexFolder) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(TantivyIndex, "_in_use", refuse)
    rows = Rows(library.store._database)
    await rows.crawl(library.feed_id, read(entry(9), etag="second"))
    with pytest.raises((TransientError, OSError)) as caught:
        await library.index()
    assert not isinstance(caught.value, DamagedIndexError)
    assert library.rebuild.started == 0


async def test_a_rebuild_keeps_the_old_index_until_the_new_one_is_complete(library: Library) -> None:
    run, writer = ActivityEnvironment().run, library.writer
    generation = await run(writer.init_search_index, Generation())
    await run(writer.clear_search_index, generation)
    assert await library.found() == 3
    await library.rebuild_beside()
    assert await library.found() == 3
