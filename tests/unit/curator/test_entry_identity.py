"""Which entry is the same one, and what a feed's HTML says as text."""

import pytest

from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.ingest.domain import (
    LONGEST_GUID,
    article_address,
    choose_guid,
    feed_hash,
    has_page,
    says_the_same,
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


def test_figures_are_no_edit_but_words_are() -> None:
    assert says_the_same("Points: 9, comments: 1", "Points: 10,  comments: 25")
    assert not says_the_same("Points: 9", "Comments: 9")


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
