"""The search index on disk: what is found, in which order, by whom, and what outlives a killed writer."""

import asyncio
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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressbox.core.errors import ConflictError, TransientError
from pressbox.curator.search.index.folder import IndexFolder
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.ports import Hit, IndexDocument

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def entry(
    number: int,
    title: str = "",
    text: str = "",
    *,
    author: str = "",
    feed: int = 1,
    summary: str = "",
    feed_text: str = "",
) -> IndexDocument:
    return IndexDocument(number, feed, title, summary, text, feed_text, author, FIRST + timedelta(days=number % 1000))


LIBRARY = (
    entry(1, "The quick brown fox", "It jumps over the lazy dog near the river.", author="Ada Löwenherz"),
    entry(2, "Urteil", "Das Bundesverfassungsgericht hat über die Grundstücksverkehrsgenehmigung entschieden.", feed=2),
    entry(3, "お知らせ", "今日の東京都の天気は晴れのち曇りです。", feed=2),
    entry(4, "新闻", "上海的经济增长速度超过了预期。"),
    entry(5, "뉴스", "서울에서 새로운 지하철 노선을 검색합니다."),
    entry(6, "Rivers", "A book about lakes.", summary="Where the otter lives."),
    entry(7, "Lakes", "A book about rivers and a quick fox that is brown.", feed_text="Only the feed says wombat."),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
async def library(folder: Path) -> TantivyReader:
    await TantivyIndex(folder).add(LIBRARY)
    return TantivyReader(folder)


async def hits(reader: TantivyReader, query: str, feeds: Sequence[int] | None = None) -> Sequence[Hit]:
    found, total = await reader.search(query, feeds, 20, 0, False)
    assert total == len(found)
    return found


async def ids(reader: TantivyReader, query: str, feeds: Sequence[int] | None = None) -> list[int]:
    return [hit.entry_id for hit in await hits(reader, query, feeds)]


@pytest.mark.parametrize(
    ("query", "snippet"),
    [
        ("jumps oevr the lasy dog", "It <mark>jumps</mark> <mark>over</mark> <mark>the</mark> <mark>lazy</mark>"),
        ('"jumps over the lasy dog"', "<mark>lazy</mark> <mark>dog</mark>"),
        ("Bundesverfassung", "<mark>Bundesverfassungsgericht</mark>"),
        ("Bundesverfasung", "<mark>Bundesverfassungsgericht</mark>"),
        ("grundstucksverkehr", "<mark>Grundstücksverkehrsgenehmigung</mark>"),
        ("天気", "東京都の<mark>天気</mark>は"),
        ("東", "今日の<mark>東</mark>京都"),
        ("经济增长", "上海的<mark>经济增长</mark>速度"),
        ("지하철", "새로운 <mark>지하철</mark> 노선"),
        ("otter", "Where the <mark>otter</mark> lives."),
        ("wombat", "Only the feed says <mark>wombat</mark>."),
    ],
)
async def test_search_finds_an_english_phrase_with_a_typo_a_german_compound_by_prefix_a_japanese_word_inside_a_sentence(
    library: TantivyReader, query: str, snippet: str
) -> None:
    (hit,) = await hits(library, query)
    assert snippet in hit.snippet_html


async def test_pairs_that_do_not_stand_together_are_no_word(library: TantivyReader) -> None:
    assert await ids(library, "東天") == []
    assert await ids(library, "京の") == []


async def test_a_phrase_in_quotes_is_found_only_as_it_stands(library: TantivyReader) -> None:
    assert await ids(library, '"quick brown fox"') == [1]
    assert await ids(library, "quick brown fox") == [1, 7]


async def test_a_title_counts_more_than_the_text(library: TantivyReader) -> None:
    assert (await ids(library, "rivers"))[:2] == [6, 7]
    assert await ids(library, "lakes") == [7, 6]


async def test_exact_hits_come_before_beginnings_and_those_before_slips(folder: Path) -> None:
    await TantivyIndex(folder).add(
        [
            entry(1, "Carton carton carton", "carton " * 30),
            entry(2, "Cartoonist cartoonist", "cartoonist " * 30),
            entry(3, "Something else", f"{'filler ' * 300} cartoon"),
        ]
    )
    assert await ids(TantivyReader(folder), "cartoon") == [3, 2, 1]


async def test_authors_titles_and_exclusions_can_be_asked_for(library: TantivyReader) -> None:
    assert await ids(library, "author:lowenherz") == [1]
    assert await ids(library, "title:quick") == [1]
    assert await ids(library, "fox -lazy") == [7]
    assert await ids(library, "author:fox") == []


async def test_a_search_stays_inside_the_feeds_it_is_given(library: TantivyReader) -> None:
    assert await ids(library, "天気", [1, 3]) == []
    assert await ids(library, "天気", [1, 2]) == [3]
    assert await ids(library, "天気", []) == []


async def test_newest_first_with_pages_that_join_without_gap(library: TantivyReader) -> None:
    first, total = await library.search("book", None, 1, 0, True)
    second, _ = await library.search("book", None, 1, 1, True)
    beyond, _ = await library.search("book", None, 1, 10**30, True)
    assert total == 2
    assert [hit.entry_id for hit in (*first, *second)] == [7, 6]
    assert list(beyond) == []


async def test_titles_and_passages_are_escaped(folder: Path) -> None:
    await TantivyIndex(folder).add([entry(1, "<script>fox</script>", "a <img onerror=x> fox & more")])
    (hit,) = await hits(TantivyReader(folder), "fox")
    assert hit.title_html == "&lt;script&gt;<mark>fox</mark>&lt;/script&gt;"
    assert hit.snippet_html == "a &lt;img onerror=x&gt; <mark>fox</mark> &amp; more"


@given(query=st.text(max_size=60) | st.text(alphabet='ab "-:()[]*~^\\/+.東京', max_size=30))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_typed_is_answered(library: TantivyReader, query: str) -> None:
    found, total = asyncio.run(library.search(query, [1, 2], 5, 0, False))
    assert len(found) <= total


async def test_an_entry_that_changed_is_found_by_its_new_words_only(folder: Path) -> None:
    index, reader = TantivyIndex(folder), TantivyReader(folder)
    await index.add([entry(1, "Before")])
    assert await ids(reader, "before") == [1]
    await index.add([entry(1, "Afterwards")])
    assert await ids(reader, "before") == []
    assert await ids(reader, "afterwards") == [1]
    assert await index.document_ids(0, 10) == (1,)


async def test_what_is_removed_is_gone_and_nothing_else(folder: Path) -> None:
    index = TantivyIndex(folder)
    large = 2**40
    await index.add([entry(number, f"Number {number}") for number in (1, 2, 12, 21, large)])
    await index.remove([2, large, 999])
    assert await index.document_ids(0, 10) == (1, 12, 21)
    assert await ids(TantivyReader(folder), "number") == [1, 12, 21]


async def test_all_ids_are_listed_in_pages(folder: Path) -> None:
    index = TantivyIndex(folder)
    for start in (30, 0, 15):
        await index.add([entry(number, "x") for number in range(start + 1, start + 11)])
    seen: list[int] = []
    while page := await index.document_ids(seen[-1] if seen else 0, 7):
        seen += page
    assert seen == [*range(1, 11), *range(16, 26), *range(31, 41)]


async def test_nothing_indexed_yet_is_empty_and_no_error(folder: Path) -> None:
    index = TantivyIndex(folder)
    assert await hits(TantivyReader(folder), "anything") == ()
    assert await index.document_ids(0, 10) == ()
    await index.remove([1])
    await index.add([])
    assert not folder.exists()


async def test_a_generation_is_built_aside_and_takes_over_with_what_changed_meanwhile(folder: Path) -> None:
    index, reader = TantivyIndex(folder), TantivyReader(folder)
    await index.add([entry(1, "Old one"), entry(2, "Old two"), entry(9, "Ghost")])
    generation = await index.begin_generation()
    await index.add([entry(1, "New one"), entry(2, "New two")], generation)
    assert await ids(reader, "new") == []
    await index.add([entry(3, "New three")])
    await index.remove([2])
    await index.swap(generation)
    assert sorted(await ids(reader, "new")) == [1, 3]
    assert await ids(reader, "ghost") == []
    await index.swap(generation)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == [generation]


async def test_a_generation_that_another_replaced_is_not_swapped_in(folder: Path) -> None:
    index = TantivyIndex(folder)
    first = await index.begin_generation()
    await index.swap(await index.begin_generation())
    with pytest.raises(ConflictError, match="another one was built"):
        await index.swap(first)
    with pytest.raises(ConflictError, match="another one was built"):
        await index.add([entry(1)], first)


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
        await reader.search("fox", None, 10, 0, False)
    generation = await index.begin_generation()
    await index.add(LIBRARY, generation)
    await index.swap(generation)
    assert await ids(reader, "fox -lazy") == [7]


async def test_a_generation_that_was_deleted_by_hand_says_so(library: TantivyReader, folder: Path) -> None:
    shutil.rmtree(folder / str(IndexFolder(folder).current()))
    with pytest.raises(TransientError, match="reindex --clean"):
        await library.search("fox", None, 10, 0, False)


async def test_an_index_of_another_version_is_rebuilt_not_read(folder: Path) -> None:
    (folder / "0-old").mkdir(parents=True)
    (folder / "current").write_text("0-old")
    with pytest.raises(TransientError, match=r"another version.*reindex --clean"):
        await TantivyReader(folder).search("fox", None, 10, 0, False)
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
        assert (await reader.search("number", None, 1, 0, False))[1] == len(there)
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
