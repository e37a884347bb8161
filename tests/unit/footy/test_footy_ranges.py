"""Range headers as players, download managers and strangers send them."""

import pytest

from pressbox.footy.web.ranges import Span, UnsatisfiableRange, known_already, span_of, still_the_same

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
    assert span_of(header, SIZE) == expected


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
    assert span_of(header, SIZE) is None


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=1000-2000", "bytes=99999-", "bytes=-0"])
def test_a_range_behind_the_end_cannot_be_satisfied(header: str) -> None:
    with pytest.raises(UnsatisfiableRange):
        span_of(header, SIZE)


def test_an_empty_file_has_no_ranges() -> None:
    with pytest.raises(UnsatisfiableRange):
        span_of("bytes=0-", 0)


def test_the_header_of_a_part_counts_to_the_last_byte() -> None:
    assert Span(200, 300).content_range(SIZE) == "bytes 200-299/1000"
    assert Span(200, 300).length == 100


def test_a_part_of_another_copy_is_not_cut_from_this_one() -> None:
    assert still_the_same(None, '"a"')
    assert still_the_same('"a"', '"a"')
    assert not still_the_same('"b"', '"a"')
    assert not still_the_same('W/"a"', '"a"')
    assert not still_the_same("Sat, 29 Oct 1994 19:43:31 GMT", '"a"')


def test_who_has_it_already_is_told_so() -> None:
    assert known_already('"b", W/"a"', '"a"')
    assert known_already("*", '"a"')
    assert not known_already('"b"', '"a"')
    assert not known_already(None, '"a"')
