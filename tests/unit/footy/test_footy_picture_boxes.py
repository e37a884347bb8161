"""Which part of a picture is the picture: borders, also blurred ones, are not."""

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.footy.adapters.media.hashing import SMALL_HEIGHT, SMALL_WIDTH, hash_samples, sharp_box
from pressbox.footy.domain.fingerprints import PHASES, VIEWS, View

Pictures = NDArray[np.uint8]


def moving_pictures(count: int = 36) -> Pictures:
    noise = np.random.default_rng(3).integers(0, 255, (SMALL_HEIGHT, SMALL_WIDTH + count * 3), dtype=np.uint8)
    return np.stack([noise[:, 3 * step : 3 * step + SMALL_WIDTH] for step in range(count)])


def on_blurred_background(pictures: Pictures, left: int, right: int) -> Pictures:
    shown = np.stack([cv2.GaussianBlur(picture, (0, 0), 6) for picture in pictures]).astype(np.uint8)
    for index, picture in enumerate(pictures):
        shown[index, :, left:right] = cv2.resize(picture, (right - left, SMALL_HEIGHT))
    return shown


def test_a_blurred_background_is_no_part_of_the_picture() -> None:
    top, bottom, left, right = sharp_box(on_blurred_background(moving_pictures(), 50, 110))
    assert (top, bottom) == (0, SMALL_HEIGHT)
    assert abs(left - 50) <= 2
    assert abs(right - 110) <= 2


def test_a_picture_that_is_smooth_on_one_side_only_stays_whole() -> None:
    pictures = moving_pictures()
    pictures[:, :, :60] = 90
    assert sharp_box(pictures) == (0, SMALL_HEIGHT, 0, SMALL_WIDTH)
    assert sharp_box(moving_pictures()) == (0, SMALL_HEIGHT, 0, SMALL_WIDTH)


def test_every_view_is_hashed_and_those_beside_the_centre_differ() -> None:
    pictures = moving_pictures()
    made = hash_samples(pictures, np.zeros(len(pictures), dtype=bool), PHASES)
    assert made.hashes.shape == (len(VIEWS), len(pictures))
    rows = [made.hashes[VIEWS.index(view)] for view in (View.UPPER_LEFT, View.LOWER_RIGHT, View.CENTRE_80)]
    assert not any(np.array_equal(one, other) for one, other in ((rows[0], rows[1]), (rows[0], rows[2])))
