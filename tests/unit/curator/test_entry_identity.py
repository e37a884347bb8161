"""Which entry is the same one, and what a feed's HTML says as text."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.ingest.domain import (
    LONGEST_GUID,
    Edit,
    article_address,
    choose_guid,
    compare_texts,
    feed_hash,
    has_page,
    is_due_for_figures,
)
from pressbox.curator.library.domain.entries import content_hash
from pressbox.curator.library.domain.feeds import Enclosure
from pressbox.curator.text.plain_text import count_words, make_storable, to_plain_text


def stated(**values: object) -> FeedEntry:
    return FeedEntry(**({"guid": "", "url": "", "title": "A title"} | values))  # type: ignore[arg-type]


def test_the_guid_counts_then_the_address_then_the_words() -> None:
    assert choose_guid(stated(guid=" urn:1 ", url="https://example.org/a")) == "urn:1"
    assert choose_guid(stated(url="http://EXAMPLE.org/a?utm_source=rss#top")) == "https://example.org/a"
    assert choose_guid(stated(content="x")) == choose_guid(stated(content="x"))
    assert choose_guid(stated(content="x")) != choose_guid(stated(content="y"))


def test_a_guid_that_no_index_takes_is_shortened_and_stays_its_own() -> None:
    one, other = choose_guid(stated(guid="a" * 9000)), choose_guid(stated(guid="a" * 9001))
    assert max(len(one), len(other)) <= LONGEST_GUID
    assert one != other


@pytest.mark.parametrize(
    "url", ["https://example.org", "https://example.org/?utm_source=rss", "mailto:a@example.org", ""]
)
def test_a_home_page_is_no_article(url: str) -> None:
    assert article_address(url) == ""


@pytest.mark.parametrize("url", ["https://example.org/?p=12", "https://example.org/a", "https://example.org/#!/a"])
def test_an_address_that_names_something_is_an_article(url: str) -> None:
    assert article_address(url) == url


@pytest.mark.parametrize(
    "url", ["https://www.youtube.com/watch?v=1", "https://youtu.be/1", "https://example.org/talk.mp3", ""]
)
def test_videos_and_files_have_no_page(url: str) -> None:
    assert not has_page(stated(url=url, enclosures=(Enclosure("https://example.org/talk.mp3", "", None),)))
    assert has_page(
        stated(url="https://example.org/talk", enclosures=(Enclosure("https://example.org/talk.mp3", "", None),))
    )


def test_every_stated_field_makes_another_hash() -> None:
    changes: list[dict[str, object]] = [
        {"title": "x"},
        {"url": "x"},
        {"author": "x"},
        {"content": "x"},
        {"summary": "x"},
        {"thumbnail_url": "x"},
        {"language": "x"},
        {"enclosures": (Enclosure("x", "", None),)},
    ]
    assert len({feed_hash(stated(**change)) for change in [{}, *changes]}) == len(changes) + 1


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("Points: 9, comments: 1", "Points: 10,  comments: 25", Edit.NONE),
        ("9 Kommentare", "1.204 Kommentare", Edit.NONE),
        ("A fine day", "A grey day", Edit.WORDS),
        ("The storm left 3 dead.", "The storm left 5 dead.", Edit.FIGURES),
        ("It costs 1,200 euros. Comments: 3", "It costs 2,200 euros. Comments: 4", Edit.FIGURES),
        ("On 5 May", "On 6 May", Edit.FIGURES),
    ],
)
def test_a_counter_is_no_edit_but_a_corrected_figure_is(before: str, after: str, edit: Edit) -> None:
    assert compare_texts(before, after) is edit


def test_figures_that_change_all_the_time_are_followed_ever_more_seldom() -> None:
    first = datetime(2026, 5, 1, tzinfo=UTC)
    edited, done = first, 0
    for minutes in range(0, 7 * 24 * 60, 5):
        now = first + timedelta(minutes=minutes)
        if is_due_for_figures(first, edited, now):
            edited, done = now, done + 1
    assert 8 <= done <= 20


def test_no_text_has_no_hash() -> None:
    assert content_hash(" \n ") == ""
    assert content_hash("one\ntwo") != content_hash("one two")


def test_what_the_database_refuses_is_left_out() -> None:
    assert make_storable("a\x00b\ud800c") == "ab?c"


def test_html_becomes_one_line_per_block() -> None:
    html = (
        "<h2>Title</h2><p>First\n line, <a href='x' title=\"a > b\">linked</a> &amp; more.</p><ul><li>One</li>"
        "<li>Two</li></ul><script>no()</script><!-- no --><pre>code</pre>a<br/>b"
    )
    assert to_plain_text(html) == "Title\nFirst line, linked & more.\nOne\nTwo\ncode\na\nb"


def test_words_are_counted_where_there_are_no_spaces_too() -> None:
    assert count_words("three plain words") == 3
    assert count_words("日本語の文章") == 3
