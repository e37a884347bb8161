"""Questions, passages and their order: pure."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.search.domain.passages import (
    LONGEST,
    LONGEST_SENTENCE,
    Excerpt,
    FoundBy,
    Window,
    choose_excerpts,
    fuse_rankings,
    keep_relevant,
    lexical_scores,
    preselect_excerpts,
    rank_excerpts,
    score_excerpts,
    search_weights,
    split_into_windows,
    stem,
)
from pressbox.curator.search.domain.query import content_terms, expand_follow_up

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JAPANESE = "東京の天気は晴れです。明日は雨が降るでしょう。気温は二十度になる見込みです。" * 20


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("Why did the bridge over the Elbe collapse?", ("bridge", "elbe", "collapse")),
        ("Warum ist die Brücke über die Elbe eingestürzt?", ("brucke", "elbe", "eingesturzt")),
        ("What is it?", ("what", "is", "it")),
        ("Is C++ faster than Rust in 2024?", ("c++", "faster", "rust", "2024")),
        ("東京の天気は？", ("東京", "京の", "の天", "天気", "気は")),
    ],
)
def test_the_words_of_a_question_that_carry_meaning_are_what_is_looked_for(
    question: str, terms: tuple[str, ...]
) -> None:
    assert content_terms(question) == terms


def test_a_short_question_after_another_one_is_looked_for_with_its_words() -> None:
    assert "Elbe" in expand_follow_up("And who pays for it?", ["What about the bridge over the Elbe?"])
    long = "How many people work for the harbour authority of Rotterdam since the merger of 2015?"
    assert expand_follow_up(long, ["What about the bridge over the Elbe?"]) == long
    assert expand_follow_up("And now?", []) == "And now?"


@given(st.text(alphabet=st.sampled_from("ab .!?\n。「」東京とx"), max_size=3_000))
def test_windows_are_in_order_within_the_text_and_leave_no_letter_out(text: str) -> None:
    found = split_into_windows(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(one.of(text) == one.of(text).strip() for one in found)
    starts = [one.start for one in found]
    assert starts == sorted(set(starts))
    covered = {place for one in found for place in range(one.start, one.end)}
    assert all(place in covered for place, letter in enumerate(text) if not letter.isspace())


def test_a_window_is_about_a_paragraph_and_begins_and_ends_with_a_sentence() -> None:
    text = " ".join(f"Sentence number {number} says something of interest about it." for number in range(100))
    found = split_into_windows(text)
    assert all(one.of(text).startswith("Sentence") and one.of(text).endswith(".") for one in found)
    assert all(len(one.of(text)) <= LONGEST for one in found)
    assert all(one.of(JAPANESE).endswith("。") and one.end - one.start <= 300 for one in split_into_windows(JAPANESE))
    assert max(one.end - one.start for one in split_into_windows("x" * 10_000)) == LONGEST_SENTENCE


def test_a_passage_with_the_rare_word_is_better_than_one_with_the_common_word() -> None:
    texts = ["The city has a new harbour.", "The city has a new zeppelin.", "The city sleeps.", "The city wakes."]
    scores = lexical_scores(("city", "zeppelin"), texts, [""] * 4)
    assert scores.index(max(scores)) == 1
    assert all(0 <= score <= 1 for score in scores)


def test_another_form_of_a_word_counts_for_less_than_the_word_itself() -> None:
    assert stem("bridge") == stem("bridges") == "bridg"
    exact, other, none = lexical_scores(("eruptions",), ["eruptions", "eruption", "bananas"], [""] * 3)
    assert exact > other > none == 0
    assert stem("sun") == stem("2024") == stem("東京の天気") == ""


def test_what_several_ways_find_comes_before_what_one_of_them_finds_first() -> None:
    order = fuse_rankings({FoundBy.FULL_TEXT: [1, 2, 3], FoundBy.VECTORS: [4, 2, 5], FoundBy.GRAPH: [2]})
    assert order[0].entry_id == 2
    assert order[0].found_by == (FoundBy.FULL_TEXT, FoundBy.VECTORS, FoundBy.GRAPH)
    assert {one.entry_id for one in order[1:3]} == {1, 4}
    assert fuse_rankings({}) == []
    # The same entry twice in one ranking is one place.
    assert fuse_rankings({FoundBy.FULL_TEXT: [7, 7, 8]})[1].score == fuse_rankings({FoundBy.FULL_TEXT: [7, 8]})[1].score


def excerpt(entry_id: int, start: int, words: float = 0.5, standing: float = 0.5) -> Excerpt:
    return Excerpt(entry_id, Window(start, start + 100), f"text {entry_id} {start}", "", standing, words)


def test_passages_come_from_several_entries_and_never_overlap() -> None:
    order = [(excerpt(1, start), 1 - start / 1000) for start in (0, 50, 100, 200)] + [(excerpt(2, 0), 0.1)]
    kept = [(one.entry_id, one.window.start) for one, _ in choose_excerpts(order, 3, per_entry=2)]
    assert kept == [(1, 0), (1, 100), (2, 0)]
    assert len(choose_excerpts(order, 8, per_entry=8)) == 4


def test_meaning_decides_between_passages_with_the_same_words() -> None:
    ones = [excerpt(1, 0), excerpt(2, 0)]
    assert rank_excerpts(ones, [0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])[0][0].entry_id == 2
    assert [one.entry_id for one, _ in rank_excerpts(ones, None, None)] == [1, 2]


def test_the_opening_of_an_entry_in_another_language_is_looked_at_though_it_shares_no_word() -> None:
    shared = [excerpt(1, start, words=0.9) for start in range(0, 5_000, 100)]
    foreign = [excerpt(2, start, words=0.0) for start in range(0, 500, 100)]
    looked_at = preselect_excerpts([*shared, *foreign], 10)
    assert (2, 0) in {(one.entry_id, one.window.start) for one in looked_at}
    assert len(looked_at) == 10


def test_the_title_speaks_for_its_passages() -> None:
    ones = [
        Excerpt(1, Window(0, 9), "It fell.", "The bridge", 1.0),
        Excerpt(2, Window(0, 9), "It fell.", "A cake", 1.0),
    ]
    first, second = score_excerpts(("bridge",), ones)
    assert first.words > second.words == 0


def test_words_decide_where_articles_have_the_words_of_the_question() -> None:
    terms = ("ferry", "departs", "bergen")
    weights = search_weights(terms, ["The ferry to Bergen departs at noon.", "Cakes."])
    rankings = {FoundBy.FULL_TEXT: [1, 2], FoundBy.VECTORS: [9, 8, 2]}
    assert [one.entry_id for one in fuse_rankings(rankings, weights=weights)][:2] == [2, 1]
    assert [one.entry_id for one in fuse_rankings({**rankings, FoundBy.VECTORS: [9, 8]}, weights=weights)][:2] == [1, 2]


def test_meaning_counts_in_full_where_the_words_are_not_there() -> None:
    """As for a question in another language."""
    assert search_weights(("fähre", "abfahrt", "bergen"), ["The ferry to Bergen departs at noon."]) == {}
    assert search_weights(("fähre",), []) == {}


def found(number: int, score: float, words: float, meaning: float = 0.0) -> tuple[Excerpt, float]:
    return Excerpt(number, Window(0, 9), "a passage", "", 1.0, words, meaning), score


@pytest.mark.parametrize(
    ("ranking", "kept"),
    [
        ([found(1, 0.8, 0.45), found(2, 0.57, 0.3), found(3, 0.5, 0.1)], [1, 2]),
        # In another language no word is shared, and the meaning decides.
        ([found(1, 0.55, 0.0, 0.4), found(2, 0.53, 0.0, 0.39), found(3, 0.3, 0.0, 0.2)], [1, 2]),
        # The best of nothing is nothing.
        ([found(1, 0.55, 0.0, 0.19), found(2, 0.5, 0.0, 0.1)], []),
        ([found(1, 0.9, 0.0, 0.1), found(2, 0.5, 0.2)], [2]),
        ([], []),
    ],
)
def test_passages_for_people_stop_where_they_no_longer_speak_of_the_question(
    ranking: list[tuple[Excerpt, float]], kept: list[int]
) -> None:
    assert [one.entry_id for one, _ in keep_relevant(ranking)] == kept
