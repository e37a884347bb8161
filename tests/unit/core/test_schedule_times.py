"""Which times of a schedule are wrong: those of a Temporal whose clock was ahead once, or that stands still."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.temporal.schedules import judge_times

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def hourly(first: datetime) -> list[datetime]:
    return [first + number * HOUR for number in range(10)]


def test_usual_times_are_well() -> None:
    assert judge_times(NOW - HOUR, hourly(NOW + timedelta(minutes=1)), NOW) == ""
    assert judge_times(None, (), NOW) == ""
    # A little late, and clocks that differ a little.
    assert judge_times(NOW + timedelta(seconds=5), hourly(NOW - timedelta(minutes=3)), NOW) == ""


def test_a_timetable_that_leaves_out_the_weekend_is_well_on_friday_evening() -> None:
    friday = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
    monday = datetime(2026, 3, 9, 8, 0, tzinfo=UTC)
    days = [monday + number * DAY for number in (0, 1, 2, 3, 4, 7, 8)]
    assert judge_times(friday - DAY, days, friday) == ""


@pytest.mark.parametrize(
    ("last", "first", "said"),
    [
        (NOW + 7 * DAY, NOW + HOUR, "Its last run is said to be of 2026-03-09 12:00 UTC, which is still to come."),
        (NOW - HOUR, NOW + 7 * DAY, "Its next run is only on 2026-03-09 12:00 UTC."),
        (NOW - 3 * HOUR, NOW - 2 * HOUR, "Its run of 2026-03-02 10:00 UTC is overdue."),
        (None, NOW - DAY, "Its run of 2026-03-01 12:00 UTC is overdue."),
    ],
)
def test_what_waits_for_a_wrong_time_says_so(last: datetime | None, first: datetime, said: str) -> None:
    assert judge_times(last, hourly(first), NOW) == said
