"""Votes on whether a picture shows a football pitch, by colour and lines. Runs in the judge's child process only."""

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.judgements import Vote

Picture = NDArray[np.uint8]

_WIDTH = 480
# Grass under floodlights, sun and shadow, in OpenCV's hue of 0 to 179.
_GREENEST, _LEAST_GREEN = (88, 255, 255), (32, 45, 35)
_CLEARLY_GRASS = 0.45
_SOME_GRASS = 0.20
_NO_GRASS = 0.04
# Share of the grass that is thin and bright: more than noise, less than a hedge in the sun.
_FEWEST_LINES, _MOST_LINES = 0.0006, 0.08
# Grass of a broadcast is smooth; leaves are not, and a coloured background has no grain at all.
_SMOOTHEST, _ROUGHEST = 1.0, 22.0


def pitch_vote(picture: Picture) -> Vote:
    """YES for grass with lines, NO for next to no green; a close-up, a crowd or another kind of green is UNKNOWN.

    Other sports on grass look the same: this is all that colour can tell.
    """
    scale = _WIDTH / picture.shape[1]
    small = cv2.resize(picture, (_WIDTH, max(2, round(picture.shape[0] * scale))), interpolation=cv2.INTER_AREA)
    grass = cv2.inRange(cv2.cvtColor(small, cv2.COLOR_BGR2HSV), np.array(_LEAST_GREEN), np.array(_GREENEST))
    share = float(np.count_nonzero(grass)) / grass.size
    if share < _NO_GRASS:
        return Vote.NO
    if share < _SOME_GRASS:
        return Vote.UNKNOWN
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    if _SMOOTHEST <= _roughness(grey, grass) <= _ROUGHEST and (share >= _CLEARLY_GRASS or _has_lines(grey, grass)):
        return Vote.YES
    return Vote.UNKNOWN


def _roughness(grey: cv2.typing.MatLike, grass: cv2.typing.MatLike) -> float:
    """How much neighbouring points of the grass differ, in its middle half: players and lines are left out."""
    difference = np.abs(grey.astype(np.int16) - cv2.blur(grey, (7, 7)).astype(np.int16))[grass > 0]
    return float(np.percentile(difference, 75)) * 2


def _has_lines(grey: cv2.typing.MatLike, grass: cv2.typing.MatLike) -> bool:
    """White lines are thin, brighter than what is around them, and have grass on both sides."""
    near = cv2.morphologyEx(grass, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    ridges = cv2.morphologyEx(grey, cv2.MORPH_TOPHAT, np.ones((7, 7), np.uint8))
    lines = float(np.count_nonzero((ridges > 24) & (near > 0))) / float(np.count_nonzero(near))
    return _FEWEST_LINES <= lines <= _MOST_LINES
