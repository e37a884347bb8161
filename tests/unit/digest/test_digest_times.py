"""When a digest is due: once a day on the clock of a zone, whatever the clocks of that zone do."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pressbox.digest.domain import Choice, Rhythm, last_due, next_due, read_stamp, settle, stamp

# Clocks go by an hour in Berlin and New York, by half an hour on Lord Howe, and by nothing in Kathmandu (+05:45).
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu")
# The clocks of Samoa skipped a whole day, those of Casablanca go back for Ramadan.
ODD_ZONES = (*ZONES, "Pacific/Apia", "Africa/Casablanca", "America/St_Johns", "Antarctica/Troll", "UTC")
MORNING = time(7, 30)
MINUTES = 25 * 365 * 24 * 60
MOMENTS = st.integers(0, MINUTES).map(lambda number: datetime(2010, 1, 1, tzinfo=UTC) + timedelta(minutes=number))


def daily(zone: str, at: time = MORNING) -> Choice:
    return Choice(Rhythm.DAILY, at, zone)


def walk(choice: Choice, start: datetime, count: int) -> list[datetime]:
    moments = [start]
    for _ in range(count):
        following = next_due(choice, moments[-1])
        assert following is not None
        moments.append(following)
    return moments[1:]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("month", [3, 4, 10, 11])
def test_half_past_seven_stays_half_past_seven_over_every_change(zone: str, month: int) -> None:
    start = datetime(2026, month, 1, tzinfo=UTC)
    local = [moment.astimezone(ZoneInfo(zone)) for moment in walk(daily(zone), start, 31)]
    assert {one.time() for one in local} == {MORNING}
    assert all(after.date() - before.date() == timedelta(days=1) for before, after in pairwise(local))


@pytest.mark.parametrize(
    ("zone", "before", "hours"),
    [
        # Forward: the night is shorter. Back: it is longer.
        ("Europe/Berlin", datetime(2026, 3, 28, 12, tzinfo=UTC), 23),
        ("Europe/Berlin", datetime(2026, 10, 24, 12, tzinfo=UTC), 25),
        ("America/New_York", datetime(2026, 3, 7, 15, tzinfo=UTC), 23),
        ("America/New_York", datetime(2026, 10, 31, 15, tzinfo=UTC), 25),
        ("Australia/Lord_Howe", datetime(2026, 4, 4, 0, tzinfo=UTC), 24.5),
        ("Australia/Lord_Howe", datetime(2026, 10, 3, 0, tzinfo=UTC), 23.5),
    ],
)
def test_the_night_of_a_change_has_as_many_hours_as_the_clocks_say(zone: str, before: datetime, hours: float) -> None:
    last, following = last_due(daily(zone), before), next_due(daily(zone), before)
    assert last is not None
    assert following is not None
    assert following - last == timedelta(hours=hours)


def test_a_time_that_the_clocks_skip_comes_later_that_day_and_only_once() -> None:
    choice = daily("Europe/Berlin", time(2, 30))
    moments = walk(choice, datetime(2026, 3, 28, 12, tzinfo=UTC), 2)
    assert [one.astimezone(ZoneInfo("Europe/Berlin")).strftime("%d %H:%M") for one in moments] == [
        "29 03:30",
        "30 02:30",
    ]


def test_a_time_that_comes_twice_means_the_first() -> None:
    choice = daily("Europe/Berlin", time(2, 30))
    moments = walk(choice, datetime(2026, 10, 24, 12, tzinfo=UTC), 2)
    assert moments == [datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 26, 1, 30, tzinfo=UTC)]


@given(
    zone=st.sampled_from(ODD_ZONES),
    at=st.times().map(lambda one: one.replace(second=0, microsecond=0)),
    start=MOMENTS,
)
@example("Pacific/Apia", time(7, 30), datetime(2011, 12, 29, 0, tzinfo=UTC))
@example("Australia/Lord_Howe", time(2, 15), datetime(2026, 10, 3, 0, tzinfo=UTC))
def test_every_day_of_a_zone_has_exactly_one(zone: str, at: time, start: datetime) -> None:
    choice = daily(zone, at)
    moments = walk(choice, start, 8)
    days = [_wanted_day(moment, zone, at) for moment in moments]
    assert len(set(days)) == 8
    assert all(before < after for before, after in pairwise(moments))
    assert all(timedelta(0) < moment - before <= timedelta(hours=49) for before, moment in pairwise(moments))
    for moment in moments:
        assert last_due(choice, moment) == moment
        assert last_due(choice, moment - timedelta(seconds=1)) != moment
        assert next_due(choice, moment - timedelta(seconds=1)) == moment


def _wanted_day(moment: datetime, zone: str, at: time) -> date:
    """The day in whose name it comes: a skipped time can move it over midnight."""
    local = moment.astimezone(ZoneInfo(zone))
    return local.date() if local.time() >= at else local.date() - timedelta(days=1)


@given(
    zone=st.sampled_from(ODD_ZONES),
    weekday=st.integers(0, 6),
    start=MOMENTS,
)
def test_a_weekly_one_comes_on_its_day_every_week(zone: str, weekday: int, start: datetime) -> None:
    moments = walk(Choice(Rhythm.WEEKLY, MORNING, zone, weekday), start, 5)
    assert all(timedelta(days=6) < after - before < timedelta(days=8) for before, after in pairwise(moments))
    assert {moment.astimezone(ZoneInfo(zone)).weekday() for moment in moments} == {weekday}


def test_while_it_is_off_none_is_due() -> None:
    now = datetime(2026, 11, 17, tzinfo=UTC)
    assert (next_due(Choice(), now), last_due(Choice(), now)) == (None, None)


def test_of_several_that_were_missed_only_the_last_is_sent() -> None:
    due = datetime(2026, 10, 23, 5, 30, tzinfo=UTC)
    settled = settle(daily("Europe/Berlin"), due, datetime(2026, 10, 26, 20, 0, tzinfo=UTC))
    assert settled.period == datetime(2026, 10, 26, 6, 30, tzinfo=UTC), "the clocks went back on the 25th"
    assert settled.next == datetime(2026, 10, 27, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize(("days", "is_sent"), [(1, True), (3, True), (4, False), (6, False)])
def test_a_weekly_one_is_sent_up_to_three_days_late(days: int, is_sent: bool) -> None:
    choice = Choice(Rhythm.WEEKLY, MORNING, "Europe/Berlin", 0)
    due = datetime(2026, 11, 16, 6, 30, tzinfo=UTC)
    settled = settle(choice, due, due + timedelta(days=days))
    assert (settled.period == due) is is_sent
    assert settled.next == due + timedelta(days=7)


@given(
    zone=st.sampled_from(ODD_ZONES),
    start=MOMENTS,
    away=st.timedeltas(timedelta(0), timedelta(days=20)),
)
def test_whenever_the_machine_returns_one_is_sent_at_most_and_the_next_is_to_come(
    zone: str, start: datetime, away: timedelta
) -> None:
    due = next_due(daily(zone), start)
    assert due is not None
    now = due + away
    settled = settle(daily(zone), due, now)
    assert settled.next is not None
    assert settled.next > now
    assert settled.period is None or due <= settled.period <= now


def test_an_instant_in_an_address_is_read_in_one_form_only() -> None:
    moment = datetime(2026, 11, 17, 6, 30, tzinfo=UTC)
    assert read_stamp(stamp(moment)) == moment
    for text in ("", "today", "2026-11-17", "20261117T063000", "20261117T0630", "99999999T999999Z"):
        assert read_stamp(text) is None
