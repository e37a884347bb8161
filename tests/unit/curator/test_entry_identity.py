"""Which entry is the same one, and what a feed's HTML says as text."""

import itertools
from datetime import UTC, datetime
from typing import Any

import pytest

from pressbox.curator.feeds.cleaning import clean_feed
from pressbox.curator.feeds.domain import FeedEntry, RawEntry, RawFeed, RawText, identify_entries
from pressbox.curator.ingest.domain import (
    LONGEST_GUID,
    StoredEntry,
    feed_hash,
    find_renamed,
    has_page,
    is_removed,
    match_entries,
    shorten_guid,
)
from pressbox.curator.library.domain import Enclosure, content_hash
from pressbox.curator.library.urls import article_address
from pressbox.curator.text.plain_text import count_words, make_storable, to_plain_text


def stated(**values: object) -> FeedEntry:
    return FeedEntry(**({"guid": "", "url": "", "title": "A title"} | values))  # type: ignore[arg-type]


def identify(*entries: RawEntry) -> list[str]:
    return [identity.guid for identity in identify_entries(entries)]


def linked(url: str, title: str = "A title", **values: Any) -> RawEntry:
    return RawEntry(url=url, title=RawText(title), **values)


def test_the_guid_counts_then_the_address_then_the_words() -> None:
    page = "http://EXAMPLE.org/a?utm_source=rss#top"
    assert identify(linked(page, guid=" urn:1 ")) == ["urn:1"]
    assert identify(linked(page)) == ["https://example.org/a"]
    one, same, other = (RawEntry(content=RawText(text)) for text in ("x", "x", "y"))
    assert identify(one) == identify(same) != identify(other)


@pytest.mark.parametrize("section", ["May_05", "comment-1234", "v1.2.3"])
def test_a_section_of_a_page_is_an_address_of_its_own(section: str) -> None:
    page = "https://cloud.example.org/release-notes"
    assert identify(linked(f"{page}#{section}")) == [f"{page}#{section}"]
    assert article_address(f"{page}#{section}") == f"{page}#{section}"


@pytest.mark.parametrize(
    "fragment",
    ["xtor=RSS-3208", "utm_source=rss&utm_medium=feed", ":~:text=words", "rss", "comments", "more-12", "top"],
)
def test_a_fragment_that_leads_to_the_same_article_does_not_count(fragment: str) -> None:
    assert article_address(f"https://example.org/a#{fragment}") == "https://example.org/a"


def test_entries_without_guid_that_share_a_link_stay_apart() -> None:
    same = "https://example.org/changes"
    guids = identify(linked(same, "One"), linked(same, "Two"), linked("https://example.org/other", "Three"))
    assert len(set(guids)) == 3
    assert guids[2] == "https://example.org/other"


def test_entries_that_share_link_and_title_are_told_apart_by_their_dates_or_texts() -> None:
    same = "https://example.org/status"
    dated = [linked(same, published=f"2026-05-0{day}") for day in (1, 2, 2)]
    undated = [linked(same, content=RawText(text)) for text in ("up", "down")]
    assert len(set(identify(*dated))) == 2
    assert len(set(identify(*undated))) == 2


def test_a_guid_is_believed_unless_title_and_link_contradict_it() -> None:
    one = linked("https://example.org/1", "One", guid="same")
    edited = linked("https://example.org/1", "One, corrected", guid="same")
    other = linked("https://example.org/2", "Two", guid="same")
    assert identify(one, edited) == ["same", "same"]
    assert len(set(identify(one, other))) == 2


def test_a_guid_and_a_link_that_all_items_have_tell_nothing() -> None:
    items = [linked("https://example.org/", f"Report {number}", guid="same") for number in range(10)]
    assert len(set(identify(*items))) == 10
    assert identify(*items[:5]) == identify(*items)[:5], "whoever else is in the feed"


def store(*identified: FeedEntry) -> dict[str, StoredEntry]:
    return {
        one.guid: StoredEntry(number, one.guid, one.url, one.title, feed_hash(one), one.published_at)
        for number, one in enumerate(identified, 1)
    }


def parse(*entries: RawEntry) -> dict[str, FeedEntry]:
    feed = clean_feed(RawFeed(entries=entries), "https://example.org/feed", datetime(2026, 6, 1, tzinfo=UTC), None)
    return {one.guid: one for one in feed.entries}


@pytest.mark.parametrize("page", ["https://example.org/changes", "https://example.org/"])
def test_an_entry_is_known_again_whatever_its_neighbours_share_with_it(page: str) -> None:
    one, two = linked(page, "One"), linked(page, "Two")
    for before, after in itertools.permutations([(one,), (one, two), (two, one)], 2):
        stored = store(*parse(*before).values())
        wanted = parse(*after)
        known = {wanted[guid].title: row.title for guid, row in match_entries(wanted, stored).items()}
        assert known == {title: title for title in known}
        assert set(known) == {raw.title.value for raw in before} & {raw.title.value for raw in after}


def test_an_entry_that_was_stored_without_its_fragment_is_known_and_renamed() -> None:
    page = "https://example.org/notes"
    old = FeedEntry(page, f"{page}#May_04", "May 4")
    wanted = parse(linked(f"{page}#May_05", "May 5"), linked(f"{page}#May_04", "May 4"))
    known = match_entries(wanted, store(old))
    assert list(known) == [f"{page}#May_04"]
    assert find_renamed(known, wanted) == {1: f"{page}#May_04"}


def test_a_corrected_title_makes_no_second_entry() -> None:
    page = "https://example.org/article"
    assert list(match_entries(parse(linked(page, "Right")), store(*parse(linked(page, "Wrong")).values()))) == [page]


def test_what_was_cleaned_up_under_a_shared_name_stays_away_and_what_is_newer_comes() -> None:
    page, removed = "https://example.org/notes", datetime(2026, 5, 10, tzinfo=UTC)
    dates = {"May_04": "2026-05-04", "May_20": "2026-05-20"}
    wanted = parse(*(linked(f"{page}#{name}", name, published=date) for name, date in dates.items()))
    gone = {one.title for guid, one in wanted.items() if is_removed(guid, one, {page: removed})}
    assert gone == {"May_04"}


def test_a_guid_that_no_index_takes_is_shortened_and_stays_its_own() -> None:
    one, other = shorten_guid("a" * 9000), shorten_guid("a" * 9001)
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
    "url",
    [
        "https://www.youtube.com/watch?v=1",
        "https://youtu.be/1",
        "https://www.reddit.com/r/a/",
        "https://example.org/talk.mp3",
        "",
    ],
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
