"""OPML in and out."""

from datetime import UTC, datetime

import listparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.curator.feeds.opml import OutlineFeed, read_opml, write_opml

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def opml(body: str, head: str = "") -> bytes:
    start = f'<?xml version="1.0"?>\n{head}<opml version="2.0"><head><title>Mine</title></head><body>\n'
    return f"{start}{body}\n</body></opml>".encode()


def three_hundred() -> list[OutlineFeed]:
    return [
        OutlineFeed(
            f"https://site{number}.example/feed?a=1&b={number}",
            f"Site “{number}” <&>",
            f"https://site{number}.example/",
            ["", "News", "News / Local", "Technik & Straße"][number % 4],
        )
        for number in range(300)
    ]


def test_three_hundred_feeds_come_back_as_the_same_tree() -> None:
    feeds = three_hundred()
    read = read_opml(write_opml(feeds, "My feeds", NOW))
    assert read.title == "My feeds"
    assert read.problems == ()
    assert sorted(read.feeds, key=lambda feed: feed.url) == sorted(feeds, key=lambda feed: feed.url)
    assert write_opml(read.feeds, "My feeds", NOW) == write_opml(feeds, "My feeds", NOW)


def test_another_library_reads_the_same() -> None:
    feeds = three_hundred()
    read = listparser.parse(write_opml(feeds, "My feeds", NOW))
    assert read.meta.title == "My feeds"
    assert not read.bozo
    assert {(feed.url, feed.title, " / ".join(next(iter(feed.categories), []))) for feed in read.feeds} == {
        (feed.url, feed.title, feed.category) for feed in feeds
    }


names = st.text(alphabet=st.characters(codec="utf-8"), max_size=20).map(lambda name: " ".join(name.split()))


@given(st.lists(st.tuples(names, names), max_size=8))
def test_any_title_and_category_survives(pairs: list[tuple[str, str]]) -> None:
    feeds = [
        OutlineFeed(f"https://site{number}.example/", title, "", category)
        for number, (title, category) in enumerate(pairs)
    ]
    once = read_opml(write_opml(feeds, "", NOW))
    assert once.problems == ()
    assert {feed.url for feed in once.feeds} == {feed.url for feed in feeds}
    again = read_opml(write_opml(once.feeds, "", NOW))
    assert again == once


def test_folders_inside_folders_become_one_named_category() -> None:
    read = read_opml(
        opml('<outline text="A"><outline text="B"><outline text="F" xmlUrl="https://f.example/"/></outline></outline>')
    )
    assert read.feeds == (OutlineFeed("https://f.example/", "F", "", "A / B"),)


def test_attributes_in_any_capitals_and_old_schemes_are_read() -> None:
    read = read_opml(
        opml('<outline TEXT="F" XMLURL="feed://f.example/rss"/><outline text="G" xmlurl="feed:https://g.example/"/>')
    )
    assert [feed.url for feed in read.feeds] == ["https://f.example/rss", "https://g.example/"]


def test_broken_ones_are_named_with_line_and_reason_and_the_rest_is_read() -> None:
    read = read_opml(
        opml(
            '<outline text="Good" xmlUrl="https://good.example/"/>\n'
            '<outline type="rss" text="No address"/>\n'
            '<outline text="Local file" xmlUrl="file:///etc/passwd"/>\n'
            '<outline text="Also good" xmlUrl="https://also.example/"/>'
        )
    )
    assert [feed.title for feed in read.feeds] == ["Good", "Also good"]
    assert [str(problem) for problem in read.problems] == [
        "Line 4 (No address): It is a subscription without an address (xmlUrl).",
        "Line 5 (Local file): “file:///etc/passwd” is not an address of the web.",
    ]


def test_loose_ampersands_are_mended_without_changing_an_address() -> None:
    read = read_opml(
        opml(
            '<outline text="Caf&eacute; & Bar" xmlUrl="https://f.example/?a=1&b=2&amp;c=3"/>\n'
            '<outline text="Next" xmlUrl="https://g.example/"/>'
        )
    )
    assert read.feeds[0] == OutlineFeed("https://f.example/?a=1&b=2&c=3", "Café & Bar")
    assert read.feeds[1].title == "Next"
    assert read.problems[0].line == 3


def test_a_file_that_was_cut_off_gives_what_it_still_has() -> None:
    whole = write_opml(three_hundred(), "Mine", NOW)
    read = read_opml(whole[: len(whole) // 2])
    assert 100 < len(read.feeds) < 200
    (line,) = {problem.line for problem in read.problems}
    assert line == whole[: len(whole) // 2].count(b"\n") + 1


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\x02", b"not xml at all", b"<html><p>Sign in</p></html>", b"<opml></opml>", b'{"feeds": []}'],
)
def test_what_is_no_opml_is_refused_with_a_reason(content: bytes) -> None:
    with pytest.raises(InvalidInputError, match="not an OPML file"):
        read_opml(content)


def test_entities_are_neither_expanded_nor_fetched() -> None:
    bomb = '<!DOCTYPE opml [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    with pytest.raises(InvalidInputError, match="entities"):
        read_opml(opml('<outline text="&b;" xmlUrl="https://f.example/"/>', bomb))
    outside = '<!DOCTYPE opml [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(InvalidInputError, match="entities"):
        read_opml(opml('<outline text="x" xmlUrl="https://f.example/"/>', outside))


def test_a_file_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="larger"):
        read_opml(b" " * 5_000_001)


def test_a_tower_of_folders_ends() -> None:
    read = read_opml(opml('<outline text="x">' * 100 + "</outline>" * 100))
    assert "too deep" in read.problems[0].reason


def test_other_encodings_are_read() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><opml><body><outline text="Café" xmlUrl="https://f.example/"/></body></opml>'
    assert read_opml(text.encode("latin-1")).feeds[0].title == "Café"
