"""The searches of one account on a busy Saturday: who goes first when there are fewer than all goals want."""

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.search_turns import WINDOW, SearchTurns, take_turn
from pressbox.footy.domain.search_window import is_urgent

START = datetime(2026, 10, 3, 14, 0, tzinfo=UTC)
POLICY = FootyPolicy()
MOST = 45


@pytest.mark.parametrize("seed", range(5))
def test_fifty_goals_in_two_hours_are_all_searched_at_their_beginning_and_at_their_end(seed: int) -> None:
    dice = random.Random(seed)
    goals = [START + timedelta(seconds=dice.randrange(112 * 60)) for _ in range(50)]
    attempts = sorted(
        (begin + attempt * POLICY.attempt_interval, goal, attempt + 1)
        for goal, begin in enumerate(goals)
        for attempt in range(POLICY.attempts)
    )
    turns, made = SearchTurns(), defaultdict[int, list[int]](list)
    taken: list[datetime] = []
    for at, goal, attempt in attempts:
        turns, wait = take_turn(turns, MOST, at, urgent=is_urgent(POLICY, attempt))
        if wait is None:
            made[goal].append(attempt)
            taken.append(at)
            assert sum(at - one < WINDOW for one in taken) <= MOST
    assert len(made) == len(goals)
    assert all(min(searched) <= 2 for searched in made.values())
    assert all(max(searched) > POLICY.attempts - 2 for searched in made.values())


def test_a_single_goal_has_every_search() -> None:
    turns = SearchTurns()
    for attempt in range(1, POLICY.attempts + 1):
        at = START + attempt * POLICY.attempt_interval
        turns, wait = take_turn(turns, MOST, at, urgent=is_urgent(POLICY, attempt))
        assert wait is None


def test_what_is_not_urgent_leaves_a_third_and_says_when_it_may_come() -> None:
    turns, made = SearchTurns(), 0
    while (taken := take_turn(turns, MOST, START, urgent=False))[1] is None:
        turns, made = taken[0], made + 1
    assert (made, taken[1]) == (30, WINDOW)
    assert take_turn(turns, MOST, START)[1] is None
    assert take_turn(SearchTurns(), 1, START, urgent=False)[1] is None
