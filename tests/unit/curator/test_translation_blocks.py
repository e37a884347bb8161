"""An article is cut for translators and comes together again with the same structure, links and code."""

import html
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.articles.sanitizer import sanitise
from pressbox.curator.translate.blocks import Block, BlockKind, find_blocks, pair_up, split_html
from pressbox.curator.translate.domain import (
    BlockTranslation,
    Limits,
    UntranslatedReason,
    outgoing_text,
    plan_requests,
    read_answer,
)
from pressbox.demo.simulators.translation_text import Mood, translate_text
from tests.fakes.newsstand import RICH

RICH_HTML = sanitise(RICH, "https://example.org/articles/1")
TAG = re.compile(r"<[^>]*>")
ROOMY = Limits(texts=1000, characters=10**6, size=10**7, longest=10**6)


def joined(pieces: tuple[str | Block, ...], shown: dict[str, str]) -> str:
    return "".join(piece if isinstance(piece, str) else shown.get(piece.key, piece.html) for piece in pieces)


def translation_of(text: str) -> dict[str, str]:
    done = [read_answer(block, translate_text(outgoing_text(block), "de")) for block in find_blocks("", "", text)]
    assert [one.reason for one in done] == [None] * len(done)
    return {one.key: one.html for one in done}


words = st.text(alphabet=string.ascii_letters + " &<>\"'äß日本", min_size=1, max_size=12).map(html.escape)
inline = st.recursive(
    words,
    lambda inner: st.one_of(
        st.builds('<a href="https://example.org/?a=1&amp;b={0}">{1}</a>'.format, st.integers(0, 9), inner),
        st.builds("<em>{0}</em>".format, inner),
        st.builds("{0}<br>{1}".format, inner, inner),
        st.builds("{0} <code>{1}</code>".format, inner, words),
        st.builds("{0}{1}".format, inner, inner),
    ),
    max_leaves=6,
)
articles = st.recursive(
    st.one_of(
        st.builds("<p>{0}</p>".format, inline),
        st.builds("<h2>{0}</h2>".format, inline),
        st.builds("<pre><code>{0}</code></pre>".format, words),
        st.builds("<table><tbody><tr><td>{0}</td><td>{1}</td></tr></tbody></table>".format, inline, inline),
        st.builds('<figure><img src="https://example.org/a.png"><figcaption>{0}</figcaption></figure>'.format, inline),
        st.just("<hr>"),
        inline,
    ),
    lambda inner: st.one_of(
        st.builds("<ul><li>{0}</li><li>{1}</li></ul>".format, inner, inner),
        st.builds("<blockquote>{0}</blockquote>".format, inner),
        st.builds("<div>{0}{1}</div>".format, inner, inner),
        st.builds('<a href="https://example.org">{0}</a>'.format, inner),
    ),
    max_leaves=5,
).map(lambda text: sanitise(text, "https://example.org/"))


@given(articles)
def test_what_is_cut_is_the_same_when_put_together(text: str) -> None:
    assert joined(split_html(text), {}) == text


@given(articles)
def test_structure_links_and_code_are_the_same_after_translation(text: str) -> None:
    after = joined(split_html(text), translation_of(text))
    assert TAG.findall(after) == TAG.findall(text)
    codes = re.compile(r"<code>(.*?)</code>", re.DOTALL)
    assert codes.findall(after) == codes.findall(text)
    # There is nothing in it that a sanitiser would change.
    assert sanitise(after, "https://example.org/") == after


@given(articles)
def test_pairs_hold_every_word_of_the_article_once(text: str) -> None:
    beside = "".join(pair.original for pair in pair_up(text, {}))
    assert "".join(TAG.sub("", beside).split()) == "".join(TAG.sub("", text).split())


def test_a_rich_article_is_cut_into_its_paragraphs_headings_cells_captions_quotes_and_items() -> None:
    kinds = [block.kind for block in find_blocks("A title", "What matters.", RICH_HTML)]
    assert kinds[:2] == [BlockKind.TITLE, BlockKind.SUMMARY]
    assert set(kinds) == set(BlockKind)
    sent_away = " ".join(outgoing_text(block) for block in find_blocks("", "", RICH_HTML))
    assert "def crossing" not in sent_away
    assert "https://" not in sent_away
    assert "12,204" not in sent_away


def test_a_rich_article_keeps_its_structure_and_each_pair_stands_beside_its_original() -> None:
    shown = translation_of(RICH_HTML)
    assert TAG.findall(joined(split_html(RICH_HTML), shown)) == TAG.findall(RICH_HTML)
    rows = pair_up(RICH_HTML, shown)
    assert [row.original.strip().split(">")[0] for row in rows] == [
        "<p", "<h2", "<figure", "<table", "<blockquote", "<ol", "<pre", "<p", "<hr", '<p id="text-note-1"',
    ]  # fmt: skip
    assert rows[0].translation.startswith("<p>[de] Ťĥé féřřý")
    assert 'href="https://example.org/timetable"' in rows[0].translation
    assert ' id="' not in "".join(row.translation for row in rows)


PARAGRAPH = Block(
    BlockKind.PARAGRAPH, 'See <a href="https://x.example">the <b>site</b></a>, run <code>a &lt; b</code><br>now'
)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", UntranslatedReason.MARKUP),
        ("Siehe die Seite", UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH), UntranslatedReason.UNCHANGED),
        (
            outgoing_text(PARAGRAPH).replace('<span id="m2">', "").replace("</span></span>", "</span>", 1),
            UntranslatedReason.MARKUP,
        ),
        (outgoing_text(PARAGRAPH) + '<span id="m1">zweimal</span>', UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH) + "<script>alert(1)</script>", UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH) + '<img src="https://evil.example/x" onerror="x">', UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH).replace('id="m1"', 'id="m2"', 1), UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH) + " <a href='https://evil.example'>x</a>", UntranslatedReason.MARKUP),
        (outgoing_text(PARAGRAPH) + " <unclosed", UntranslatedReason.MARKUP),
    ],
)
def test_an_answer_that_lost_or_gained_something_does_not_count(answer: str, why: UntranslatedReason) -> None:
    assert read_answer(PARAGRAPH, answer) == BlockTranslation(PARAGRAPH.key, reason=why)


def test_an_empty_answer_for_plain_words_does_not_count() -> None:
    plain = Block(BlockKind.PARAGRAPH, "Only words")
    assert read_answer(plain, " \n ").reason is UntranslatedReason.EMPTY


def test_marks_may_change_their_order_and_code_comes_back_as_it_was() -> None:
    answer = (
        'Starte <span id="m3" class="notranslate" translate="no">übersetzt!</span><br id="m4"/>, '
        'siehe <span id="m1">die <span id="m2">Seite</span></span> &amp; mehr'
    )
    assert read_answer(PARAGRAPH, answer).html == (
        'Starte <code>a &lt; b</code><br>, siehe <a href="https://x.example">die <b>Seite</b></a> &amp; mehr'
    )


def test_text_of_an_answer_is_never_markup() -> None:
    plain = Block(BlockKind.PARAGRAPH, "Only words")
    assert read_answer(plain, "&lt;script&gt;alert(1)&lt;/script&gt; 1 &lt; 2 \u202e\x00").html == (
        "&lt;script&gt;alert(1)&lt;/script&gt; 1 &lt; 2 "
    )


def test_joiners_of_persian_words_and_of_signs_stay() -> None:
    plain = Block(BlockKind.PARAGRAPH, "Only words")
    assert (
        read_answer(plain, "می\u200cخواهم \U0001f469\u200d\U0001f680").html
        == "می\u200cخواهم \U0001f469\u200d\U0001f680"
    )


@given(st.lists(st.integers(1, 60), max_size=40), st.integers(1, 7), st.integers(20, 100))
def test_requests_stay_within_the_limits_and_lose_nothing(lengths: list[int], texts: int, characters: int) -> None:
    blocks = [Block(BlockKind.PARAGRAPH, f"{number} " + "x" * length) for number, length in enumerate(lengths)]
    limits = Limits(texts=texts, characters=characters, size=10_000, longest=50)
    made, too_long = plan_requests(blocks, limits)
    assert all(
        len(one) == 1 or (len(one) <= texts and sum(len(outgoing_text(block)) for block in one) <= characters)
        for one in made
    )
    keys = [block.key for one in made for block in one]
    assert keys == [block.key for block in blocks if block.key not in {one.key for one in too_long}]
    assert all(one.reason is UntranslatedReason.LONG for one in too_long)


def test_the_same_words_are_sent_once() -> None:
    assert len(find_blocks("Same", "Same", "<p>Same</p><p>Same</p>")) == 1


def test_translators_that_lose_markup_are_found_out() -> None:
    blocks = find_blocks("", "", RICH_HTML)
    done = [read_answer(block, translate_text(outgoing_text(block), "de", Mood.LOSES_MARKUP)) for block in blocks]
    marked = [one for block, one in zip(blocks, done, strict=True) if "<" in block.html]
    assert marked
    assert {one.reason for one in marked} == {UntranslatedReason.MARKUP}


@pytest.mark.parametrize("piece", ["a<b ", "<p>", '<span id="', '<a "<a" ', "<a '\" ", "<a>", "<code>x"])
def test_broken_markup_costs_no_more_than_its_length(piece: str) -> None:
    """Ends within the time of a test only when it is not looked at again and again."""
    assert joined(split_html(piece * 3000), {}) == piece * 3000
