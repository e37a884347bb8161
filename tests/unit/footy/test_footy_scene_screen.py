"""The screen before the rule for copies: it leaves strangers out and never a clip that the rule would find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.bench.match import make_fingerprint
from pressbox.footy.domain.fingerprints import PHASES, VIEWS, Fingerprint
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT, Detail, Evidence, MatchRule
from pressbox.footy.domain.same_scene import match
from pressbox.footy.domain.scene_screen import Screen, find_matching

SECONDS = 12
SAMPLES = SECONDS * 4
# Kinds of evidence alone, so that none hides what another would miss; with and without what the run itself changes.
RULES = (
    BETTER,
    *(BETTER.model_copy(update={"evidence": (one,), "detail": None, "speeds": ()}) for one in BETTER.evidence),
    BETTER.model_copy(update={"evidence": ()}),
    MatchRule(evidence=(Evidence(run=3, bits=20, mean=11.5),)),
    MatchRule(
        evidence=(),
        flat_counts=True,
        detail=Detail(first=Evidence(run=4, bits=9, mean=8.9), run=4, mean=9, share=9, views=1),
    ),
)


def alter(clip: Fingerprint, random: np.random.Generator, bits: float) -> Fingerprint:
    """A copy that differs by about so many bits in each sample; some samples tell nothing."""
    noise = np.packbits(random.random((*clip.hashes.shape, 64)) < bits / 64, axis=2).view(np.uint64)[..., 0]
    return Fingerprint(clip.hashes ^ noise, clip.telling & (random.random(clip.telling.shape) > 0.01), clip.phases)


def cut(clip: Fingerprint, begin: int, length: int, shift: int) -> Fingerprint:
    """A part of the clip from another phase on."""
    chosen = slice(begin * PHASES + shift, (begin + length) * PHASES + shift)
    return Fingerprint(clip.hashes[:, chosen], clip.telling[:, chosen], clip.phases)


def crop(clip: Fingerprint, view: int) -> Fingerprint:
    """A copy whose whole picture is a part of the original's."""
    order = np.arange(len(VIEWS))
    order[:3] = view
    return Fingerprint(clip.hashes[order], clip.telling[order], clip.phases)


def slow_down(clip: Fingerprint, speed: float) -> Fingerprint:
    chosen = (np.arange(int(clip.samples * speed)) / speed).astype(int)
    return Fingerprint(clip.hashes[:, chosen], clip.telling[:, chosen], clip.phases)


def stand_still(clip: Fingerprint) -> Fingerprint:
    """A camera that moves at last: most samples are alike."""
    hashes = clip.hashes.copy()
    hashes[:, : 2 * clip.samples // 3] = hashes[:, :1]
    return Fingerprint(hashes, clip.telling, clip.phases)


def draw_copies(clip: Fingerprint, seed: int) -> list[Fingerprint]:
    random = np.random.default_rng(seed)
    copies = [alter(clip, random, bits) for bits in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12)]
    copies += [cut(alter(clip, random, bits), 5, length, 1) for bits in (2, 5) for length in (8, 12, 16, 20)]
    copies += [alter(clip.mirrored, random, 3), alter(cut(clip, 9, 24, 2).mirrored, random, 5)]
    copies += [alter(crop(clip, view), random, bits) for view in (4, 11) for bits in (2, 5)]
    copies += [alter(slow_down(clip, speed), random, 1) for speed in (2.0, 1.25, 0.75)]
    copies += [Fingerprint(clip.hashes[:views], clip.telling[:views], clip.phases) for views in (1, 2, 8)]
    return copies


@pytest.mark.parametrize("rule", RULES)
def test_the_screen_keeps_all_that_the_rule_finds(rule: MatchRule) -> None:
    found = 0
    for seed in range(2):
        clip = make_fingerprint(seed, SAMPLES)
        for query in (clip, crop(clip, 5), cut(clip, 4, 22, 1), stand_still(clip), clip.reference()):
            others = dict(enumerate([*draw_copies(clip, seed), stand_still(clip), make_fingerprint(90, SAMPLES)]))
            expected = {number for number, other in others.items() if match(query, other, rule) is not None}
            assert expected <= set(Screen(query, rule).keep_possible(others))
            assert find_matching(query, others, rule) == expected
            found += len(expected)
    assert found > 10


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.floats(0, 12), st.integers(1, 30), st.sampled_from(RULES))
def test_chance_does_not_part_the_screen_and_the_rule(seed: int, bits: float, pace: int, rule: MatchRule) -> None:
    """`pace` is after how many samples the picture changes."""
    random = np.random.default_rng(seed)
    fast = make_fingerprint(seed, SAMPLES)
    clip = Fingerprint(fast.hashes[:, np.arange(fast.samples) // pace], fast.telling, fast.phases)
    others = {number: alter(clip, random, bits) for number in range(3)}
    expected = {number for number, other in others.items() if match(clip, other, rule) is not None}
    assert expected <= set(Screen(clip, rule).keep_possible(others))


def test_strangers_are_left_out() -> None:
    strangers = {number: make_fingerprint(number, SAMPLES) for number in range(1, 20)}
    assert Screen(make_fingerprint(0, SAMPLES), BETTER).keep_possible(strangers) == []


def test_a_clip_without_information_is_found_nowhere() -> None:
    clip = make_fingerprint(0, SAMPLES)
    empty = Fingerprint(clip.hashes, np.zeros_like(clip.telling), clip.phases)
    assert Screen(empty, BETTER).keep_possible({1: clip}) == []
    assert Screen(clip, BETTER).keep_possible({1: empty}) == []


def test_what_is_too_much_to_look_at_is_left_to_the_rule() -> None:
    rule = MatchRule(evidence=(Evidence(run=3, bits=20, mean=11.5),))
    clip = make_fingerprint(0, 400)
    still = Fingerprint(np.repeat(clip.hashes[:, :1], clip.samples, axis=1), clip.telling, clip.phases)
    assert Screen(still, rule).keep_possible({1: still, 2: make_fingerprint(5, 400)}) == [1, 2]


def test_a_still_picture_proves_nothing() -> None:
    clip = make_fingerprint(0, SAMPLES)
    still = Fingerprint(np.repeat(clip.hashes[:, :1], clip.samples, axis=1), clip.telling, clip.phases)
    assert match(still, still) is None
    assert find_matching(still, dict.fromkeys(range(9), still)) == frozenset()


def test_a_plain_rule_needs_no_screen() -> None:
    clip = make_fingerprint(0, SAMPLES)
    many = {number: make_fingerprint(number, SAMPLES) for number in range(10)}
    assert find_matching(clip, many, DOCUMENT) == {0}
