"""Scenes and their best copies depend on the set of copies, not on their order."""

import itertools
import random
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.footy.domain.policy import FootyPolicy
from pressbox.footy.domain.scenes import SceneCopy, arrange, best_copy, kept_copies
from pressbox.footy.domain.search_window import pause_after, search_age

SAME = 0.15
copies_of_both = st.lists(
    st.tuples(st.floats(3, 60), st.integers(1, 50), st.booleans()), min_size=1, max_size=8, unique=True
).map(
    lambda facts: [
        SceneCopy(n, f"{n:04}", duration, size, silent=silent) for n, (duration, size, silent) in enumerate(facts)
    ]
)
copies = st.lists(st.tuples(st.floats(3, 60), st.integers(1, 50)), min_size=1, max_size=8, unique=True).map(
    lambda facts: [SceneCopy(n, f"{n:04}", duration, size) for n, (duration, size) in enumerate(facts)]
)


def is_better(new: SceneCopy, kept: SceneCopy) -> bool:
    """The rule of the document for two copies: of about the same length the larger file, otherwise the longer one."""
    longer = max(new.duration_seconds, kept.duration_seconds)
    if abs(new.duration_seconds - kept.duration_seconds) <= SAME * longer:
        return new.file_size > kept.file_size
    return new.duration_seconds > kept.duration_seconds


def test_a_larger_file_without_sound_does_not_replace_one_with_sound() -> None:
    heard, silent = SceneCopy(1, "1", 10, 5), SceneCopy(2, "2", 10, 50, silent=True)
    assert best_copy([heard, silent], SAME) is heard
    assert best_copy([silent], SAME) is silent
    # A silent one that is much longer may show what the other does not.
    assert best_copy([heard, SceneCopy(3, "3", 20, 50, silent=True)], SAME) != heard


def test_a_somewhat_longer_file_without_sound_does_not_replace_one_with_sound() -> None:
    heard, silent = SceneCopy(1, "1", 20, 5), SceneCopy(2, "2", 25, 50, silent=True)
    assert best_copy([heard, silent], SAME) is heard
    longer = SceneCopy(3, "3", 45, 50, silent=True)
    assert best_copy([heard, silent, longer], SAME) is longer
    assert 1 not in kept_copies([heard, silent, longer], SAME), "too short for good"


@given(copies)
@settings(max_examples=150)
def test_of_two_copies_the_rule_of_two_decides(found: list[SceneCopy]) -> None:
    for one, other in itertools.permutations(found, 2):
        differ = (one.file_size, one.duration_seconds) != (other.file_size, other.duration_seconds)
        if differ and is_better(one, other):
            assert best_copy([one, other], SAME) == one


@given(copies_of_both, st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_keeping_only_what_is_kept_ends_with_the_best_of_all(found: list[SceneCopy], order: random.Random) -> None:
    """As an upload does it: one copy after the other arrives, and files that are not kept are gone for good."""
    arriving, held = list(found), []
    order.shuffle(arriving)
    for copy in arriving:
        held.append(copy)
        keep = kept_copies(held, SAME)
        held = [each for each in held if each.candidate_id in keep]
    assert best_copy(held, SAME) == best_copy(found, SAME)


def test_a_scene_is_everything_that_is_connected() -> None:
    chain = [SceneCopy(n, str(n), 10, n) for n in range(5)]
    for order in itertools.permutations(chain):
        scenes = arrange(order, [(0, 1), (2, 1), (3, 4)], SAME)
        assert [[copy.candidate_id for copy in scene.copies] for scene in scenes] == [[0, 1, 2], [3, 4]]
        assert [scene.best and scene.best.candidate_id for scene in scenes] == [2, 4]


def test_slots_that_meet_are_merged_into_the_oldest() -> None:
    stored = [SceneCopy(1, "1", 10, 5, clip_id=7, shown=True), SceneCopy(2, "2", 10, 4, clip_id=3, shown=True)]
    (scene,) = arrange([*stored, SceneCopy(3, "3", 10, 1)], [(3, 1), (3, 2)], SAME)
    assert (scene.clip_id, scene.merged) == (3, (7,))
    assert scene.best == stored[0]
    assert scene.changes_shown


def test_what_cannot_be_shown_still_connects() -> None:
    (scene,) = arrange([SceneCopy(1, "1", 10, 5, usable=False), SceneCopy(2, "2", 10, 4)], [(1, 2)], SAME)
    assert scene.best is not None
    assert scene.best.candidate_id == 2


def test_a_search_reaches_back_to_the_last_that_worked_and_at_least_its_usual_age() -> None:
    policy, now = FootyPolicy(), datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert search_age(policy, now - timedelta(seconds=10), now) == timedelta(minutes=3)
    assert search_age(policy, now - timedelta(minutes=40), now) == timedelta(minutes=40)


def test_attempts_begin_a_minute_apart_with_a_rest_between() -> None:
    policy, start = FootyPolicy(), datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert pause_after(policy, start, start + timedelta(seconds=20)) == timedelta(seconds=40)
    assert pause_after(policy, start, start + timedelta(seconds=90)) == timedelta(seconds=10)
