"""A text is what a query asks for, without an index."""

from datetime import UTC, datetime

import pytest

from pressbox.curator.search.domain.matching import SplitText
from pressbox.curator.search.domain.query import parse_query
from pressbox.curator.search.ports import IndexDocument

ARTICLE = IndexDocument(
    entry_id=1,
    feed_id=1,
    title="The quick brown fox",
    summary="Über eine Straße in 東京都.",
    filtered_content="It jumps over the lazy dog near the river.",
    feed_content="Only the feed says wombat.",
    author="Ada Löwenherz",
    published_at=datetime(2026, 1, 1, tzinfo=UTC),
)


@pytest.mark.parametrize(
    "query",
    [
        "fox",
        "FOX dog",
        "jump",
        "strasse",
        "lowenherz",
        "wombat",
        '"lazy dog"',
        '"quick brown" river',
        "title:fox",
        "author:ada",
        "fox -cat",
        "東京",
    ],
)
def test_it_has_the_words(query: str) -> None:
    assert SplitText(ARTICLE).matches(parse_query(query))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "-cat",
        "cat",
        "fox cat",
        "foz",
        "ju",
        '"dog lazy"',
        '"brown it"',
        '"jump"',
        "title:dog",
        "author:fox",
        "fox -dog",
        'fox -"lazy dog"',
        "京東",
    ],
)
def test_it_lacks_the_words(query: str) -> None:
    assert not SplitText(ARTICLE).matches(parse_query(query))
