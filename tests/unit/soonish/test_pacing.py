"""How fast services may be sent to."""

import pytest

from pressbox.delivery.domain.pacing import (
    GROUP_SECONDS,
    LONGEST_WAIT_SECONDS,
    PER_TARGET,
    SHARED,
    Lane,
    LaneState,
    Pace,
    mail_pace,
    plan_return,
    plan_turn,
    take_turn,
)


def turns(pace: Pace, count: int) -> list[float]:
    """When messages leave that are all ready at second 100."""
    free_at, found = 0.0, []
    for _ in range(count):
        at, free_at = plan_turn(free_at, 100.0, pace)
        found.append(round(at - 100.0, 3))
    return found


def test_ntfy_takes_sixty_at_once_and_then_one_per_five_seconds() -> None:
    assert turns(SHARED["ntfy"], 63) == [0.0] * 60 + [5.0, 10.0, 15.0]


@pytest.mark.parametrize(
    ("pace", "expected"),
    [
        (PER_TARGET["slack"], [0.0, 1.0, 2.0]),
        (PER_TARGET["tgram"], [0.0, 1.0, 2.0]),
        (Pace(0.0), [0.0, 0.0, 0.0]),
    ],
)
def test_each_service_has_its_pace(pace: Pace, expected: list[float]) -> None:
    assert turns(pace, 3) == expected


def test_a_burst_is_free_again_after_a_while() -> None:
    pace = Pace(1.0, burst=2)
    _, free_at = plan_turn(0.0, 100.0, pace)
    _, free_at = plan_turn(free_at, 100.0, pace)
    assert plan_turn(free_at, 100.0, pace)[0] == 101.0
    assert plan_turn(free_at, 110.0, pace)[0] == 110.0


HOST, TARGET = Lane("host", Pace(5.0, burst=2)), Lane("target", Pace(1.0))


def test_a_message_takes_its_turn_in_every_lane_it_needs() -> None:
    at, after = take_turn({}, [HOST, TARGET], 100.0)
    assert at == 100.0
    assert after == {"host": LaneState(105.0), "target": LaneState(101.0)}
    at, after = take_turn(after, [HOST, TARGET], 100.0)
    assert at == 101.0, "the slower one decides"


def test_a_message_whose_turn_is_far_away_takes_none() -> None:
    busy = {"host": LaneState(free_at=130.0)}
    assert take_turn(busy, [HOST, TARGET], 100.0) == (125.0, {})


def test_nothing_leaves_a_lane_that_is_blocked() -> None:
    assert take_turn({"target": LaneState(0.0, blocked_until=160.0)}, [HOST, TARGET], 100.0) == (160.0, {})


def test_a_lane_without_a_pace_is_not_written() -> None:
    assert take_turn({}, [Lane("free", Pace(0.0))], 100.0) == (100.0, {})


def test_those_who_wait_come_back_in_groups_and_not_too_late() -> None:
    returns = [plan_return(110.0, before, [HOST]) - 110.0 for before in range(100)]
    assert returns[:5] == [0.0, GROUP_SECONDS, GROUP_SECONDS, GROUP_SECONDS, 2 * GROUP_SECONDS]
    assert returns == sorted(returns)
    assert max(returns) == LONGEST_WAIT_SECONDS


def test_a_slow_mail_server_still_gets_mail_in_groups() -> None:
    assert mail_pace(600.0) == Pace(0.1, burst=150)
    assert mail_pace(1.0) == Pace(60.0, burst=1)
