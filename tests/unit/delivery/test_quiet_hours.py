"""Quiet hours on somebody's own clock: over midnight, over a clock change, and what they may not be."""

from datetime import UTC, datetime, time

import pytest

from pressbox.core.errors import InvalidInputError
from pressbox.delivery.domain.quiet_hours import QuietHours, choose_quiet_hours

BERLIN = "Europe/Berlin"
NIGHT = QuietHours(time(22), time(7), BERLIN)
NOON = QuietHours(time(12), time(13, 30), BERLIN)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        # Winter: Berlin is one hour ahead.
        (NIGHT, "2026-01-10T20:59", None),
        (NIGHT, "2026-01-10T21:00", "2026-01-11T06:00"),
        (NIGHT, "2026-01-10T23:00", "2026-01-11T06:00"),
        (NIGHT, "2026-01-11T05:59", "2026-01-11T06:00"),
        (NIGHT, "2026-01-11T06:00", None),
        (NOON, "2026-01-10T10:59", None),
        (NOON, "2026-01-10T11:30", "2026-01-10T12:30"),
        (NOON, "2026-01-10T12:30", None),
        # The night in which an hour is skipped is shorter, the one in which an hour comes twice is longer.
        (NIGHT, "2026-03-28T21:00", "2026-03-29T05:00"),
        (NIGHT, "2026-10-24T20:00", "2026-10-25T06:00"),
        # 02:30 is skipped: they end when it would have been.
        (QuietHours(time(23), time(2, 30), BERLIN), "2026-03-29T01:29", "2026-03-29T01:30"),
        # 02:30 comes twice: they end at the first one and do not begin again at the second 02:00.
        (QuietHours(time(23), time(2, 30), BERLIN), "2026-10-25T00:29", "2026-10-25T00:30"),
        (QuietHours(time(23), time(2, 30), BERLIN), "2026-10-25T01:10", None),
        # A day that begins elsewhere before it does in London.
        (QuietHours(time(22), time(7), "Pacific/Auckland"), "2026-01-10T10:00", "2026-01-10T18:00"),
    ],
)
def test_what_comes_in_quiet_hours_waits_until_they_end(hours: QuietHours, now: str, until: str | None) -> None:
    assert hours.quiet_until(at(now)) == (at(until) if until else None)


def test_two_empty_times_are_no_quiet_hours() -> None:
    assert choose_quiet_hours("", " ", BERLIN) is None
    assert choose_quiet_hours("22:00", "07:00", BERLIN) == NIGHT


@pytest.mark.parametrize(
    ("begins", "ends", "zone", "field"),
    [
        ("22:00", "", BERLIN, "quiet_ends"),
        ("late", "07:00", BERLIN, "quiet_begins"),
        ("22:00", "22:00", BERLIN, "quiet_ends"),
        ("22:00", "07:00", "Mars/Olympus", "quiet_zone"),
    ],
)
def test_half_or_wrong_quiet_hours_are_refused(begins: str, ends: str, zone: str, field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        choose_quiet_hours(begins, ends, zone)
    assert refused.value.field == field
