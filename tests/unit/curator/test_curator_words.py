"""What people write for times and addresses is understood or refused with a sentence."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.core.temporal.schedules import Times
from pressbox.curator.reading.selection import Position, RankedPlace, read_place
from pressbox.curator.schedule_commands import interval_of, times_of
from pressbox.curator.sources.service import checked_address

MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@pytest.mark.parametrize(
    ("text", "seconds"), [("30m", 1800), ("1h", 3600), ("1d12h", 129_600), ("90s", 90), ("2d3h4m5s", 183_845)]
)
def test_intervals_are_written_as_people_do(text: str, seconds: int) -> None:
    assert interval_of(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "1", "h", "1 h", "-1h", "1w", "5s", "0h", "1h!", "9" * 9 + "d"])
def test_other_intervals_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        interval_of(text)


def test_times_are_an_interval_or_a_cron_with_its_zone() -> None:
    assert times_of(None, None, None) is None
    assert times_of("1h", None, None) == Times(every=timedelta(hours=1))
    assert times_of(None, "0 3 * * *", "Asia/Tokyo") == Times(cron="0 3 * * *", timezone="Asia/Tokyo")
    for wrong in (("1h", "0 3 * * *", None), ("1h", None, "Asia/Tokyo"), (None, "0 3 * * *", "Asia/Nowhere")):
        with pytest.raises(InvalidInputError):
            times_of(*wrong)


def test_an_address_without_a_scheme_is_taken_as_https() -> None:
    assert checked_address(" example.org/news ") == "https://example.org/news"
    assert checked_address("http://example.org") == "http://example.org"


@given(MOMENTS, st.integers(1, 2**63 - 1), st.integers(0, 999_999))
def test_a_place_in_a_list_survives_its_cursor(moment: datetime, entry_id: int, offset: int) -> None:
    place = Position(moment, entry_id)
    assert read_place(str(place)) == place
    assert read_place(str(RankedPlace(offset, place))) == RankedPlace(offset, place)


@given(st.text(max_size=30))
def test_any_other_cursor_is_refused_or_read(text: str) -> None:
    with suppress(InvalidInputError):
        assert read_place(text) is not None
