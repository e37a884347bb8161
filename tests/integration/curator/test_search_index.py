"""The search index on disk: what is damaged, by whom it is written, and what outlives a killed writer."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pressbox.core.errors import TransientError
from pressbox.curator.search.index.folder import IndexFolder
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import SearchScope
from tests.integration.curator.shelves import LIBRARY, entry


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
async def library(folder: Path) -> TantivyReader:
    await TantivyIndex(folder).add(LIBRARY)
    return TantivyReader(folder)


async def ids(reader: TantivyReader, query: str, feeds: Sequence[int] | None = None) -> list[int]:
    return [hit.entry_id for hit in (await reader.search(SearchScope(query, feeds), 20))[0]]


async def test_a_rebuild_that_was_given_up_is_not_written_to_for_ever(folder: Path) -> None:
    index = TantivyIndex(folder)
    abandoned = await index.begin_generation()
    long_ago = (datetime.now(UTC) - timedelta(days=2)).timestamp()
    os.utime(folder / "building", (long_ago, long_ago))
    assert IndexFolder(folder).building() is None
    await index.add([entry(1, "One")])
    assert IndexFolder(folder).current() != abandoned


@pytest.mark.parametrize("broken", ["meta.json", "*.term", "*.store", "*.idx"])
async def test_a_broken_index_says_so_and_a_rebuild_mends_it(folder: Path, broken: str) -> None:
    index = TantivyIndex(folder)
    await index.add(LIBRARY)
    current = IndexFolder(folder).current()
    assert current is not None
    for path in (folder / current).glob(broken):
        path.write_bytes(b"broken")
    reader = TantivyReader(folder)
    with pytest.raises(TransientError, match="pressbox trigger reindex --clean"):
        await reader.search(SearchScope("fox"), 10)
    generation = await index.begin_generation()
    await index.add(LIBRARY, generation)
    await index.swap(generation)
    assert await ids(reader, "fox -lazy") == [7]


async def test_a_generation_that_was_deleted_by_hand_says_so(library: TantivyReader, folder: Path) -> None:
    shutil.rmtree(folder / str(IndexFolder(folder).current()))
    with pytest.raises(TransientError, match="reindex --clean"):
        await library.search(SearchScope("fox"), 10)


async def test_an_index_of_another_version_is_rebuilt_not_read(folder: Path) -> None:
    (folder / "0-old").mkdir(parents=True)
    (folder / "current").write_text("0-old")
    with pytest.raises(TransientError, match=r"another version.*reindex --clean"):
        await TantivyReader(folder).search(SearchScope("fox"), 10)
    with pytest.raises(TransientError, match="another version"):
        await TantivyIndex(folder).add([entry(1)])


WRITER = textwrap.dedent("""
    import asyncio, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from pressbox.curator.search.index.writer import TantivyIndex
    from pressbox.curator.search.ports import IndexDocument

    async def write(folder, endless):
        index, number = TantivyIndex(Path(folder)), 0
        while endless or number < 1:
            number += 1
            text = f"letter {number} " * 2000
            await index.add([IndexDocument(number, 1, f"Number {number}", "", text, "", "", datetime.now(UTC))])
            print(number, flush=True)

    asyncio.run(write(sys.argv[1], len(sys.argv) > 2))
""")


def writer_process(folder: Path, *endless: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), *endless], stdout=subprocess.PIPE)


async def test_a_reader_sees_what_another_process_commits(library: TantivyReader, folder: Path) -> None:
    assert await ids(library, "letter") == []
    with writer_process(folder) as process:
        process.communicate()
    assert await ids(library, "letter") == [1]


async def test_a_killed_writer_leaves_every_commit_and_no_lock(folder: Path) -> None:
    """Killed at whatever it is doing, three times over, mostly inside a commit."""
    index, reader, committed = TantivyIndex(folder), TantivyReader(folder), 0
    for _ in range(3):
        process = writer_process(folder, "endless")
        assert process.stdout is not None
        for _ in range(3):
            committed = max(committed, int(process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        committed = max([committed, *map(int, rest.split())])
        there = await index.document_ids(0, 100_000)
        assert set(range(1, committed + 1)) <= set(there)
        assert (await reader.search(SearchScope("number"), 1))[1] == len(there)
    await index.add([entry(500_000, "Afterwards")])
    assert await ids(reader, "afterwards") == [500_000]


async def test_a_second_writer_waits_for_its_turn(folder: Path) -> None:
    import tantivy

    index = TantivyIndex(folder)
    await index.add([entry(1, "One")])
    held = tantivy.Index.open(str(folder / str(IndexFolder(folder).current()))).writer(15_000_000, 1)
    with pytest.raises(TransientError, match="Another process is writing"):
        await index.add([entry(2, "Two")])
    held.wait_merging_threads()
    await index.add([entry(2, "Two")])
    assert await index.document_ids(0, 10) == (1, 2)
