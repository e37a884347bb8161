"""A passage marked in the HTML of an article: pure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.reading.extensions import mark_passage


@pytest.mark.parametrize(
    ("html", "passage", "result"),
    [
        ("<p>One two three.</p>", "two", '<p>One <mark id="passage">two</mark> three.</p>'),
        (
            "<p>One <b>two</b> three.</p>",
            "one two",
            '<p><mark id="passage">One </mark><b><mark>two</mark></b> three.</p>',
        ),
        ("<p>One</p>\n<p>two</p>", "One\ntwo", '<p><mark id="passage">One</mark></p>\n<p><mark>two</mark></p>'),
        ("<p>Fish &amp; chips</p>", "fish & CHIPS", '<p><mark id="passage">Fish &amp; chips</mark></p>'),
        ('<p title="a > b">Here</p>', "here", '<p title="a > b"><mark id="passage">Here</mark></p>'),
        (
            "<p><ruby>東<rt>とう</rt></ruby>京の橋</p>",
            "東京の橋",
            '<p><ruby><mark id="passage">東</mark><rt>とう</rt></ruby><mark>京の橋</mark></p>',
        ),
        ("<table><tr><td>a1</td><td>b2</td></tr></table>", "a1 | b2", None),
    ],
)
def test_a_passage_is_marked_across_elements_and_entities(html: str, passage: str, result: str | None) -> None:
    found = mark_passage(html, passage)
    assert found == (result or '<table><tr><td><mark id="passage">a1</mark></td><td><mark>b2</mark></td></tr></table>')


def test_a_passage_that_is_not_there_is_not_marked() -> None:
    assert mark_passage("<p>One two three.</p>", "four") is None
    assert mark_passage("<p>One two three.</p>", " ?! ") is None


def test_a_passage_that_lost_some_words_in_the_middle_is_still_found() -> None:
    opening = "The beginning of what it said stays exactly as it was written then."
    ending = "The end of it stays as well, all of it."
    passage = f"{opening} Some of these words are gone by now. {ending}"
    found = mark_passage(f"<p>Before. {opening} {ending} After.</p>", passage)
    assert found == f'<p>Before. <mark id="passage">{opening} {ending[:-1]}</mark>. After.</p>'


@given(st.text(alphabet="ab <>&;pi/\"'=", max_size=200), st.text(alphabet="ab p", min_size=1, max_size=12))
def test_nothing_but_marks_is_added(html: str, passage: str) -> None:
    found = mark_passage(html, passage)
    assert found is None or re.sub(r'<mark(?: id="passage")?>|</mark>', "", found) == html
