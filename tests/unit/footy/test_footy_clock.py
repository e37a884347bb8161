"""Whether the clocks of a clip's frames are those of the goal's minute."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressbox.footy.domain.clock import (
    ClockReading,
    TimestampCheck,
    TimestampStatus,
    expected_minute,
    possible_times,
    readings_agree,
    validate_timestamp,
)

VERIFIED = TimestampStatus.VERIFIED


def check(clock: str, elapsed: int, extra: int | None = None, added: str = "", stoppage: str = "") -> TimestampCheck:
    return validate_timestamp([ClockReading(clock, added, stoppage)], elapsed, extra)


@pytest.mark.parametrize(
    ("elapsed", "extra", "minute"), [(67, None, 66), (45, 2, 46), (90, 5, 94), (1, 0, 0), (0, None, 0)]
)
def test_the_minute_in_the_report_is_one_more_than_the_clock_shows(
    elapsed: int, extra: int | None, minute: int
) -> None:
    assert expected_minute(elapsed, extra) == minute


@pytest.mark.parametrize(
    ("clock", "elapsed", "extra", "minute"),
    [
        ("66:40", 67, None, 66),
        ("63:00", 67, None, 63),
        ("69:59", 67, None, 69),
        ("45+2", 45, 3, 47),
        ("45:00 +2:13", 45, 3, 47),
        ("90+6", 90, 6, 96),
        ("87'", 87, None, 87),
        ("2H 22:10", 68, None, 67),
        ("2H 67:10", 68, None, 67),
        ("ET 04:04", 95, None, 94),
        ("ET 04:04", 110, None, 109),
        ("ET 104:04", 105, None, 104),
        ("1H 22:10", 23, None, 22),
        ("45:00", 45, 2, 45),
        ("67:1Z", 68, None, 67),
    ],
)
def test_a_clock_that_says_the_minute_verifies(clock: str, elapsed: int, extra: int | None, minute: int) -> None:
    assert check(clock, elapsed, extra) == TimestampCheck(True, minute, VERIFIED)


@pytest.mark.parametrize(
    ("clock", "elapsed", "extra", "minute"),
    [
        ("62:59", 67, None, 62),
        ("70:00", 67, None, 70),
        ("1H 22:10", 68, None, 22),
        ("2H 22:10", 23, None, 67),
        ("45:00", 20, None, 45),
        ("45+2", 90, 3, 47),
        ("12:00", 81, None, 12),
        ("ET 04:04", 50, None, 94),
    ],
)
def test_a_clock_that_says_another_minute_rejects(clock: str, elapsed: int, extra: int | None, minute: int) -> None:
    result = check(clock, elapsed, extra)
    assert result == TimestampCheck(False, minute, TimestampStatus.CONTRADICTS)
    assert result.rejected


@pytest.mark.parametrize("clock", ["", "HT", "FT", "PEN", "LIVE", "1-0", "ET 55:00"])
def test_without_a_clock_a_clip_is_neither_verified_nor_rejected(clock: str) -> None:
    result = check(clock, 67)
    assert result == TimestampCheck(False, None, TimestampStatus.NO_CLOCK)
    assert not result.rejected


def test_no_frames_are_no_clock() -> None:
    assert validate_timestamp([], 67).status is TimestampStatus.NO_CLOCK


@pytest.mark.parametrize(
    ("clock", "elapsed", "minute", "status"),
    [
        ("22:10", 68, 67, TimestampStatus.RESTARTED),
        ("00:30", 46, 45, TimestampStatus.RESTARTED),
        ("04:04", 95, 94, TimestampStatus.RESTARTED),
        ("04:04", 110, 109, TimestampStatus.RESTARTED),
        ("7:12", 78, 77, TimestampStatus.DIGIT_LOST),
        ("?7:12", 68, 67, TimestampStatus.DIGIT_LOST),
        ("|15:56", 117, 115, TimestampStatus.DIGIT_LOST),
    ],
)
def test_what_fits_only_under_an_assumption_is_kept_unverified_and_marked(
    clock: str, elapsed: int, minute: int, status: TimestampStatus
) -> None:
    result = check(clock, elapsed)
    assert result == TimestampCheck(False, minute, status)
    assert not result.rejected


def test_both_halves_are_candidates_of_a_clock_without_a_mark() -> None:
    assert check("22:10", 23).status is VERIFIED
    assert check("22:10", 68).status is TimestampStatus.RESTARTED
    assert check("22:10", 40).status is TimestampStatus.CONTRADICTS


def test_a_lost_digit_is_accepted_only_when_it_fits() -> None:
    assert check("?7:12", 73).status is TimestampStatus.CONTRADICTS
    assert check("?7:12", 78).extracted_minute == 77


def test_a_stopped_clock_neither_verifies_nor_contradicts_late_stoppage_time() -> None:
    assert check("90:00", 90, 2).status is VERIFIED
    assert check("90:00", 90, 9) == TimestampCheck(False, 98, TimestampStatus.STOPPED)
    assert check("90:00", 90, 9, added="+2").status is TimestampStatus.CONTRADICTS
    assert check("90:00", 90, 9, stoppage="08:20") == TimestampCheck(True, 98, VERIFIED)
    assert check("90:00", 90, 9, stoppage="01:20").status is TimestampStatus.CONTRADICTS


def frames(*shown: tuple[float | None, str]) -> list[ClockReading]:
    return [ClockReading(clock, second=second) for second, clock in shown]


def test_frames_that_advance_with_the_clip_agree() -> None:
    readings = frames((5.0, "66:10"), (15.0, "66:20"))
    assert readings_agree(readings)
    assert validate_timestamp(readings, 67).verified


@pytest.mark.parametrize(
    "readings",
    [
        frames((5.0, "66:10"), (15.0, "61:20")),
        frames((5.0, "66:10"), (15.0, "69:20")),
        frames((15.0, "66:10"), (5.0, "66:20")),
        frames((None, "66:10"), (None, "69:20")),
    ],
)
def test_frames_that_contradict_each_other_verify_and_reject_nothing(readings: list[ClockReading]) -> None:
    assert not readings_agree(readings)
    assert validate_timestamp(readings, 67) == TimestampCheck(False, None, TimestampStatus.UNCLEAR)


def test_of_three_frames_two_that_agree_are_believed() -> None:
    readings = frames((5.0, "66:10"), (15.0, "86:20"), (10.0, "66:15"))
    assert not readings_agree(readings)
    assert validate_timestamp(readings, 67) == TimestampCheck(True, 66, VERIFIED)
    assert validate_timestamp(readings, 87).rejected


def test_a_frame_without_a_clock_says_nothing_against_one_with_a_clock() -> None:
    readings = frames((5.0, "66:10"), (15.0, ""))
    assert readings_agree(readings)
    assert validate_timestamp(readings, 67).verified


def test_a_stopped_clock_and_a_cut_of_some_seconds_are_plausible() -> None:
    assert readings_agree(frames((5.0, "66:10"), (15.0, "66:10")))
    assert readings_agree(frames((5.0, "66:10"), (15.0, "67:05")))
    assert readings_agree(frames((None, "66:10"), (None, "66:40")))


def test_a_digit_lost_in_one_frame_is_found_in_the_other() -> None:
    assert validate_timestamp(frames((5.0, "67:12"), (15.0, "?7:22")), 68) == TimestampCheck(True, 67, VERIFIED)


@given(minute=st.integers(0, 119), second=st.integers(0, 59), elapsed=st.integers(1, 120), extra=st.integers(0, 9))
def test_a_full_clock_verifies_exactly_within_the_tolerance(minute: int, second: int, elapsed: int, extra: int) -> None:
    result = check(f"{minute:02}:{second:02}", elapsed, extra)
    assert result.verified == (abs(minute - expected_minute(elapsed, extra)) <= 3)


@given(st.lists(st.tuples(st.floats(0, 60), st.text(max_size=12)), max_size=3), st.integers(1, 120))
def test_whatever_was_read_has_a_defined_result(shown: list[tuple[float, str]], elapsed: int) -> None:
    result = validate_timestamp(frames(*shown), elapsed)
    assert result.verified == (result.status is VERIFIED)
    assert not (result.verified and result.rejected)


def test_no_time_lies_beyond_the_longest_match() -> None:
    assert all(time.minute <= 135 for time in possible_times(ClockReading("?9:12")))


def test_a_time_of_day_that_stands_still_is_no_minute() -> None:
    still = [ClockReading("20:45", second=5.0), ClockReading("20:45", second=15.0)]
    assert validate_timestamp(still, 21) == TimestampCheck(False, None, TimestampStatus.UNCLEAR)
    running = [ClockReading("20:45", second=5.0), ClockReading("20:55", second=15.0)]
    assert validate_timestamp(running, 21).verified
    assert validate_timestamp([ClockReading("2T 20:45", second=1.0), ClockReading("2T 20:45", second=9.0)], 66).verified


def test_a_clock_that_stopped_with_stoppage_time_beside_it_verifies_nothing() -> None:
    check = validate_timestamp([ClockReading("45:00+2")], 45, 2)
    assert (check.verified, check.status) == (False, TimestampStatus.STOPPED)
    assert validate_timestamp([ClockReading("45:00+2")], 30).rejected
