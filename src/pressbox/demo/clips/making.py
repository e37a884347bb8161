"""Clips to order: `make_clip` draws one. Copies of it come from `pressbox.demo.clips.disguises`."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.encoding import encoded
from pressbox.demo.clips.football import football_frames
from pressbox.demo.clips.others import other_frames
from pressbox.demo.clips.scoreboard import draw_scoreboard
from pressbox.demo.clips.spec import ClipSpec, Scene

Picture = NDArray[np.uint8]


def make_clip(spec: ClipSpec) -> bytes:
    """An MP4 file that browsers play. A clip of six seconds takes about a second of one processor."""
    return encoded(pictures(spec), spec.rate, spec.quality)


def pictures(spec: ClipSpec) -> Iterator[Picture]:
    if spec.scene is not Scene.FOOTBALL:
        yield from other_frames(spec)
        return
    for number, shown in enumerate(football_frames(spec)):
        if spec.scoreboard:
            draw_scoreboard(shown, spec, number / spec.rate)
        yield shown
