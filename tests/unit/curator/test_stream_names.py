"""Names of streams, ids of items and moments, in all the forms that apps send."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.curator.apps.domain import (
    ITEM,
    LARGEST_ENTRY,
    OFFSET,
    StoredView,
    Stream,
    StreamKind,
    TagChange,
    long_id,
    read_item_id,
    read_moment,
    read_seconds,
    read_stream,
    short_id,
    stored_view,
    tag_change,
    view_feed,
)
from pressbox.curator.reading.domain import ListKind, Selection, Sort

NOW = datetime(2027, 4, 1, 12, 0, tzinfo=UTC)


@given(st.integers(1, LARGEST_ENTRY - 1))
def test_an_id_is_read_back_from_every_form_and_fits_a_floating_point_number(entry: int) -> None:
    number = OFFSET + entry
    forms = (short_id(entry), long_id(entry), f"{number:016x}", f"{number:x}", f"{ITEM}{number:x}", f"{number:016X}")
    assert {read_item_id(form) for form in forms} == {entry}
    assert int(float(number)) == number


@pytest.mark.parametrize(
    "text", ["", "0", "12", "-5", "1_000", "²", "tag:x", ITEM, f"{ITEM}-1", "f" * 40, "zz", f"{ITEM}{OFFSET:x}"]
)
def test_what_is_no_id_is_no_item(text: str) -> None:
    assert read_item_id(text) is None


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("feed/12", Stream(StreamKind.FEED, "12")),
        ("feed/https://example.org/feed?a=b", Stream(StreamKind.FEED, "https://example.org/feed?a=b")),
        ("user/-/label/A/B", Stream(StreamKind.TAG, "A/B")),
        ("user/17/label/A", Stream(StreamKind.TAG, "A")),
        ("user/-/state/com.google/reading-list", Stream(StreamKind.ALL)),
        ("user/-/state/com.google/kept-unread", Stream(StreamKind.UNREAD)),
        ("user/-/state/com.google/like", Stream(StreamKind.NOTHING)),
        ("feed/", None),
        ("user/-/label/", None),
        ("user/-/other", None),
        ("splice/1", None),
        ("", None),
    ],
)
def test_a_stream_is_known_by_its_name(text: str, stream: Stream | None) -> None:
    assert read_stream(text) == stream


def test_moments_are_read_in_whatever_unit_they_come() -> None:
    seconds = int(NOW.timestamp())
    for unit in (1, 1_000, 1_000_000, 1_000_000_000):
        assert read_moment(str(seconds * unit)) == NOW
    assert read_moment("0") is None
    assert read_moment("-1") is None
    assert read_moment("9" * 30) is None
    assert read_seconds(f"{seconds}.5") == NOW + timedelta(milliseconds=500)
    assert [read_seconds(text) for text in ("", "x", "nan", "inf", "-1", "0", "1e300")] == [None] * 7


def test_tags_become_what_is_to_be_done() -> None:
    read, unread, starred = Stream(StreamKind.READ), Stream(StreamKind.UNREAD), Stream(StreamKind.STARRED)
    assert tag_change([read], []) == TagChange(read=True)
    assert tag_change([], [read]) == TagChange(read=False)
    assert tag_change([unread], [read]) == TagChange(read=False)
    assert tag_change([read], [unread]) == TagChange(read=True)
    assert tag_change([starred, Stream(StreamKind.TAG, "A")], [Stream(StreamKind.TAG, "B")]) == TagChange(
        starred=True, labels_added=("A",), labels_removed=("B",)
    )
    assert tag_change([], [starred]) == TagChange(starred=False)
    assert tag_change([Stream(StreamKind.NOTHING)], []) == TagChange()


def test_a_view_is_kept_and_read_back() -> None:
    selection = Selection(ListKind.FEED, 3, unread_only=True, sort=Sort.OLDEST, query="fire")
    stored = StoredView(1, 2, "token", stored_view(selection, full_text=True), NOW, None)
    feed = view_feed(stored)
    assert (feed.selection, feed.full_text, feed.user_id) == (selection, True, 2)
