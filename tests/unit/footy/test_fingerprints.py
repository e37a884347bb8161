"""Fingerprints: their forms, and when two of them show the same scene."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pressbox.core.errors import InvalidInputError
from pressbox.footy.domain.fingerprints import PHASES, VIEWS, Fingerprint, from_text, pack, to_text, unpack
from pressbox.footy.domain.match_rule import BETTER, DOCUMENT, Evidence
from pressbox.footy.domain.same_scene import match


def fingerprint(hashes: list[int] | np.ndarray, phases: int = 1, telling: list[bool] | None = None) -> Fingerprint:
    row = np.array(hashes, dtype=np.uint64)[None]
    flags = np.ones(row.shape, dtype=bool) if telling is None else np.array(telling, dtype=bool)[None]
    return Fingerprint(row, flags, phases)


def scene(seed: int, samples: int) -> np.ndarray:
    """Samples as different from each other as those of unrelated pictures."""
    return np.random.default_rng(seed).integers(0, 2**64, samples, dtype=np.uint64)


def with_noise(hashes: np.ndarray, bits: int, seed: int = 9) -> np.ndarray:
    """Each sample differs in exactly so many bits."""
    random = np.random.default_rng(seed)
    changed = hashes.copy()
    for index in range(len(changed)):
        for bit in random.choice(64, bits, replace=False):
            changed[index] ^= np.uint64(1) << np.uint64(bit)
    return changed


def test_the_text_form_is_that_of_the_document_and_reads_back() -> None:
    original = fingerprint([0x0123456789ABCDEF, 0xFEDCBA9876543210])
    assert to_text(original) == "dense:0.25:0.00=0123456789abcdef,0.25=fedcba9876543210"
    assert from_text(to_text(original)).same_as(original)


def test_the_text_holds_one_phase_of_a_query() -> None:
    assert from_text(to_text(fingerprint(list(range(7)), phases=PHASES))).samples == 3


def test_a_gap_in_a_text_tells_nothing() -> None:
    read = from_text("dense:0.25:0.00=0123456789abcdef,0.75=fedcba9876543210")
    assert read.telling.tolist() == [[True, False, False, True]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dense:0.5:0.00=0123456789abcdef",
        *(f"dense:0.25:{sample}" for sample in ("0.00", "0.00=12", "0.00=0123456789abcdeg")),
        *(f"dense:0.25:{seconds}=0123456789abcdef" for seconds in ("x", "-1", "1e12", "nan")),
    ],
)
def test_a_text_that_is_no_fingerprint_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError):
        from_text(text)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.booleans()), max_size=50), st.sampled_from([1, PHASES]))
def test_the_stored_form_reads_back_as_it_was(samples: list[tuple[int, bool]], phases: int) -> None:
    original = fingerprint([value for value, _ in samples], phases, [flag for _, flag in samples])
    assert unpack(pack(original)).same_as(original)


@given(st.binary(max_size=200))
def test_bytes_that_are_no_fingerprint_are_refused(packed: bytes) -> None:
    with pytest.raises(InvalidInputError):
        unpack(packed)


def test_a_damaged_stored_form_is_refused() -> None:
    packed = pack(fingerprint(scene(1, 20)))
    with pytest.raises(InvalidInputError):
        unpack(packed[:-1])


def test_mirroring_twice_gives_the_same_picture() -> None:
    original = fingerprint(scene(2, 30))
    assert not original.mirrored.same_as(original)
    assert original.mirrored.mirrored.same_as(original)


def test_a_cut_out_of_a_clip_matches_at_its_place() -> None:
    whole = scene(3, 60)
    found = match(fingerprint(with_noise(whole[20:40], 4)), fingerprint(whole))
    assert found is not None
    assert (found.offset, found.length) == (5.0, 5.0)


def test_unrelated_clips_do_not_match() -> None:
    assert match(fingerprint(scene(4, 240)), fingerprint(scene(5, 240))) is None


def test_a_mirrored_copy_matches() -> None:
    original = fingerprint(scene(6, 40))
    found = match(original.mirrored, original)
    assert found is not None
    assert found.mirrored


def test_a_clip_sampled_between_the_stored_samples_matches_in_its_other_phases() -> None:
    fine = scene(7, 120)
    stored = Fingerprint(fine[None, 1::PHASES], np.ones((1, 40), dtype=bool))
    query = fingerprint(fine, PHASES)
    found = match(query, stored)
    assert found is not None
    assert found.length == 10.0
    assert match(query, stored, DOCUMENT) is None


def all_views(seed: int, samples: int) -> np.ndarray:
    return np.stack([scene(seed + view, samples) for view in range(len(VIEWS))])


def with_views(rows: np.ndarray) -> Fingerprint:
    return Fingerprint(rows, np.ones(rows.shape, dtype=bool), PHASES)


@pytest.mark.parametrize("speed", [0.5, 0.75])
def test_a_copy_in_slow_motion_matches(speed: float) -> None:
    fine = all_views(100, 180)
    played = fine[:, np.round(np.arange(0, 179, speed)).astype(int)]
    assert match(with_views(played), with_views(fine)) is not None
    assert match(with_views(played), with_views(all_views(200, 180))) is None


def moving_little(seed: int, samples: int, bits: int) -> np.ndarray:
    """A camera that hardly moves: all samples are near one picture, each by other bits."""
    return with_noise(np.repeat(scene(1, 1), samples), bits, seed)


def test_a_camera_that_hardly_moves_matches_its_copy_and_no_other_moment() -> None:
    goal, other = (np.stack([moving_little(seed, 72, 8)] * len(VIEWS)) for seed in (1, 2))
    assert match(with_views(goal), with_views(goal)) is not None
    assert match(with_views(goal), with_views(other)) is None


def test_a_fingerprint_that_was_stored_with_fewer_views_still_matches() -> None:
    rows = np.stack([scene(20 + view, 60) for view in range(len(VIEWS))])
    query = Fingerprint(rows, np.ones(rows.shape, dtype=bool), PHASES)
    stored = unpack(pack(Fingerprint(rows[:8], np.ones((8, 60), dtype=bool), PHASES)))
    assert match(query, stored) is not None
    assert match(stored, query) is not None


def test_flat_samples_are_no_evidence() -> None:
    black = fingerprint([0] * 40, telling=[False] * 40)
    assert match(black, black) is None
    assert match(black, black, DOCUMENT) is not None


def test_a_picture_that_stands_still_is_no_evidence() -> None:
    still = fingerprint([int(scene(8, 1)[0])] * 40)
    assert match(still, still) is None


def test_a_run_that_is_one_sample_too_short_is_no_evidence() -> None:
    shared = scene(9, BETTER.evidence[0].run)
    left, right = scene(10, 40), scene(11, 40)
    left[7 : 7 + len(shared)], right[21 : 21 + len(shared)] = shared, shared
    assert match(fingerprint(left), fingerprint(right)) is not None
    left[7] = ~left[7]
    assert match(fingerprint(left), fingerprint(right)) is None


def slow_longest(left: np.ndarray, right: np.ndarray, rule: Evidence) -> int:
    """The document's loop, written plainly."""
    best = 0
    for offset in range(-len(left) + 1, len(right)):
        run = 0
        for index, value in enumerate(left):
            near = 0 <= index + offset < len(right) and int(value ^ right[index + offset]).bit_count() <= rule.bits
            run = run + 1 if near else 0
            best = max(best, run)
    return best if best >= rule.run else 0


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 40), st.integers(0, 16), st.integers(0, 12))
def test_the_fast_search_finds_what_the_plain_loop_finds(
    seed: int, left_samples: int, right_samples: int, shared: int, bits: int
) -> None:
    left, right = scene(seed, left_samples), scene(seed + 1, right_samples)
    length = min(shared, left_samples, right_samples)
    right[len(right) - length :] = with_noise(left[:length], bits, seed)
    found = match(fingerprint(left), fingerprint(right), DOCUMENT)
    assert (found.length / 0.25 if found else 0) == slow_longest(left, right, DOCUMENT.evidence[0])
