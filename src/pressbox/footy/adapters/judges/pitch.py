"""Votes on whether a picture shows a football pitch, by colour and lines. Runs in the judge's child process only."""

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.judgements import Vote

Picture = NDArray[np.uint8]

_WIDTH = 480
# A line on the pitch is straight for at least an eighth of the picture; grain and flowers are not.
_LINE_LENGTH, _LINE_GAP, _LINE_POINTS = 60, 2, 40
# Grass under floodlights, sun and shadow, in OpenCV's hue of 0 to 179.
_GREENEST, _LEAST_GREEN = (88, 255, 255), (32, 45, 35)
_CLEARLY_GRASS = 0.45
_SOME_GRASS = 0.20
_NO_GRASS = 0.04
# Share of the grass that is thin and bright: more than noise, less than a hedge in the sun.
_FEWEST_LINES, _MOST_LINES = 0.0006, 0.15
# Grass of a broadcast is smooth; leaves are not, and a coloured background has no grain at all.
_SMOOTHEST, _ROUGHEST = 1.0, 22.0


def pitch_vote(picture: Picture) -> Vote:
    """YES for grass with lines, NO for next to no green; a close-up, a crowd, a lawn or another green is UNKNOWN.

    Other sports on grass look the same: this is all that colour can tell.
    """
    small, grass, share = _find_grass(picture)
    if share < _NO_GRASS:
        return Vote.NO
    if share < _SOME_GRASS:
        return Vote.UNKNOWN
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    return Vote.YES if _is_smooth(grey, grass) and _has_lines(grey, grass) else Vote.UNKNOWN


def is_mostly_grass(picture: Picture) -> bool:
    """Whether it may be a part of a pitch between its lines. That proves nothing, but other frames may be its crowd."""
    small, grass, share = _find_grass(picture)
    return share >= _CLEARLY_GRASS and _is_smooth(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), grass)


def _find_grass(picture: Picture) -> tuple[cv2.typing.MatLike, cv2.typing.MatLike, float]:
    """The picture in one size, where it is green, and how much of it."""
    scale = _WIDTH / picture.shape[1]
    small = cv2.resize(picture, (_WIDTH, max(2, round(picture.shape[0] * scale))), interpolation=cv2.INTER_AREA)
    grass = cv2.inRange(cv2.cvtColor(small, cv2.COLOR_BGR2HSV), np.array(_LEAST_GREEN), np.array(_GREENEST))
    return small, grass, float(np.count_nonzero(grass)) / grass.size


def _is_smooth(grey: cv2.typing.MatLike, grass: cv2.typing.MatLike) -> bool:
    return _SMOOTHEST <= _roughness(grey, grass) <= _ROUGHEST


def _roughness(grey: cv2.typing.MatLike, grass: cv2.typing.MatLike) -> float:
    """How much neighbouring points of the grass differ, in its middle half: players and lines are left out."""
    difference = np.abs(grey.astype(np.int16) - cv2.blur(grey, (7, 7)).astype(np.int16))[grass > 0]
    return float(np.percentile(difference, 75)) * 2


def _has_lines(grey: cv2.typing.MatLike, grass: cv2.typing.MatLike) -> bool:
    """White lines are thin, straight, brighter than what is around them, and have grass on both sides."""
    near = cv2.morphologyEx(grass, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    ridges = cv2.morphologyEx(grey, cv2.MORPH_TOPHAT, np.ones((7, 7), np.uint8))
    bright = ((ridges > 24) & (near > 0)).astype(np.uint8)
    share = float(np.count_nonzero(bright)) / float(np.count_nonzero(near))
    if not _FEWEST_LINES <= share <= _MOST_LINES:
        return False
    straight = cv2.HoughLinesP(bright, 1, np.pi / 180, _LINE_POINTS, minLineLength=_LINE_LENGTH, maxLineGap=_LINE_GAP)
    return straight is not None
