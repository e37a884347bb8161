"""Altered copies of clips, as other accounts post them: cropped, framed, mirrored, sped up, filmed from a screen."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.encoding import decode, encode
from pressbox.demo.clips.renderer import draw_pictures
from pressbox.demo.clips.spec import ClipSpec, Disguise, Scene
from pressbox.demo.clips.timing import TIMES

Picture = NDArray[np.uint8]
Pictures = Iterator[Picture]
Change = Callable[[Picture, int], Picture]

_GOOD, _USUAL, _POOR, _BAD, _WORST = 18, 26, 38, 42, 46
_QUALITY = {
    Disguise.LOW_QUALITY: _POOR,
    Disguise.HIGH_QUALITY: _GOOD,
    Disguise.CRUSHED: _WORST,
    Disguise.CRUSHED_SMALL: _BAD,
}


def disguise(clip: bytes, kind: Disguise, seed: int = 0) -> bytes:
    """Make an altered copy of a clip; the same seed makes the same copy. Frames are handled one at a time."""
    rate, shown = decode(clip)
    random = np.random.default_rng([seed, 4])
    if kind in TIMES:
        shown, rate = TIMES[kind](shown, rate, random)
    elif kind in _CHANGES:
        change = _CHANGES[kind](random)
        shown = (change(picture, number) for number, picture in enumerate(shown))
    return encode((_trim_to_even(picture) for picture in shown), rate, _QUALITY.get(kind, _USUAL))


def _trim_to_even(picture: Picture) -> Picture:
    """Cut to even sides, which the encoder needs."""
    height, width = picture.shape[:2]
    return picture[: height - height % 2, : width - width % 2]


def _resize(picture: Picture, width: int, height: int) -> Picture:
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA), dtype=np.uint8)


# Changes of each picture


def _scale(factor: float) -> Change:
    return lambda picture, _: _resize(
        picture, round(picture.shape[1] * factor / 2) * 2, round(picture.shape[0] * factor / 2) * 2
    )


def _frame(across: float, along: float, colour: tuple[int, int, int] = (0, 0, 0)) -> Change:
    """Shrink the picture inside a border; each bar takes this share of the picture's side."""

    def change(picture: Picture, _: int) -> Picture:
        height, width = picture.shape[:2]
        top, left = round(height * along), round(width * across)
        framed = np.full_like(picture, colour)
        framed[top : height - top, left : width - left] = _resize(picture, width - 2 * left, height - 2 * top)
        return framed

    return change


def _crop(left: float, right: float, top: float, bottom: float) -> Change:
    """Cut away these shares of the sides and enlarge the rest to the old size."""

    def change(picture: Picture, _: int) -> Picture:
        height, width = picture.shape[:2]
        part = picture[
            round(height * top) : round(height * (1 - bottom)), round(width * left) : round(width * (1 - right))
        ]
        return np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.uint8)

    return change


def _crop_upright(place: float) -> Change:
    """Cut out an upright part; its place goes from 0, the left edge, to 1, the right one."""

    def change(picture: Picture, _: int) -> Picture:
        height, width = picture.shape[:2]
        wide = height * 9 // 16
        begin = round((width - wide) * place)
        return np.ascontiguousarray(picture[:, begin : begin + wide])

    return change


_crop_vertical = _crop_upright(0.5)


def _crop_anywhere(random: np.random.Generator) -> Change:
    """Keep 70 to 85 % of each side, anywhere in the picture."""
    width, height = 1 - random.uniform(0.7, 0.85, 2)
    left, top = width * random.uniform(), height * random.uniform()
    return _crop(left, width - left, top, height - top)


def _pan_upright(random: np.random.Generator) -> Change:
    """Cut out an upright part that moves from one side to the other and back, as programs do that follow the ball."""
    begin, tempo = random.uniform(0, 6.3), random.uniform(0.008, 0.016)
    return lambda picture, number: _crop_upright(0.5 + 0.35 * np.sin(begin + tempo * number))(picture, number)


def _blur_background(picture: Picture, width: int, height: int) -> Picture:
    """Fill a field with the picture, enlarged and out of focus."""
    scale = max(width / picture.shape[1], height / picture.shape[0])
    large = _resize(picture, round(picture.shape[1] * scale + 1), round(picture.shape[0] * scale + 1))
    top, left = (large.shape[0] - height) // 2, (large.shape[1] - width) // 2
    return np.asarray(cv2.GaussianBlur(large[top : top + height, left : left + width], (0, 0), height / 24), np.uint8)


def _show_whole_upright(picture: Picture, _: int) -> Picture:
    height, width = picture.shape[:2]
    tall = width * 16 // 9
    shown = _blur_background(picture, width, tall)
    top = (tall - height) // 2
    shown[top : top + height] = picture
    return shown


def _blur_sides(picture: Picture, number: int) -> Picture:
    height, width = picture.shape[:2]
    part = _crop_vertical(picture, number)
    shown = _blur_background(part, width, height)
    begin = (width - part.shape[1]) // 2
    shown[:, begin : begin + part.shape[1]] = part
    return shown


def _rotate(degrees: float) -> Change:
    """Turn the picture and enlarge it until no corner is empty."""

    def change(picture: Picture, _: int) -> Picture:
        height, width = picture.shape[:2]
        # In 16:9, this much per degree fills the corners.
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1 + 0.033 * abs(degrees))
        return np.asarray(cv2.warpAffine(picture, turn, (width, height), flags=cv2.INTER_LINEAR), dtype=np.uint8)

    return change


def _put_in_picture(scene: Scene, share: float, across: float, down: float) -> Callable[[np.random.Generator], Change]:
    """Show it small over another scene; its place goes from 0, the left or upper edge, to 1."""

    def choose(random: np.random.Generator) -> Change:
        seed = int(random.integers(1 << 30))
        other: list[Picture] = []

        def change(picture: Picture, number: int) -> Picture:
            height, width = picture.shape[:2]
            if not other:
                other.extend(draw_pictures(ClipSpec(seed, scene, duration=2.0, width=width, height=height)))
            shown = other[number % len(other)].copy()
            small = _resize(picture, round(width * share / 2) * 2, round(height * share / 2) * 2)
            top, left = round((height - small.shape[0]) * down), round((width - small.shape[1]) * across)
            shown[top : top + small.shape[0], left : left + small.shape[1]] = small
            return shown

        return change

    return choose


def _pad_vertical(picture: Picture, number: int) -> Picture:
    framed = np.zeros_like(picture)
    part = _crop_vertical(picture, number)
    begin = (picture.shape[1] - part.shape[1]) // 2
    framed[:, begin : begin + part.shape[1]] = part
    return framed


def _adjust_tone(gain: float, lift: float, gamma: float = 1.0) -> Change:
    greys = np.linspace(0, 1, 256)
    table = np.clip((greys**gamma - 0.5) * gain + 0.5 + lift, 0, 1) * 255
    return lambda picture, _: np.asarray(cv2.LUT(picture, table.astype(np.uint8)), dtype=np.uint8)


def _remove_colour(picture: Picture, _: int) -> Picture:
    return np.repeat(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)[..., None], 3, axis=2).astype(np.uint8)


def _tint(picture: Picture, _: int) -> Picture:
    tinted: Picture = np.clip(picture * np.array((0.75, 1.0, 1.2)) + np.array((20, 0, 0)), 0, 255).astype(np.uint8)
    return tinted


def _add_logo(picture: Picture, _: int) -> Picture:
    shown = picture.copy()
    height, width = shown.shape[:2]
    centre, radius = (round(width * 0.88), round(height * 0.2)), round(height * 0.11)
    cv2.circle(shown, centre, radius, (30, 200, 250), -1)
    cv2.putText(shown, "GOAL", (centre[0] - radius, centre[1]), cv2.FONT_HERSHEY_DUPLEX, height / 500, (0, 0, 0), 2)
    return shown


def _add_banner(picture: Picture, _: int) -> Picture:
    shown = picture.copy()
    height, width = shown.shape[:2]
    cv2.rectangle(shown, (0, round(height * 0.84)), (width, height), (20, 20, 160), -1)
    place = (width // 20, round(height * 0.95))
    cv2.putText(shown, "WATCH THIS GOAL", place, cv2.FONT_HERSHEY_DUPLEX, height / 400, (255, 255, 255), 2)
    return shown


def _add_captions(above: float, below: float) -> Change:
    """Add a white field with words above the picture, as in memes, and one below it."""

    def change(picture: Picture, _: int) -> Picture:
        height, width = picture.shape[:2]
        shown = np.full_like(picture, 255)
        top, bottom = round(height * above), round(height * (1 - below))
        shown[top:bottom] = _resize(picture, width, bottom - top)
        for words, line in (("what a goal by him", height * 0.13), ("follow for more", height * 0.95)):
            place = (width // 20, round(line))
            if not top <= place[1] < bottom:
                cv2.putText(shown, words, place, cv2.FONT_HERSHEY_DUPLEX, height / 400, (0, 0, 0), 2)
        return shown

    return change


def _add_noise(random: np.random.Generator) -> Change:
    def change(picture: Picture, _: int) -> Picture:
        grain = random.normal(0, 14, picture.shape[:2])[..., None]
        return np.clip(picture + grain, 0, 255).astype(np.uint8)

    return change


def _blur(picture: Picture, _: int) -> Picture:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), picture.shape[0] / 160), dtype=np.uint8)


def _film_screen(random: np.random.Generator, shake: float) -> Change:
    """Show the picture on a screen in a dim room: slanted, framed, with visible pixels and the reflection of a lamp."""
    slant = random.uniform(0.02, 0.06, (4, 2))
    wall = int(random.integers(30, 80))
    lamp = random.uniform(0.2, 0.8, 2)

    def change(picture: Picture, number: int) -> Picture:
        height, width = picture.shape[:2]
        corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float64)
        inward = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        moved = shake * np.array([np.sin(number * 0.21), np.sin(number * 0.17 + 1)])
        seen = (corners + inward * slant + moved) * (width, height)
        source = (corners * (width, height)).astype(np.float32)
        way = cv2.getPerspectiveTransform(source, seen.astype(np.float32))
        room = np.full_like(picture, wall)
        cv2.fillConvexPoly(room, (seen + inward * -6).astype(np.int32), (12, 12, 12))
        cv2.warpPerspective(picture, way, (width, height), room, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
        lines = 1 + 0.06 * np.sin(np.arange(height) * 2.1)[:, None, None]
        shown = room * lines * 0.8 + 18
        glare = np.zeros((height, width), dtype=np.float32)
        cv2.circle(glare, (round(lamp[0] * width), round(lamp[1] * height)), height // 12, 60.0, -1)
        shown += cv2.GaussianBlur(glare, (0, 0), height / 20)[..., None]
        filmed: Picture = np.clip(shown, 0, 255).astype(np.uint8)
        return filmed

    return change


def _fixed(change: Change) -> Callable[[np.random.Generator], Change]:
    return lambda _: change


_CHANGES: dict[Disguise, Callable[[np.random.Generator], Change]] = {
    Disguise.SMALLER: _fixed(_scale(0.5)),
    Disguise.LARGER: _fixed(_scale(1.5)),
    Disguise.LETTERBOX: _fixed(_frame(0.0, 0.125)),
    Disguise.WINDOW_BOX: _fixed(_frame(0.12, 0.12)),
    Disguise.SIDE_BARS: _fixed(_frame(0.125, 0.0)),
    Disguise.COLOURED_BORDER: _fixed(_frame(0.06, 0.08, (160, 60, 90))),
    Disguise.CROP_5: _fixed(_crop(0.05, 0.05, 0.05, 0.05)),
    Disguise.CROP_10: _fixed(_crop(0.1, 0.1, 0.1, 0.1)),
    Disguise.CROP_15: _fixed(_crop(0.15, 0.15, 0.15, 0.15)),
    Disguise.CROP_20: _fixed(_crop(0.2, 0.2, 0.2, 0.2)),
    Disguise.CROP_RIGHT: _fixed(_crop(0.25, 0.0, 0.12, 0.12)),
    Disguise.CROP_UPPER: _fixed(_crop(0.1, 0.1, 0.0, 0.2)),
    Disguise.CROP_ANYWHERE: _crop_anywhere,
    Disguise.CROP_CORNER: _fixed(_crop(0.0, 0.2, 0.2, 0.0)),
    Disguise.VERTICAL: _fixed(_crop_vertical),
    Disguise.VERTICAL_LEFT: _fixed(_crop_upright(0.15)),
    Disguise.VERTICAL_RIGHT: _fixed(_crop_upright(0.85)),
    Disguise.VERTICAL_PANNED: _pan_upright,
    Disguise.VERTICAL_BLURRED: _fixed(_show_whole_upright),
    Disguise.BLURRED_SIDES: _fixed(_blur_sides),
    Disguise.VERTICAL_IN_WIDE: _fixed(_pad_vertical),
    Disguise.MIRROR: _fixed(lambda picture, _: np.ascontiguousarray(picture[:, ::-1])),
    Disguise.BRIGHTER: _fixed(_adjust_tone(1.0, 0.12, 0.8)),
    Disguise.DARKER: _fixed(_adjust_tone(0.9, -0.1, 1.25)),
    Disguise.CONTRAST: _fixed(_adjust_tone(1.5, 0.0)),
    Disguise.GREY: _fixed(_remove_colour),
    Disguise.TINT: _fixed(_tint),
    Disguise.LOGO: _fixed(_add_logo),
    Disguise.BANNER: _fixed(_add_banner),
    Disguise.CAPTION: _fixed(_add_captions(0.22, 0.0)),
    Disguise.CAPTIONS: _fixed(_add_captions(0.18, 0.12)),
    Disguise.NOISE: _add_noise,
    Disguise.BLUR: _fixed(_blur),
    Disguise.ROTATED: _fixed(_rotate(3.0)),
    Disguise.ROTATED_BACK: _fixed(_rotate(-5.0)),
    Disguise.PICTURE_IN_PICTURE: _put_in_picture(Scene.STUDIO, 0.6, 0.12, 0.12),
    Disguise.PICTURE_IN_STREET: _put_in_picture(Scene.STREET, 0.7, 0.8, 0.3),
    Disguise.CRUSHED_SMALL: _fixed(_scale(0.5)),
    Disguise.FILMED: lambda random: _film_screen(random, 0.0),
    Disguise.FILMED_BY_HAND: lambda random: _film_screen(random, 0.012),
}
