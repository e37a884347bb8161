"""The labelled questions of `bench ask`, and how their answers are counted."""

import math
from pathlib import Path

import pytest

from pressbox.bench.ask import Quality, ndcg, recall
from pressbox.bench.ask_library import (
    Question,
    load_demo_documents,
    load_demo_questions,
    load_documents,
    load_questions,
)
from pressbox.core.errors import ConfigurationError


def test_every_question_is_asked_once_in_several_languages_and_names_what_is_right() -> None:
    asked = load_questions()
    assert len(asked) >= 60
    assert len({one.question for one in asked}) == len(asked)
    assert {"en", "de", "fr", "es", "pt", "ja", "zh"} <= {one.language for one in asked}
    assert all(one.right and len(set(one.right)) == len(one.right) for one in asked)


def test_every_question_about_the_demo_names_an_article_of_it_and_every_article_is_asked_about() -> None:
    asked = load_demo_questions()
    assert len(asked) >= 30
    assert {"en", "de", "ja"} <= {one.language for one in asked}
    assert {right for one in asked for right in one.right} == {one.key for one in load_demo_documents()}


def test_recall_counts_what_is_right_among_the_best_and_ndcg_where_it_stands() -> None:
    keys = ["a", "b", "c", "d", "e", "f"]
    assert recall(keys, ["a", "f"]) == 0.5
    assert recall([], ["a"]) == 0
    assert ndcg(keys, ["a"]) == 1
    assert ndcg(keys, ["b"]) == pytest.approx(1 / math.log2(3))
    assert ndcg(keys, ["a", "b"]) == 1
    assert ndcg(["x"] * 10 + ["a"], ["a"]) == 0
    quality = Quality.of([["a"], ["x"]], [Question("en", "A?", ("a",)), Question("en", "B?", ("b",))])
    assert (quality.recall, quality.ndcg) == (0.5, 0.5)


async def test_a_folder_without_pages_says_what_it_must_hold(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="articles and feeds"):
        await load_documents(tmp_path)


async def test_pages_and_entries_of_feeds_are_known_by_their_place(tmp_path: Path) -> None:
    page = tmp_path / "articles" / "one"
    page.mkdir(parents=True)
    (page / "expected.html").write_text("<p>Some text.</p>")
    (page / "expected-metadata.json").write_text('{"title": "A page"}')
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "broken").write_text("no feed")
    (tmp_path / "feeds" / "good").write_text(
        "<rss version='2.0'><channel><title>Feed</title><item><title>First</title><description>Said.</description>"
        "</item></channel></rss>"
    )
    found = await load_documents(tmp_path)
    assert [(one.key, one.title, one.text) for one in found] == [
        ("articles/one", "A page", "Some text."),
        ("good/0", "First", "Said."),
    ]
