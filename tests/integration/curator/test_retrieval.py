"""Retrieval on a real database and a real index: what is found, of whose feeds, and exactly where."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pressbox.core.app import Resources
from pressbox.core.errors import NotFoundError, TransientError
from pressbox.curator.search.domain.passages import FoundBy
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.retriever import HybridRetriever, SqlArticles
from tests.fakes.asking import SubjectEmbedder, written
from tests.fakes.reader import Library

BRIDGE = (
    "The old bridge is closed.\nEngineers found cracks in the pylons last week. The town has no other crossing, "
    "and ferries are full. " + "Nobody knows when repairs begin. " * 40 + "The repair costs nine million euros."
)
GERMAN = "Die Brücke über den Fluss wird gesperrt. Das sagte die Stadt am Montag."
JAPANESE = "東京の新しい橋が開通した。総工費は九百億円だった。地元の人々は喜んでいる。"


class Neighbours:
    """The graph's part."""

    def __init__(self, *entry_ids: int) -> None:
        self._entry_ids = entry_ids

    async def entries_near(self, user_id: int, words: str, limit: int) -> Sequence[int]:
        return self._entry_ids


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "index"


def retriever(library: Library, index: Path, *near: int, embedder: SubjectEmbedder | None = None) -> HybridRetriever:
    graph = Neighbours(*near) if near else None
    articles = SqlArticles(library.database)
    return HybridRetriever(articles, TantivyReader(index), embedder or SubjectEmbedder(), graph)


async def test_a_question_in_words_of_its_own_finds_the_passage_and_its_exact_place(
    library: Library, index: Path
) -> None:
    anna = await library.person()
    feed = await library.feed(anna, title="The Herald")
    bridge = await written(library, feed, "Trouble at the river", BRIDGE)
    await TantivyIndex(index).add([bridge])
    found = await retriever(library, index).find(anna, "How many euros does the repair of the bridge cost?")
    best = next(one for one in found if "nine million euros" in one.text)
    assert (best.entry_id, best.feed_title, best.title) == (bridge.entry_id, "The Herald", "Trouble at the river")
    assert all(BRIDGE[one.start : one.end] == one.text for one in found)
    assert {one.entry_id for one in found} == {bridge.entry_id}
    assert set(best.found_by) == {FoundBy.FULL_TEXT, FoundBy.VECTORS}


async def test_an_article_in_another_language_is_found_by_its_meaning_alone(library: Library, index: Path) -> None:
    anna = await library.person()
    german = await written(library, await library.feed(anna), "Gesperrt", GERMAN)
    await TantivyIndex(index).add([german])
    (found,) = await retriever(library, index).find(anna, "Which bridge is closed?")
    assert (found.entry_id, found.found_by) == (german.entry_id, (FoundBy.VECTORS,))


async def test_places_are_exact_in_a_script_without_spaces(library: Library, index: Path) -> None:
    anna = await library.person()
    text = JAPANESE * 12
    entry = await written(library, await library.feed(anna), "橋", text)
    await TantivyIndex(index).add([entry])
    found = await retriever(library, index).find(anna, "橋の総工費はいくらでしたか？")
    assert found
    assert all(text[one.start : one.end] == one.text and "総工費" in one.text for one in found)


async def test_nothing_of_a_feed_that_the_person_does_not_read_is_found(library: Library, index: Path) -> None:
    anna, ben = await library.person(), await library.person()
    secret = await written(library, await library.feed(ben), "Trouble at the river", BRIDGE)
    await TantivyIndex(index).add([secret])
    await library.feed(anna)
    # A graph that says too much changes nothing either.
    assert await retriever(library, index, secret.entry_id).find(anna, "What about the bridge?") == []
    with pytest.raises(NotFoundError):
        await retriever(library, index).find(anna, "What about the bridge?", entry_id=secret.entry_id)
    assert await retriever(library, index).find(ben, "What about the bridge?")


async def test_over_one_entry_only_its_own_passages_are_found(library: Library, index: Path) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    bridge, other = await written(library, feed, "Bridge", BRIDGE), await written(library, feed, "Brücke", GERMAN)
    await TantivyIndex(index).add([bridge, other])
    found = await retriever(library, index).find(anna, "When is the bridge repaired?", entry_id=bridge.entry_id)
    assert len(found) == 2
    assert {one.entry_id for one in found} == {bridge.entry_id}


async def test_the_same_story_of_two_feeds_is_one_source_and_no_entry_fills_the_page(
    library: Library, index: Path
) -> None:
    anna = await library.person()
    feeds = [await library.feed(anna) for _ in range(2)]
    copies = [await written(library, feed, "Bridge", BRIDGE, story="the bridge") for feed in feeds]
    other = await written(library, feeds[0], "Brücke", GERMAN)
    await TantivyIndex(index).add([*copies, other])
    found = await retriever(library, index).find(anna, "Why is the bridge closed?")
    assert {one.entry_id for one in found} == {copies[0].entry_id, other.entry_id}
    assert sum(one.entry_id == copies[0].entry_id for one in found) == 2


async def test_what_only_the_graph_knows_is_found_and_says_so(library: Library, index: Path) -> None:
    anna = await library.person()
    entry = await written(library, await library.feed(anna), "A person", "Ada wrote the first program.", vector=False)
    (found,) = await retriever(library, index, entry.entry_id).find(anna, "Who is Lovelace?")
    assert (found.entry_id, found.found_by) == (entry.entry_id, (FoundBy.GRAPH,))


async def test_without_vectors_or_without_an_index_the_other_ways_answer(library: Library, index: Path) -> None:
    anna = await library.person()
    entry = await written(library, await library.feed(anna), "Bridge", BRIDGE)
    # Nothing is indexed yet.
    (by_meaning, *_) = await retriever(library, index).find(anna, "bridge")
    assert by_meaning.found_by == (FoundBy.VECTORS,)
    await TantivyIndex(index).add([entry])
    embedder = SubjectEmbedder()
    embedder.away = True
    (by_words, *_) = await retriever(library, index, embedder=embedder).find(anna, "bridge")
    assert by_words.found_by == (FoundBy.FULL_TEXT,)


async def test_nobody_is_answered_by_meaning_alone_while_the_index_is_out_of_order(
    library: Library, index: Path
) -> None:
    anna = await library.person()
    entry = await written(library, await library.feed(anna), "Bridge", BRIDGE)
    await TantivyIndex(index).add([entry])
    for file in index.glob("*/meta.json"):
        file.write_text("broken")
    with pytest.raises(TransientError):
        await TantivyReader(index).search_any(["bridge"], [1], 5)
    with pytest.raises(TransientError, match="reindex --clean"):
        await retriever(library, index).find(anna, "bridge")


async def test_a_way_out_of_order_is_never_taken_for_nothing_found(library: Library, index: Path) -> None:
    anna = await library.person()
    entry = await written(library, await library.feed(anna), "Bridge", BRIDGE, vector=False)
    embedder = SubjectEmbedder()
    embedder.away = True
    with pytest.raises(TransientError):
        await retriever(library, index, embedder=embedder).find(anna, "bridge")
    embedder.away = False
    assert await retriever(library, index, embedder=embedder).find(anna, "bridge") == []
    await TantivyIndex(index).add([entry])
    for file in index.glob("*/meta.json"):
        file.write_text("broken")
    with pytest.raises(TransientError):
        await retriever(library, index, embedder=embedder).find(anna, "bridge")


async def test_an_entry_without_a_text_answers_with_its_headline(library: Library, index: Path) -> None:
    anna = await library.person()
    entry = await written(library, await library.feed(anna), "Bridge closed", "")
    await TantivyIndex(index).add([entry])
    (found,) = await retriever(library, index).find(anna, "Is the bridge closed?")
    assert (found.text, found.start, found.end) == ("Bridge closed", 0, 0)
