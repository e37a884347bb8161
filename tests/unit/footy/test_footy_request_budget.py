"""The budget of requests: pace, pauses, and another plan."""

from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.health import HealthState
from pressbox.footy.domain.request_budget import (
    RequestBudget,
    Seen,
    note_answer,
    note_clock,
    note_day_used_up,
    note_pause,
    note_refused_ids,
    note_status,
    reserve_slot,
    should_ask_account,
)
from pressbox.footy.web.health import clock_parts

NOON = datetime(2026, 11, 14, 12, 0, tzinfo=UTC)
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


def test_a_larger_plan_ends_the_pause_of_a_day_that_was_used_up() -> None:
    used = note_day_used_up(note_status(RequestBudget(), "Free", 100, 100, NOON), "No requests are left today.", NOON)
    assert note_status(used, "Free", 100, 100, NOON).is_paused(NOON)
    larger = note_status(used, "Pro", 100, 7_500, NOON)
    assert (larger.is_paused(NOON), larger.pause_reason, larger.left_on(NOON)) == (False, "", 7_400)


def test_a_larger_plan_does_not_mend_a_refused_key() -> None:
    refused = note_pause(known(0), NOON + LONG, "The account is suspended.", needs_change=True)
    assert note_status(refused, "Pro", 100, 7_500, NOON).is_paused(NOON)


def test_another_plan_is_noticed_by_any_answer_and_may_take_ids() -> None:
    budget = note_refused_ids(known(40), NOON)
    assert note_answer(budget, Seen(day_limit=100, day_left=39), NOON).refuses_ids(NOON)
    larger = note_answer(budget, Seen(day_limit=7_500, day_left=7_439), NOON)
    assert (larger.refuses_ids(NOON), larger.day_left) == (False, 7_439)


def test_the_account_is_asked_for_a_better_plan_only_while_requests_are_short_and_not_at_every_poll() -> None:
    used = note_day_used_up(known(1), "No requests are left today.", NOON)
    slowed = known(40).model_copy(update={"poll_seconds": 300.0})
    assert [should_ask_account(budget, NOON) for budget in (known(40), used, slowed)] == [False, True, True]
    asked = note_status(used, "Free", 100, 100, NOON)
    assert not should_ask_account(asked, NOON + timedelta(minutes=1))
    assert should_ask_account(asked, NOON + timedelta(minutes=5))
    assert not should_ask_account(used, NOON + timedelta(days=1))


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
