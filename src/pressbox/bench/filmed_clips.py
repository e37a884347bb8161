"""Cuts of clips that somebody filmed, for `pressbox bench duplicates`: read where they lie, never copied."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.encoding import encode
from pressbox.demo.clips.spec import Scene

CUT_SECONDS = 6.0
LEAST_SECONDS = 3.0
_LONGER_SIDE = 384
_QUALITY = 24


@dataclass(frozen=True)
class Cut:
    """Some seconds of a file. Cuts of one file are like goals of one broadcast: the same place and camera."""

    path: Path
    begin: float
    end: float
    broadcast: int
    seed: int
    scene: Scene = Scene.FOOTBALL


def plan_cuts(folder: Path) -> list[Cut]:
    """Cut one file of each scene: what stands before the first hyphen of a name says which scene it shows."""
    scenes: dict[str, Path] = {}
    for path in sorted(folder.glob("*.mp4")):
        scenes.setdefault(path.stem.split("-")[0], path)
    return [
        Cut(path, begin, end, broadcast, 100 * broadcast + number)
        for broadcast, path in enumerate(scenes.values(), start=1)
        for number, (begin, end) in enumerate(_times(path))
    ]


def cut_out(cut: Cut) -> bytes:
    with av.open(str(cut.path)) as source:
        rate = round(float(source.streams.video[0].average_rate or 25))
        return encode(_read(cut), rate, _QUALITY)


def _times(path: Path) -> Iterator[tuple[float, float]]:
    with av.open(str(path)) as source:
        seconds = (source.duration or 0) / av.time_base
    begin = 0.0
    while seconds - begin >= LEAST_SECONDS:
        yield begin, min(begin + CUT_SECONDS, seconds)
        begin += CUT_SECONDS


def _read(cut: Cut) -> Iterator[NDArray[np.uint8]]:
    with av.open(str(cut.path)) as source:
        for frame in source.decode(video=0):
            if frame.time is None or not cut.begin <= frame.time < cut.end:
                continue
            scale = _LONGER_SIDE / max(frame.width, frame.height)
            size = (2 * round(frame.width * scale / 2), 2 * round(frame.height * scale / 2))
            yield np.asarray(cv2.resize(frame.to_ndarray(format="bgr24"), size, interpolation=cv2.INTER_AREA), np.uint8)
