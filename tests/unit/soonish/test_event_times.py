"""Times of events: zones, gaps, folds, and how they are said."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.soonish.domain.times import (
    check_zone,
    comes_twice,
    format_offset,
    format_time,
    is_zone,
    load_zone,
    to_utc,
)

BERLIN = "Europe/Berlin"


def naive(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("local", "zone_name", "instant"),
    [
        ("2027-01-15T19:30", BERLIN, "2027-01-15T18:30"),
        ("2027-07-15T19:30", BERLIN, "2027-07-15T17:30"),
        ("2027-07-15T19:30", "America/New_York", "2027-07-15T23:30"),
        ("2027-07-15T19:30", "Asia/Kolkata", "2027-07-15T14:00"),
        ("2027-03-28T01:59", BERLIN, "2027-03-28T00:59"),
        ("2027-03-28T03:00", BERLIN, "2027-03-28T01:00"),
    ],
)
def test_a_naive_time_is_read_in_the_zone_of_the_event(local: str, zone_name: str, instant: str) -> None:
    assert to_utc(naive(local), zone_name) == naive(instant).replace(tzinfo=UTC)


def test_an_aware_time_stays_the_same_instant() -> None:
    moment = datetime.fromisoformat("2027-07-15T19:30:00-04:00")
    assert to_utc(moment, BERLIN) == moment
    assert to_utc(moment, BERLIN).tzinfo is UTC


@pytest.mark.parametrize(
    ("local", "zone_name"),
    [
        ("2027-03-28T02:00", BERLIN),
        ("2027-03-28T02:59", BERLIN),
        ("2027-03-14T02:30", "America/New_York"),
        ("2027-10-03T02:15", "Australia/Lord_Howe"),
    ],
)
def test_a_time_that_the_clocks_skip_is_refused_by_name(local: str, zone_name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        to_utc(naive(local), zone_name, field="end_date")
    assert caught.value.field == "end_date"
    assert "skip" in caught.value.message


def test_of_a_time_that_comes_twice_the_first_is_meant() -> None:
    assert to_utc(naive("2027-10-31T02:30"), BERLIN) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
    assert to_utc(naive("2027-10-31T02:30").replace(fold=1), BERLIN) == datetime(2027, 10, 31, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("zone_name", [BERLIN, "Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
@pytest.mark.parametrize("local", ["0001-01-01T00:00", "9999-12-31T23:59", "1899-12-31T23:59", "2201-01-01T00:00"])
def test_a_year_outside_the_calendar_is_named_as_the_wrong_field(local: str, zone_name: str) -> None:
    for moment in (naive(local), naive(local).replace(tzinfo=UTC)):
        with pytest.raises(InvalidInputError) as caught:
            to_utc(moment, zone_name, field="end_date")
        assert caught.value.field == "end_date"


@pytest.mark.parametrize(
    ("local", "twice"),
    [("2026-10-25T02:30", True), ("2026-10-25T03:00", False), ("2026-03-29T02:30", False), ("2026-07-01T12:00", False)],
)
def test_a_time_that_the_clocks_show_twice_is_known(local: str, twice: bool) -> None:
    assert comes_twice(naive(local).replace(tzinfo=load_zone(BERLIN))) is twice


@given(st.datetimes(min_value=datetime(2024, 1, 1), max_value=datetime(2035, 1, 1)))  # noqa: DTZ001
def test_whatever_is_accepted_is_said_as_it_was_meant(local: datetime) -> None:
    local = local.replace(second=0, microsecond=0)
    try:
        instant = to_utc(local, BERLIN)
    except InvalidInputError:
        return
    assert f"{local:%H:%M} ({BERLIN})" in format_time(instant, BERLIN)
    assert f"{local.day} " in format_time(instant, BERLIN)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe/", "x\x00", "x" * 500])
def test_a_zone_that_is_none_is_named_as_the_wrong_field(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_zone(name)
    assert caught.value.field == "timezone"


@pytest.mark.parametrize(
    ("instant", "words"),
    [
        ("2026-10-25T00:30:00", "Sun 25 Oct 2026, 02:30 CEST (Europe/Berlin)"),
        ("2026-10-25T01:30:00", "Sun 25 Oct 2026, 02:30 CET (Europe/Berlin)"),
        ("2026-10-25T02:30:00", "Sun 25 Oct 2026, 03:30 (Europe/Berlin)"),
        ("2026-11-14T18:30:05", "Sat 14 Nov 2026, 19:30:05 (Europe/Berlin)"),
    ],
)
def test_two_times_that_differ_are_said_differently(instant: str, words: str) -> None:
    assert format_time(datetime.fromisoformat(instant).replace(tzinfo=UTC), BERLIN) == words


@pytest.mark.parametrize("name", ["localtime", "posixrules", "right/Europe/Berlin", "Mars/Olympus"])
def test_a_zone_that_differs_between_machines_is_not_stated(name: str) -> None:
    assert not is_zone(name)
    with pytest.raises(InvalidInputError) as caught:
        check_zone(name)
    assert caught.value.field == "timezone"


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
def test_a_zone_of_the_database_is_stated(name: str) -> None:
    assert is_zone(name)
    check_zone(name)


@pytest.mark.parametrize(
    ("offset", "words"),
    [
        (timedelta(days=1), "1 day"),
        (timedelta(hours=1), "1 hour"),
        (timedelta(minutes=25), "25 minutes"),
        (timedelta(minutes=90), "1 hour 30 minutes"),
        (timedelta(days=2, hours=3, minutes=4), "2 days 3 hours"),
        (timedelta(seconds=61), "1 minute 1 second"),
        (timedelta(0), "0 seconds"),
    ],
)
def test_a_span_is_said_in_its_largest_units(offset: timedelta, words: str) -> None:
    assert format_offset(offset) == words
