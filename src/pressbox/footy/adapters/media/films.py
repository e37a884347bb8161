"""Films: a clip in small grey pictures, twelve a second, kept as a small video beside its fingerprint.

Hashes say that two pictures are alike; a film lets one lay a picture over another. Written and read in the media child
processes only.
"""

import io
from collections.abc import Iterable, Iterator
from fractions import Fraction

import av
import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from pressbox.footy.adapters.media.decoding import Picture, TimedFrame, rotate
from pressbox.footy.domain.film_agreement import FILM_RATE

Pictures = NDArray[np.uint8]

_AREA = 160 * 90
_LEAST_SIDE = 16
# No clip that is kept is longer.
LONGEST_FILM = 60.0
_LEAST_STEP = 0.5 / FILM_RATE
# How it is written. A film that another version of Pressbox wrote is left alone.
_VERSION = b"\x01"
# Quality first, and a limit: 4.75 kB a second and 10 kB at the beginning, less than 300 kB for a minute.
_OPTIONS = {"crf": "25", "preset": "fast", "maxrate": "38k", "bufsize": "80k", "threads": "1"}
_SECONDS_BETWEEN_KEYS = 10


def take_picture(frame: VideoFrame) -> Picture:
    """Make a frame small and grey; unlike the pictures that are hashed it keeps its shape."""
    scale = (_AREA / (frame.width * frame.height)) ** 0.5
    width, height = (max(_LEAST_SIDE, 2 * round(side * scale / 2)) for side in (frame.width, frame.height))
    grey = frame.reformat(width, height, "gray", interpolation="AREA").to_ndarray()
    return rotate(np.asarray(grey, dtype=np.uint8), frame.rotation)


class FilmRecorder:
    """Takes small pictures of the frames that pass by."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._pictures: list[Picture] = []

    def watch(self, frames: Iterable[TimedFrame]) -> Iterator[TimedFrame]:
        for timed in frames:
            wanted = not self._times or timed.seconds >= self._times[-1] + _LEAST_STEP
            if wanted and timed.seconds <= LONGEST_FILM:
                self._times.append(timed.seconds)
                self._pictures.append(take_picture(timed.frame))
            yield timed

    def develop(self) -> Pictures:
        """Make pictures at even times: each is mixed of the frame before and the one after it.

        Copies of a clip keep other frames, and are read without those that no other frame needs. What moves would not
        agree at times that differ by a tenth of a second.
        """
        times = np.array(self._times)
        wanted = np.arange(0, times[-1] + 1e-6, 1 / FILM_RATE)
        after = np.minimum(np.searchsorted(times, wanted), len(times) - 1)
        before = np.maximum(after - 1, 0)
        shares = np.clip((wanted - times[before]) / np.maximum(times[after] - times[before], 1e-6), 0, 1)
        mixed = [
            cv2.addWeighted(self._pictures[one], 1 - share, self._pictures[other], share, 0)
            for one, other, share in zip(before, after, shares, strict=True)
        ]
        return np.stack(mixed).astype(np.uint8)


def write_film(pictures: Pictures) -> bytes:
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as output:
        stream = output.add_stream("libx264", rate=FILM_RATE, options=_OPTIONS)
        stream.pix_fmt = "gray"
        stream.height, stream.width = pictures.shape[1:]
        stream.codec_context.gop_size = _SECONDS_BETWEEN_KEYS * FILM_RATE
        for number, picture in enumerate(pictures):
            frame = VideoFrame.from_ndarray(picture, format="gray")
            frame.pts, frame.time_base = number, Fraction(1, FILM_RATE)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return _VERSION + target.getvalue()


def read_film(stored: bytes) -> Pictures | None:
    """None for a film that another version wrote or that is damaged: its clip is compared by hashes alone."""
    if not stored.startswith(_VERSION):
        return None
    try:
        with av.open(io.BytesIO(stored.removeprefix(_VERSION)), "r", format="mp4") as source:
            pictures = [frame.to_ndarray(format="gray") for frame in source.decode(video=0)]
    except (av.FFmpegError, ValueError):
        return None
    return np.stack(pictures).astype(np.uint8) if pictures else None
