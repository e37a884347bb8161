"""Votes on whether a picture was filmed from a screen, by its dark bezel. Runs in the judge's child process only."""

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.judgements import Vote

Picture = NDArray[np.uint8]
Mask = NDArray[np.uint8]

_WIDTH = 480
_DARK = 42
_CANDIDATES = 4
_SMALLEST_SHARE, _LARGEST_SHARE = 0.3, 0.96
# How much of the strip around the picture on the screen must be dark.
_DARK_BORDER = 0.9
# Black bars of a broadcast reach the edge; behind a screen there is a room.
_LIT_ROOM = 0.4


def screen_vote(picture: Picture) -> Vote:
    """YES for a bright quadrangle in a dark frame with something lit behind it; otherwise UNKNOWN, never NO.

    Without its bezel a filmed screen looks like a broadcast.
    """
    scale = _WIDTH / picture.shape[1]
    small = cv2.resize(picture, (_WIDTH, max(2, round(picture.shape[0] * scale))), interpolation=cv2.INTER_AREA)
    bright = (cv2.cvtColor(small, cv2.COLOR_BGR2GRAY) >= _DARK).astype(np.uint8)
    return Vote.YES if any(_has_dark_frame(bright, inside) for inside in _quadrangles(bright)) else Vote.UNKNOWN


def _has_dark_frame(bright: Mask, inside: Mask) -> bool:
    border = cv2.dilate(inside, np.ones((5, 5), np.uint8)) - inside
    outside = 1 - cv2.dilate(inside, np.ones((15, 15), np.uint8))
    if not np.count_nonzero(outside):
        return False
    dark, lit = 1 - float(bright[border > 0].mean()), float(bright[outside > 0].mean())
    return dark >= _DARK_BORDER and lit >= _LIT_ROOM


def _quadrangles(bright: Mask) -> Iterator[Mask]:
    """The largest areas with four corners that touch no edge of the picture, filled."""
    contours, _ = cv2.findContours(bright, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    height, width = bright.shape
    for contour in sorted(contours, key=cv2.contourArea, reverse=True)[:_CANDIDATES]:
        hull = cv2.convexHull(contour)
        left, top, across, along = cv2.boundingRect(hull)
        if left < 2 or top < 2 or left + across > width - 2 or top + along > height - 2:
            continue
        corners = cv2.approxPolyDP(hull, 0.03 * cv2.arcLength(hull, True), True)
        if _SMALLEST_SHARE <= cv2.contourArea(hull) / bright.size <= _LARGEST_SHARE and len(corners) == 4:
            yield np.asarray(cv2.fillPoly(np.zeros_like(bright), [hull], (1,)), dtype=np.uint8)
