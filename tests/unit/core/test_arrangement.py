"""The order of the first page, and what is hidden on it."""

from hypothesis import given
from hypothesis import strategies as st

from pressbox.core.today.arrangement import Arrangement, Step

DECLARED = ("matches", "events", "stories", "notices")


def test_a_section_moves_by_one_place_and_stops_at_the_ends() -> None:
    order = Arrangement().over(DECLARED)
    assert order.sections == DECLARED
    assert order.take("stories", Step.UP).sections == ("matches", "stories", "events", "notices")
    assert order.take("matches", Step.UP) == order
    assert order.take("notices", Step.DOWN) == order
    assert order.take("unknown", Step.DOWN) == order


def test_a_hidden_section_keeps_its_place() -> None:
    hidden = Arrangement().over(DECLARED).take("events", Step.HIDE)
    assert (hidden.hidden, hidden.sections) == (frozenset({"events"}), DECLARED)
    assert hidden.take("events", Step.SHOW).hidden == frozenset()


def test_a_new_section_stands_after_its_neighbour_and_one_that_is_gone_is_left_out() -> None:
    stored = Arrangement(("notices", "stories", "gone", "matches"), frozenset({"gone", "stories"}))
    assert stored.over(DECLARED) == Arrangement(("notices", "stories", "matches", "events"), frozenset({"stories"}))


@given(st.lists(st.tuples(st.sampled_from([*DECLARED, "other"]), st.sampled_from(list(Step)))))
def test_no_section_is_ever_lost_or_doubled(steps: list[tuple[str, Step]]) -> None:
    order = Arrangement().over(DECLARED)
    for key, step in steps:
        order = order.take(key, step)
    assert sorted(order.sections) == sorted(DECLARED)
    assert order.over(DECLARED) == order
