"""Range headers as players, download managers and strangers send them."""

import pytest

from pressbox.footy.web.ranges import Span, UnsatisfiableRange, is_cached, matches_if_range, parse_range

SIZE = 1000


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", Span(0, 1000)),
        ("bytes=0-0", Span(0, 1)),
        ("bytes=200-299", Span(200, 300)),
        ("bytes=999-", Span(999, 1000)),
        ("bytes=900-5000", Span(900, 1000)),
        ("bytes=-1", Span(999, 1000)),
        ("bytes=-5000", Span(0, 1000)),
        (" Bytes = 5 - 9 ", Span(5, 10)),
    ],
)
def test_one_range_is_cut_out(header: str, expected: Span) -> None:
    assert parse_range(header, SIZE) == expected


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes",
        "bytes=",
        "bytes=-",
        "bytes=a-b",
        "bytes=9-5",
        "items=0-5",
        "bytes=0-1,5-9",
        "bytes=" + "9" * 40,
    ],
)
def test_what_is_not_understood_gets_the_whole_file(header: str | None) -> None:
    assert parse_range(header, SIZE) is None


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=1000-2000", "bytes=99999-", "bytes=-0"])
def test_a_range_behind_the_end_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(UnsatisfiableRange):
        parse_range(header, SIZE)


def test_an_empty_file_has_no_ranges() -> None:
    with pytest.raises(UnsatisfiableRange):
        parse_range("bytes=0-", 0)


def test_the_header_of_a_part_counts_to_the_last_byte() -> None:
    assert Span(200, 300).content_range(SIZE) == "bytes 200-299/1000"
    assert Span(200, 300).length == 100


def test_a_part_of_another_copy_is_not_cut_from_this_one() -> None:
    assert matches_if_range(None, '"a"')
    assert matches_if_range('"a"', '"a"')
    assert not matches_if_range('"b"', '"a"')
    assert not matches_if_range('W/"a"', '"a"')
    assert not matches_if_range("Sat, 29 Oct 1994 19:43:31 GMT", '"a"')


def test_who_has_it_already_is_told_so() -> None:
    assert is_cached('"b", W/"a"', '"a"')
    assert is_cached("*", '"a"')
    assert not is_cached('"b"', '"a"')
    assert not is_cached(None, '"a"')
