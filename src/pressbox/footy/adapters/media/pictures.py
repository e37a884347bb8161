"""Takes still pictures of a clip: frames for the judge, and the poster. Runs in the media child processes only."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import av
import cv2
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from pressbox.footy.adapters.media.decoding import (
    Picture,
    encode_jpeg,
    measure_duration,
    open_video,
    read_frames,
    to_picture,
)
from pressbox.footy.domain.errors import NotAVideoError

JUDGE_HEIGHT = 1080
POSTER_WIDTH = 640
# Goals are more often at the end of a clip; its edges are fades and titles.
_POSTER_FRACTIONS = (0.3, 0.45, 0.6, 0.75)


def take_frames(path: Path, fractions: Sequence[float], height: int = JUDGE_HEIGHT) -> list[Picture]:
    """Take one picture for each fraction of the duration, in the given order."""
    with open_video(path) as (container, stream):
        duration = measure_duration(container, stream)
    with open_video(path) as (container, stream):
        first = next(read_frames(container, stream), None)
        if first is None:
            raise NotAVideoError("No frame of the video can be decoded.")
        found = []
        for fraction in fractions:
            moment = (first.frame.time or 0.0) + min(max(fraction, 0.0), 1.0) * duration
            found.append(to_picture(_frame_at(container, stream, moment) or first.frame, height))
    return found


def _frame_at(container: InputContainer, stream: VideoStream, moment: float) -> VideoFrame | None:
    """The first frame from this moment on; in a damaged or cut file, the last one before it."""
    # A file without an index is read from the current position.
    with suppress(av.FFmpegError):
        container.seek(round(moment * av.time_base), backward=True)
    last = None
    for timed in read_frames(container, stream):
        last = timed.frame
        if last.time is not None and last.time >= moment:
            break
    return last


def encode_frames(path: Path, fractions: Sequence[float]) -> list[bytes]:
    return [encode_jpeg(shown, quality=92) for shown in take_frames(path, fractions)]


def make_poster(path: Path) -> bytes:
    """Make a JPEG of the clearest of a few frames, at most 640 pixels wide."""
    best = max(take_frames(path, _POSTER_FRACTIONS), key=_clarity)
    scale = min(1.0, POSTER_WIDTH / best.shape[1])
    size = (max(2, round(best.shape[1] * scale)), max(2, round(best.shape[0] * scale)))
    return encode_jpeg(np.asarray(cv2.resize(best, size, interpolation=cv2.INTER_AREA), dtype=np.uint8), quality=82)


def _clarity(shown: Picture) -> float:
    """High for sharp pictures with contrast, low for fades and blurs."""
    grey = cv2.cvtColor(shown, cv2.COLOR_BGR2GRAY)
    return float(cv2.Laplacian(grey, cv2.CV_64F).std()) * float(grey.std())
