"""Makes invented clips; `pressbox.demo.clips.disguises` makes altered copies of them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.encoding import encode
from pressbox.demo.clips.football import draw_football
from pressbox.demo.clips.other_scenes import draw_other_scene
from pressbox.demo.clips.scoreboard import draw_scoreboard
from pressbox.demo.clips.spec import ClipSpec, Scene

Picture = NDArray[np.uint8]


def make_clip(spec: ClipSpec) -> bytes:
    """Make an MP4 file that browsers play. A clip of six seconds takes about a second of one processor."""
    return encode(draw_pictures(spec), spec.rate, spec.quality)


def draw_pictures(spec: ClipSpec) -> Iterator[Picture]:
    if spec.scene is not Scene.FOOTBALL:
        yield from draw_other_scene(spec)
        return
    for number, shown in enumerate(draw_football(spec)):
        if spec.scoreboard:
            draw_scoreboard(shown, spec, number / spec.rate)
        yield shown
