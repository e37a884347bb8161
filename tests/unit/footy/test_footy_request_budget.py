"""The budget of requests: pace, pauses, and polls that come further apart as the day's requests shrink."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.health import HealthState
from pressbox.footy.domain.request_budget import (
    RequestBudget,
    Seen,
    decide_poll,
    note_answer,
    note_clock,
    note_refused_ids,
    note_status,
    poll_interval,
    reserve_slot,
)
from pressbox.footy.web.health import clock_parts

NOON = datetime(2026, 11, 14, 12, 0, tzinfo=UTC)
NORMAL = timedelta(seconds=30)
LONG = timedelta(hours=1)


def known(left: int, limit: int = 100) -> RequestBudget:
    return RequestBudget(day=NOON.date(), day_left=left, day_limit=limit, minute_limit=10)


@pytest.mark.parametrize(("minute_limit", "at_once"), [(10, 1), (300, 5), (450, 7), (900, 15)])
def test_never_more_than_the_plan_allows_in_a_second_or_a_minute(minute_limit: int, at_once: int) -> None:
    budget, leaves = RequestBudget(minute_limit=minute_limit), []
    for _ in range(3 * minute_limit):
        budget, wait = reserve_slot(budget, NOON, LONG)
        assert wait is not None
        leaves.append(wait.total_seconds())
    assert max(sum(begin <= at < begin + 60 for at in leaves) for begin in leaves[:minute_limit]) <= minute_limit
    assert max(sum(begin <= at < begin + 1 for at in leaves) for begin in leaves[at_once:]) <= at_once + 1
    assert sum(at == 0 for at in leaves) == at_once


def test_without_any_answer_yet_the_smallest_plan_is_assumed() -> None:
    budget, first = reserve_slot(RequestBudget(), NOON, LONG)
    _, second = reserve_slot(budget, NOON, LONG)
    assert first == timedelta()
    assert second is not None
    assert second > timedelta(seconds=6)


def test_who_would_wait_too_long_reserves_nothing() -> None:
    budget, _ = reserve_slot(RequestBudget(), NOON, LONG)
    assert reserve_slot(budget, NOON, timedelta(seconds=1)) == (budget, None)


def test_polls_come_further_apart_as_the_day_shrinks() -> None:
    intervals = [poll_interval(known(left), 1, NOON + timedelta(hours=3), NOON, NORMAL) for left in (1000, 90, 40, 10)]
    assert intervals[0] == NORMAL
    assert intervals == sorted(intervals)
    assert intervals[-1] > timedelta(minutes=20)


def test_the_last_requests_are_kept_for_people() -> None:
    assert poll_interval(known(3), 1, None, NOON, NORMAL) == timedelta(hours=12)


def test_requests_last_until_the_last_match_and_not_until_midnight() -> None:
    late, soon = (poll_interval(known(50), 1, end, NOON, NORMAL) for end in (None, NOON + timedelta(hours=2)))
    assert late > soon > NORMAL


def test_a_slowed_poll_waits_and_then_comes() -> None:
    end = NOON + timedelta(hours=3)
    budget, first = decide_poll(known(40), 1, end, NOON, NORMAL)
    budget, second = decide_poll(budget, 1, end, NOON + NORMAL, NORMAL)
    budget, later = decide_poll(budget, 1, end, NOON + timedelta(minutes=6), NORMAL)
    assert (first, second, later) == (True, False, True)
    assert budget.is_slowed(NOON)
    assert not budget.is_slowed(NOON + timedelta(days=1))


def test_a_new_day_polls_as_set_again() -> None:
    budget, _ = decide_poll(known(10), 1, None, NOON, NORMAL)
    budget, polled = decide_poll(budget, 1, None, NOON + timedelta(hours=12), NORMAL)
    assert polled
    assert budget.poll_seconds is None


def test_an_answer_that_was_overtaken_gives_nothing_back() -> None:
    budget = note_answer(known(40), Seen(day_limit=100, day_left=42), NOON)
    assert budget.day_left == 40


def test_no_request_left_in_the_minute_is_a_pause_of_a_minute() -> None:
    budget = note_answer(known(40), Seen(minute_limit=10, minute_left=0), NOON)
    assert budget.is_paused(NOON + timedelta(seconds=59))
    assert not note_answer(budget, Seen(minute_left=9), NOON + timedelta(seconds=61)).paused_until


def test_a_larger_plan_is_noticed() -> None:
    budget = note_refused_ids(note_status(RequestBudget(), "Free", 90, 100, NOON), NOON)
    larger = note_status(budget, "Pro", 90, 7_500, NOON)
    assert (larger.refuses_ids(NOON), larger.day_left, larger.plan) == (False, 7_410, "Pro")


@pytest.mark.parametrize(
    ("header", "ahead"),
    [
        ("Sat, 14 Nov 2026 12:00:02 GMT", 0),
        ("Sat, 14 Nov 2026 11:56:00 GMT", 240),
        ("Sat, 14 Nov 2026 11:56:00 UTC", 240),
        ("Sat, 14 Nov 2026 12:10:00 GMT", -600),
        ("soon", 0),
        ("", 0),
    ],
)
def test_a_wrong_clock_is_noticed_by_the_time_of_an_answer(header: str, ahead: float) -> None:
    budget = note_clock(RequestBudget(), header, NOON)
    assert budget.clock_ahead == timedelta(seconds=ahead)
    states = [part.state for part in clock_parts(budget)]
    assert states in ([], [HealthState.WARNING if ahead else HealthState.OK])
