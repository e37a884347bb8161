"""How texts and queries become words, and where they are found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.search.domain.highlights import Highlighter, snippet_html, text_html
from pressbox.curator.search.domain.query import (
    Field,
    has_prefix_with_typo,
    is_one_typo_away,
    parse_query,
    typo_matcher,
)
from pressbox.curator.text.words import compose, fold, fold_lengths, split_words, to_index_terms


def marked(query: str, text: str) -> str:
    return text_html(Highlighter(parse_query(query)).find(compose(text)))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Straße, Müller’s naïve CO-OP", "strasse muller s naive co op"),
        ("Ｆｕｌｌ ｗｉｄｔｈ and İstanbul", "full width and istanbul"),
        ("C++ and C# and 3.11", "c++ and c# and 3 11"),
        ("東京都の天気", "東京 京都 都の の天 天気 気"),
        ("iPhone15発売", "iphone15 発売 売"),
        ("ｶﾞｷﾞ が", "ガギ ギ が"),
        ("한국어를 검색", "한국 국어 어를 를 검색 색"),
        ("Привет, МИР", "привет мир"),
        ("_under_score_ …", "under score"),
        ("", ""),
    ],
)
def test_a_text_becomes_folded_words_and_pairs(text: str, terms: str) -> None:
    assert to_index_terms(compose(text)) == terms


def test_decomposed_letters_are_the_same_as_composed_ones() -> None:
    assert to_index_terms(compose("Mu\u0308ller か\u3099")) == to_index_terms("Müller が")


def test_a_word_without_end_is_cut() -> None:
    assert to_index_terms("x" * 5000) == "x" * 64
    assert [word.text for word in split_words("x" * 5000)] == ["x" * 64]


@given(st.text())
def test_places_of_words_are_places_of_terms(text: str) -> None:
    terms = to_index_terms(compose(text)).split()
    for word in split_words(text):
        assert terms[word.position] == (word.text[:2] if word.unspaced else word.text)


@given(st.text())
def test_folding_changes_the_length_only_where_it_says_so(text: str) -> None:
    stored = compose(text)
    lengths = fold_lengths(stored)
    assert len(fold(stored)) == sum(lengths.get(character, 1) for character in stored)


def test_a_query_has_words_phrases_fields_and_exclusions() -> None:
    query = parse_query('Goal "late winner" -offside author:Ada title:"Match report" -"own goal"')
    wanted = [(clause.field, clause.exact, [word.text for word in clause.words]) for clause in query.included]
    assert wanted == [
        (Field.ANY, False, ["goal"]),
        (Field.ANY, True, ["late", "winner"]),
        (Field.AUTHOR, False, ["ada"]),
        (Field.TITLE, True, ["match", "report"]),
    ]
    assert [[word.text for word in clause.words] for clause in query.excluded] == [["offside"], ["own", "goal"]]


@pytest.mark.parametrize("text", ["", " ", '"', '""', "-", "author:", ":", "(((", "AND", "\ud800", "„", "*:*"])
def test_what_is_no_query_is_no_error(text: str) -> None:
    assert len(parse_query(text).clauses) <= 1


def test_a_quote_that_is_never_closed_ends_with_the_query() -> None:
    (clause,) = parse_query('"late winner').clauses
    assert clause.exact
    assert [word.text for word in clause.words] == ["late", "winner"]


@given(st.text())
def test_anything_can_be_typed_and_marked(text: str) -> None:
    query = parse_query(text)
    html = snippet_html(Highlighter(query).find(compose(f"before {text} after <b>&")))
    assert html.replace("<mark>", "").replace("</mark>", "").count("<") == 0
    assert html.count("<mark>") == html.count("</mark>")


@pytest.mark.parametrize(
    ("typed", "other", "near"),
    [
        ("brown", "brown", True),
        ("brwon", "brown", True),
        ("bron", "brown", True),
        ("brownn", "brown", True),
        ("broun", "brown", True),
        ("brwno", "brown", False),
        ("brown", "bro", False),
        ("crow", "brown", False),
    ],
)
def test_one_slip_is_near_and_two_are_not(typed: str, other: str, near: bool) -> None:
    assert is_one_typo_away(typed, other) is near
    assert is_one_typo_away(other, typed) is near
    (word,) = split_words(typed)
    assert typo_matcher(word)(other) is near


@given(st.text("abc", min_size=4, max_size=9), st.text("abc", min_size=3, max_size=9))
def test_the_quick_look_never_misses_a_near_word(typed: str, other: str) -> None:
    (word,) = split_words(typed)
    assert typo_matcher(word)(other) is (has_prefix_with_typo if len(typed) >= 7 else is_one_typo_away)(typed, other)


@given(st.text("aßx ﬁ½é東", max_size=12), st.text("aßx ﬁ½é東", max_size=12))
def test_marks_stand_around_the_characters_that_were_found(before: str, after: str) -> None:
    html = marked("strasse", f"{before} Straße {after}")
    assert "<mark>Straße</mark>" in html
    assert html.replace("<mark>", "").replace("</mark>", "") == compose(f"{before} Straße {after}")


def test_a_slip_at_the_beginning_of_a_long_word_is_near() -> None:
    assert has_prefix_with_typo("bundesverfasung", "bundesverfassungsgericht")
    assert not has_prefix_with_typo("bundesverwaltung", "bundesverfassungsgericht")


@pytest.mark.parametrize(
    ("query", "text", "html"),
    [
        ("fox", "A fox & foxes <b>", "A <mark>fox</mark> &amp; <mark>foxes</mark> &lt;b&gt;"),
        ("brwon", "the brown dog", "the <mark>brown</mark> dog"),
        ("strasse", "Die Straße in Köln", "Die <mark>Straße</mark> in Köln"),
        ("koln", "Die Straße in Köln", "Die Straße in <mark>Köln</mark>"),
        ('"brown dog"', "brown cat, brown-dog", "brown cat, <mark>brown-dog</mark>"),
        ("天気", "東京の天気は晴れ", "東京の<mark>天気</mark>は晴れ"),
        ("iPhone15発売", "新しいiPhone15発売です", "新しい<mark>iPhone15発売</mark>です"),
        ("검색", "한국어를 검색합니다", "한국어를 <mark>검색</mark>합니다"),
        ("author:fox", "a fox", "a fox"),
        ("-fox dog", "a fox, a dog", "a fox, a <mark>dog</mark>"),
        ("cat", "concatenate", "concatenate"),
    ],
)
def test_hits_are_marked_and_the_rest_is_escaped(query: str, text: str, html: str) -> None:
    assert marked(query, text) == html


def test_a_snippet_shows_the_passage_with_most_of_the_words() -> None:
    filler = "nothing of interest stands here at all. " * 20
    text = f"The lamp. {filler}The lamp beside the river shone. {filler}"
    html = snippet_html(Highlighter(parse_query("lamp river")).find(text))
    assert "<mark>lamp</mark> beside the <mark>river</mark>" in html
    assert html.startswith("… ")
    assert html.endswith(" …")
    assert len(html) < 330
