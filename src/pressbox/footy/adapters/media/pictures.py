"""Still pictures of a clip: frames for the judge, and the one that stands for the clip. Child processes only."""

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from pressbox.footy.adapters.media.decoding import (
    Picture,
    UnusableError,
    as_jpeg,
    frames,
    measured_duration,
    opened,
    picture,
)

JUDGE_HEIGHT = 1080
POSTER_WIDTH = 640
# Goals are at the end of a clip more often than at its beginning; the very edges are fades and titles.
_POSTER_FRACTIONS = (0.3, 0.45, 0.6, 0.75)


def frames_at(path: Path, fractions: Sequence[float], height: int = JUDGE_HEIGHT) -> list[Picture]:
    """One picture for each share of the clip's length, in the order asked."""
    with opened(path) as (container, stream):
        duration = measured_duration(container, stream)
    moments = sorted({min(max(fraction, 0.0), 1.0) * duration for fraction in fractions})
    found: dict[float, Picture] = {}
    with opened(path) as (container, stream):
        last = None
        for timed in frames(container, stream):
            last = timed.frame
            while moments and timed.seconds >= moments[0]:
                found[moments.pop(0)] = picture(timed.frame, height)
            if not moments:
                break
    if last is None:
        raise UnusableError("No frame of the video can be decoded.")
    # The end of a damaged or shortened file: its last picture stands for what is missing.
    for moment in moments:
        found[moment] = picture(last, height)
    return [found[min(max(fraction, 0.0), 1.0) * duration] for fraction in fractions]


def judged_frames(path: Path, fractions: Sequence[float]) -> list[bytes]:
    return [as_jpeg(shown, quality=92) for shown in frames_at(path, fractions)]


def poster(path: Path) -> bytes:
    """The clearest of a few frames, at most 640 pixels wide."""
    best = max(frames_at(path, _POSTER_FRACTIONS), key=_clarity)
    scale = min(1.0, POSTER_WIDTH / best.shape[1])
    size = (max(2, round(best.shape[1] * scale)), max(2, round(best.shape[0] * scale)))
    return as_jpeg(np.asarray(cv2.resize(best, size, interpolation=cv2.INTER_AREA), dtype=np.uint8), quality=82)


def _clarity(shown: Picture) -> float:
    """Sharp and full of contrast: neither a fade, nor a blur between two cameras."""
    grey = cv2.cvtColor(shown, cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_64F).std()) * float(grey.std())
