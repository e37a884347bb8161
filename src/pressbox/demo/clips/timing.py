"""Copies of clips that run at another speed, are cut, or have other content around them."""

from collections.abc import Callable, Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.renderer import draw_pictures
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene

Picture = NDArray[np.uint8]
Pictures = Iterator[Picture]
Time = Callable[[Pictures, int, np.random.Generator], tuple[Pictures, int]]


def _change_speed(factor: float) -> Time:
    """Play at another speed with the same frame rate: frames are left out or shown twice."""

    def change(shown: Pictures, rate: int, _: np.random.Generator) -> tuple[Pictures, int]:
        return _resample(shown, factor), rate

    return change


def _resample(shown: Pictures, factor: float) -> Pictures:
    wanted = 0.0
    for number, picture in enumerate(shown):
        while round(wanted) <= number:
            yield picture
            wanted += factor


def _lower_rate(shown: Pictures, rate: int, _: np.random.Generator) -> tuple[Pictures, int]:
    return _resample(shown, rate / 15), 15


def _cut(begin: float, seconds: float) -> Time:
    """Cut a little after `begin`, so that the copy is not sampled at the same times as the original."""

    def change(shown: Pictures, rate: int, random: np.random.Generator) -> tuple[Pictures, int]:
        first = round((begin + random.uniform(0, 0.4)) * rate)
        return islice(shown, first, first + round(seconds * rate)), rate

    return change


def _add_other_content(before: bool) -> Time:
    def change(shown: Pictures, rate: int, random: np.random.Generator) -> tuple[Pictures, int]:
        first = next(shown)
        height, width = first.shape[:2]
        seed = int(random.integers(1 << 30))
        other = draw_pictures(ClipSpec(seed, Scene.STUDIO, duration=2.13, width=width, height=height, rate=rate))
        clip = chain((first,), shown)
        return (chain(other, clip) if before else chain(clip, other)), rate

    return change


TIMES: dict[Disguise, Time] = {
    Disguise.FASTER: _change_speed(1.05),
    Disguise.MUCH_SLOWER: _change_speed(0.75),
    Disguise.SLOW_MOTION: _change_speed(0.5),
    Disguise.SLOWER: _change_speed(0.95),
    Disguise.MUCH_FASTER: _change_speed(1.25),
    Disguise.FRAME_RATE: _lower_rate,
    Disguise.CUT: _cut(1.0, 3.5),
    Disguise.CUT_THREE: _cut(0.4, 3.0),
    Disguise.CUT_SHORT: _cut(1.5, 2.5),
    Disguise.PREPENDED: _add_other_content(before=True),
    Disguise.APPENDED: _add_other_content(before=False),
}
