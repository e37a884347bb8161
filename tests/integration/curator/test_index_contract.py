"""What every search index does: what is found, in which order, and how one takes the place of another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError
from pressbox.curator.search.ports import SearchScope
from tests.integration.curator.shelves import LIBRARY, Shelf, entry, postgres_shelf, tantivy_shelf


@pytest.fixture(params=["tantivy", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def opened(kind: str, folder: Path, url: str) -> AsyncIterator[Shelf]:
    database = Database(url, pool_size=2)
    try:
        yield tantivy_shelf(folder) if kind == "tantivy" else postgres_shelf(database)
    finally:
        await database.close()


@pytest.fixture
async def shelf(kind: str, tmp_path: Path, database_url: str) -> AsyncIterator[Shelf]:
    async with opened(kind, tmp_path / "index", database_url) as shelf:
        yield shelf


@pytest.fixture
async def library(shelf: Shelf) -> Shelf:
    await shelf.add(LIBRARY)
    return shelf


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
    library: Shelf, query: str, snippet: str
) -> None:
    (hit,) = await library.hits(query)
    assert snippet in hit.snippet_html


async def test_pairs_that_do_not_stand_together_are_no_word(library: Shelf) -> None:
    assert await library.ids("東天") == []
    assert await library.ids("京の") == []


async def test_a_phrase_in_quotes_is_found_only_as_it_stands(library: Shelf) -> None:
    assert await library.ids('"quick brown fox"') == [1]
    assert await library.ids("quick brown fox") == [1, 7]


async def test_a_title_counts_more_than_the_text(library: Shelf) -> None:
    assert (await library.ids("rivers"))[:2] == [6, 7]
    assert await library.ids("lakes") == [7, 6]


async def test_exact_hits_come_before_beginnings_and_those_before_slips(shelf: Shelf) -> None:
    await shelf.add(
        [
            entry(1, "Carton carton carton", "carton " * 30),
            entry(2, "Cartoonist cartoonist", "cartoonist " * 30),
            entry(3, "Something else", f"{'filler ' * 300} cartoon"),
        ]
    )
    assert await shelf.ids("cartoon") == [3, 2, 1]


async def test_authors_titles_and_exclusions_can_be_asked_for(library: Shelf) -> None:
    assert await library.ids("author:lowenherz") == [1]
    assert await library.ids("title:quick") == [1]
    assert await library.ids("fox -lazy") == [7]
    assert await library.ids("author:fox") == []


async def test_a_search_stays_inside_the_feeds_it_is_given(library: Shelf) -> None:
    assert await library.ids("天気", [1, 3]) == []
    assert await library.ids("天気", [1, 2]) == [3]
    assert await library.ids("天気", []) == []


async def test_newest_first_with_pages_that_join_without_gap(library: Shelf) -> None:
    first, total = await library.reader.search(SearchScope("book", newest_first=True), 1)
    second, _ = await library.reader.search(SearchScope("book", newest_first=True), 1, 1)
    beyond, _ = await library.reader.search(SearchScope("book", newest_first=True), 1, 10**30)
    assert total == 2
    assert [hit.entry_id for hit in (*first, *second)] == [7, 6]
    assert list(beyond) == []


async def test_titles_and_passages_are_escaped(shelf: Shelf) -> None:
    await shelf.add([entry(1, "<script>fox</script>", "a <img onerror=x> fox & more")])
    (hit,) = await shelf.hits("fox")
    assert hit.title_html == "&lt;script&gt;<mark>fox</mark>&lt;/script&gt;"
    assert hit.snippet_html == "a &lt;img onerror=x&gt; <mark>fox</mark> &amp; more"


@given(query=st.text(max_size=60) | st.text(alphabet="ab \"-:()[]*~^\\/+.東京'&|!<", max_size=30))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_is_typed_is_answered(kind: str, tmp_path: Path, database_url: str, query: str) -> None:
    async def search() -> None:
        async with opened(kind, tmp_path / "index", database_url) as shelf:
            if await shelf.index.find() is None:
                await shelf.add(LIBRARY)
            shelf.documents.update({one.entry_id: one for one in LIBRARY})
            found, total = await shelf.reader.search(SearchScope(query, [1, 2]), 5)
            assert len(found) <= total

    asyncio.run(search())


async def test_an_entry_that_changed_is_found_by_its_new_words_only(shelf: Shelf) -> None:
    index = shelf.index
    await shelf.add([entry(1, "Before")])
    assert await shelf.ids("before") == [1]
    await shelf.add([entry(1, "Afterwards")])
    assert await shelf.ids("before") == []
    assert await shelf.ids("afterwards") == [1]
    assert await index.document_ids(0, 10) == (1,)


async def test_what_is_removed_is_gone_and_nothing_else(shelf: Shelf) -> None:
    index = shelf.index
    large = 2**40
    await shelf.add([entry(number, f"Number {number}") for number in (1, 2, 12, 21, large)])
    await index.remove([2, large, 999])
    assert await index.document_ids(0, 10) == (1, 12, 21)
    assert sorted(await shelf.ids("number")) == [1, 12, 21]


async def test_all_ids_are_listed_in_pages(shelf: Shelf) -> None:
    index = shelf.index
    for start in (30, 0, 15):
        await shelf.add([entry(number, "x") for number in range(start + 1, start + 11)])
    seen: list[int] = []
    while page := await index.document_ids(seen[-1] if seen else 0, 7):
        seen += page
    assert seen == [*range(1, 11), *range(16, 26), *range(31, 41)]


async def test_nothing_indexed_yet_is_empty_and_no_error(shelf: Shelf) -> None:
    index = shelf.index
    assert await shelf.hits("anything") == ()
    assert await index.document_ids(0, 10) == ()
    await index.remove([1])
    await shelf.add([])
    assert await index.find() is None


async def test_a_generation_is_built_aside_and_takes_over_with_what_changed_meanwhile(shelf: Shelf) -> None:
    index = shelf.index
    await shelf.add([entry(1, "Old one"), entry(2, "Old two"), entry(9, "Ghost")])
    generation = await index.begin_generation()
    await shelf.add([entry(1, "New one"), entry(2, "New two")], generation)
    assert await shelf.ids("new") == []
    await shelf.add([entry(3, "New three")])
    await index.remove([2])
    await index.swap(generation)
    assert sorted(await shelf.ids("new")) == [1, 3]
    assert await shelf.ids("ghost") == []
    await index.swap(generation)
    found = await index.find()
    assert found is not None
    assert found.generation == generation


async def test_a_generation_that_another_replaced_is_not_swapped_in(shelf: Shelf) -> None:
    index = shelf.index
    first = await index.begin_generation()
    await index.swap(await index.begin_generation())
    with pytest.raises(ConflictError, match="another one was built"):
        await index.swap(first)
    with pytest.raises(ConflictError, match="another one was built"):
        await shelf.add([entry(1)], first)
