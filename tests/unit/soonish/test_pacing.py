"""How fast services may be sent to."""

import pytest

from pressbox.soonish.domain.pacing import PER_TARGET, SHARED, Pace, plan_turn


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
