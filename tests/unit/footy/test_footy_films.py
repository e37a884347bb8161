"""Films: what moves must agree, whatever the camera does; and what is said of it."""

import numpy as np
import pytest

from pressbox.footy.domain.film_agreement import (
    FILM_RATE,
    Overlay,
    Times,
    drop_foreign_places,
    measure,
    moving_parts,
)
from pressbox.footy.domain.film_rule import FILMS, Agreement, FilmEvidence, Sighting, Way, best_agreement, describe
from pressbox.footy.domain.fingerprints import join_film, pack, split_film, unpack
from pressbox.footy.domain.scenes import SceneCopy, choose_to_see_through
from tests.unit.footy.test_fingerprints import fingerprint, scene

SECONDS = 6
WIDTH, HEIGHT = 64, 36
EVERY_TIME = Times(range(-SECONDS * FILM_RATE, SECONDS * FILM_RATE))


def background(shift: float = 0.0) -> np.ndarray:
    """A stadium: stripes and a crowd, seen by a camera that has turned by `shift` points."""
    x, y = np.meshgrid(np.arange(WIDTH) + shift, np.arange(HEIGHT))
    return np.asarray(100 + 20 * np.sin(x / 4) + 15 * np.cos(y / 3) + 10 * np.sin(x / 2.3 + y / 5))


def filmed(players: int, *, pan: float = 0.0, light: float = 0.0, start: float = 0.0) -> np.ndarray:
    """Six seconds of players that run as their seed says, before a camera that turns by `pan` points a second."""
    random = np.random.default_rng(players)
    places, speeds = random.uniform(0, 60, (12, 2)), random.uniform(-8, 8, (12, 2))
    x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    pictures = []
    for number in range(SECONDS * FILM_RATE):
        seconds = number / FILM_RATE + start
        picture = background(pan * seconds) * (1 + light * seconds)
        for (left, top), (across, down) in zip(places, speeds, strict=True):
            where_x, where_y = (left + across * seconds - pan * seconds) % WIDTH, (top + down * seconds) % HEIGHT
            picture += 60 * np.exp(-((x - where_x) ** 2 + (y - where_y) ** 2) / 4)
        pictures.append(picture)
    noise = np.random.default_rng(players + 1000).normal(0, 1, (len(pictures), HEIGHT, WIDTH))
    return (np.stack(pictures) + noise).astype(np.float32)


def compare(query: np.ndarray, reference: np.ndarray) -> Agreement | None:
    everywhere = np.ones(query.shape[1:], dtype=bool)
    return best_agreement(measure(Overlay(query, reference, everywhere), [EVERY_TIME], FILMS.lengths))


def with_noise(film: np.ndarray, seed: int) -> np.ndarray:
    return (film + np.random.default_rng(seed).normal(0, 2, film.shape)).astype(np.float32)


@pytest.mark.parametrize("pan", [0.0, 3.0])
def test_a_copy_agrees_and_another_goal_before_the_same_camera_does_not(pan: float) -> None:
    goal = filmed(1, pan=pan)
    found = compare(with_noise(goal, 5), goal)
    assert found is not None
    assert abs(found.offset) < 0.1
    assert compare(filmed(2, pan=pan), goal) is None


def test_a_copy_that_begins_later_is_found_at_its_place() -> None:
    found = compare(filmed(1, start=1.5), filmed(1))
    assert found is not None
    assert found.offset == pytest.approx(1.5, abs=0.1)


def test_an_empty_stadium_proves_nothing_however_its_camera_or_its_light_changes() -> None:
    for pan, light in ((0.0, 0.0), (3.0, 0.0), (0.0, -0.1)):
        empty = np.stack(
            [background(pan * each / FILM_RATE) * (1 + light * each / FILM_RATE) for each in range(72)]
        ).astype(np.float32)
        assert compare(with_noise(empty, 1), with_noise(empty, 2)) is None, (pan, light)


def test_what_a_turning_camera_and_a_fade_change_is_taken_away() -> None:
    everywhere = np.ones((HEIGHT, WIDTH), dtype=bool)
    turning = np.stack([background(each / FILM_RATE) * (1 - 0.05 * each / FILM_RATE) for each in range(24)])
    rest = moving_parts(turning.astype(np.float32), everywhere, 6)
    players = moving_parts(filmed(1)[:24], everywhere, 6)
    assert np.abs(rest).mean() < 0.1 * np.abs(players).mean()


def test_pictures_that_only_one_film_shows_do_not_count() -> None:
    goal, framed = filmed(1), filmed(1)
    # A blurred background beside an upright part.
    framed[:, :, :22] = framed[:, :, 42:] = 40.0
    everywhere = np.ones((HEIGHT, WIDTH), dtype=bool)
    kept = drop_foreign_places(Overlay(framed, goal, everywhere), [(12, 12), (36, 36)]).shared
    assert not kept[:, :18].any()
    assert kept[:, 24:40].all()


def test_a_clip_that_is_too_short_is_not_measured() -> None:
    short = filmed(1)[:10]
    assert compare(short, short) is None


def test_less_agreement_needs_a_longer_time() -> None:
    short, long = FILMS.evidence[0], FILMS.evidence[-1]
    assert short.seconds < long.seconds
    assert short.moving > long.moving
    for kind in (short, long):
        found = Agreement(seconds=kind.seconds, moving=kind.moving, least=kind.least, still=kind.still)
        assert best_agreement([found]) == found
        for name in ("moving", "least", "still"):
            assert not kind.is_met_by(found.model_copy(update={name: getattr(kind, name) - 0.01}))
    assert best_agreement([Agreement(seconds=1.0, moving=1.0, least=1.0, still=1.0)]) is None
    assert FilmEvidence(seconds=2, moving=0, least=0, still=0).is_met_by(
        Agreement(seconds=2, moving=0, least=0, still=0)
    )


def test_the_reason_says_what_was_seen_through() -> None:
    agreement = Agreement(seconds=4.0, moving=0.9, least=0.8, still=0.9)
    hidden = Way(mirrored=True, turned=-5.2, query_share=0.36, reference_share=0.5)
    slow = agreement.model_copy(update={"speed": 0.5})
    assert describe(Sighting(way=hidden, agreement=slow)) == (
        "a mirror, a turn of 5 degrees, a crop to 50%, a frame that leaves it 36%, another speed (0.5 times)"
    )
    assert describe(Sighting(way=Way(), agreement=agreement)) == "compression or cuts"


def test_a_film_travels_behind_its_fingerprint_and_is_no_part_of_it() -> None:
    packed = pack(fingerprint(scene(1, 20)))
    stored = join_film(packed, b"film")
    assert split_film(stored) == (packed, b"film")
    assert unpack(stored).same_as(unpack(packed))
    # As it was stored before there were films.
    assert split_film(packed) == (packed, None)


def test_of_scenes_that_hashes_did_not_find_the_shown_copy_is_seen_through_first() -> None:
    copies = [
        SceneCopy(1, "1", 10, 1, clip_id=7),
        SceneCopy(2, "2", 10, 1, clip_id=7),
        SceneCopy(3, "3", 10, 1, clip_id=7, shown=True),
        SceneCopy(4, "4", 10, 1, clip_id=8, shown=True),
        SceneCopy(5, "5", 10, 1, clip_id=8),
        SceneCopy(6, "6", 10, 1),
    ]
    assert choose_to_see_through(copies, frozenset({5})) == (3, 1, 6)
    assert choose_to_see_through(copies, frozenset({2, 4, 6})) == ()
