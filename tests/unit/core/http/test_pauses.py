"""How long a service asks to wait, whatever its headers say."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.http.pauses import LONGEST, pause

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HEADERS = ("retry-after", "x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("120", timedelta(minutes=2)),
        ("0", timedelta()),
        ("-5", timedelta()),
        ("99999999999999", LONGEST),
        ("1e300", LONGEST),
        ("9" * 5000, None),
        ("inf", None),
        ("-inf", None),
        ("nan", None),
        ("soon", None),
        ("Sun, 01 Mar 2026 12:01:00 GMT", timedelta(minutes=1)),
        ("Sun, 01 Mar 2026 12:01:00", timedelta(minutes=1)),
        ("Fri, 31 Dec 9999 23:59:59 -2359", LONGEST),
        ("Mon, 01 Jan 0001 00:00:00 +2359", timedelta()),
        ("Sun, 01 Mar 99999 12:00:00 GMT", None),
    ],
)
def test_a_pause_is_never_negative_and_never_endless(stated: str, expected: timedelta | None) -> None:
    assert pause(httpx.Headers({"Retry-After": stated}), NOW) == expected


def test_a_point_in_time_counts_from_now() -> None:
    reset = str(NOW.timestamp() + 90)
    assert pause(httpx.Headers({"x-rate-limit-reset": reset}), NOW) == timedelta(seconds=90)


@given(
    st.sampled_from(HEADERS),
    st.one_of(
        st.text(st.characters(max_codepoint=126, min_codepoint=32)), st.floats().map(str), st.integers().map(str)
    ),
)
def test_no_header_breaks_it(name: str, stated: str) -> None:
    wait = pause(httpx.Headers({name: stated}), NOW)
    assert wait is None or timedelta() <= wait <= LONGEST
