"""Draws pictures of football broadcasts with a scorebug, with what a person would read on them.

The fonts come with OpenCV and Pillow, so every machine draws the same.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Picture = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

_DRAWN_HEIGHT = 1080
_DRAWN_WIDTH = 1920
_LETTER_SIZE = 96
_TEAMS = (
    "ENG",
    "GER",
    "BRA",
    "ARG",
    "FCB",
    "RMA",
    "LIV",
    "ARS",
    "PSG",
    "OM",
    "1.FC",
    "B04",
    "H96",
    "S04",
    "USA",
    "KOR",
)
_BOARDS = ("PRESSBOX", "OPEN 24 HOURS", "SINCE 1904", "FLY 2026", "ORDER NOW", "MATCH DAY", "BANK 9", "+49 30 1234")
_SECOND_HALVES = ("2T", "2. HZ", "2.HZ", "2 MT", "2T", "ST", "II T", "2. YARI", "2ND HALF")
_ANNOUNCEMENTS = ("KICK-OFF", "KICK OFF", "ANPFIFF", "TONIGHT", "INICIO")
_KICK_OFFS = ("20:45", "21:00", "18:30", "15:30", "20:00", "12:30", "17:15")
# Part of OpenCV since version 5: name, weight and stretch.
_OUTLINE_FONTS = {
    "sans": ("sans", 400, 1.0),
    "sans, bold": ("sans", 800, 1.0),
    "sans, light": ("sans", 300, 1.0),
    "sans, condensed": ("sans", 600, 0.72),
    "italic": ("italic", 600, 1.0),
    "narrow": ("uni", 400, 1.0),
}


class Notation(StrEnum):
    """What the scorebug shows, or that it shows no clock."""

    RUNNING = "running clock"
    EXTRA_TIME = "extra time"
    STOPPAGE_TIMER = "second timer in stoppage time"
    COMPACT = "45+2"
    ANNOUNCED = "clock with announced stoppage time"
    MARKED = "restarted clock with its half"
    MINUTE = "minute only"
    FOREIGN = "restarted clock with its half in another language"
    GLUED = "45:00+2"
    KICK_OFF = "kick-off announced"
    TIME_OF_DAY = "time of day alone"
    MIRRORED = "mirrored picture"
    NO_CLOCK = "scorebug without a clock"
    NO_SCOREBUG = "no scorebug"


class Place(StrEnum):
    TOP_LEFT = "top left"
    TOP_CENTRE = "top centre"
    TOP_RIGHT = "top right"
    BOTTOM_LEFT = "bottom left"
    BOTTOM_CENTRE = "bottom centre"


class Contrast(StrEnum):
    DARK = "light on dark"
    LIGHT = "dark on light"
    COLOUR = "light on colour"
    WEAK = "grey on grey"
    GLASS = "light on half-transparent"


class Quality(StrEnum):
    """The height of the video and its compression."""

    FULL = "1080p"
    GOOD = "720p"
    SMALL = "480p"
    POOR = "360p"
    CRUSHED = "360p, crushed"
    TINY = "360p, tiny scorebug"


_HEIGHT_AND_JPEG = {
    Quality.FULL: (1080, 75),
    Quality.GOOD: (720, 65),
    Quality.SMALL: (480, 60),
    Quality.POOR: (360, 60),
    Quality.CRUSHED: (360, 28),
    Quality.TINY: (360, 60),
}
_CONTRASTS: dict[Contrast, tuple[Colour, Colour, float]] = {
    Contrast.DARK: ((42, 24, 18), (250, 250, 250), 1.0),
    Contrast.LIGHT: ((238, 240, 242), (20, 18, 18), 1.0),
    Contrast.COLOUR: ((40, 50, 190), (255, 255, 255), 1.0),
    Contrast.WEAK: ((120, 118, 116), (196, 198, 200), 1.0),
    Contrast.GLASS: ((30, 24, 20), (245, 245, 245), 0.55),
}


@dataclass(frozen=True)
class Scorebug:
    """How one picture is made. `texts` are the cells of the clock; `minute` is None without a clock."""

    notation: Notation
    place: Place
    contrast: Contrast
    quality: Quality
    font: str
    texts: tuple[str, ...]
    minute: int | None
    seed: int


@dataclass(frozen=True)
class Sample:
    bug: Scorebug
    jpeg: bytes


def list_fonts() -> tuple[str, ...]:
    outline = tuple(_OUTLINE_FONTS) if hasattr(cv2, "FontFace") else ()
    return ("geometric", "plain", *outline)


def scorebugs(count: int, seed: int = 7) -> Sequence[Scorebug]:
    """The same numbers make the same scorebugs. Properties are combined so that all values meet."""
    chance = random.Random(seed)  # noqa: S311 - pictures, not secrets
    # Every second one is the ordinary case.
    notations = tuple(one for notation in tuple(Notation)[1:] for one in (notation, Notation.RUNNING))
    # Broadcasts mostly show it at the top left.
    places = (*(Place.TOP_LEFT,) * 3, *Place)
    return [
        _make_scorebug(
            notations[number % len(notations)], chance.choice(places), chance.choice(tuple(Contrast)), number, chance
        )
        for number in range(count)
    ]


def _make_scorebug(
    notation: Notation, place: Place, contrast: Contrast, number: int, chance: random.Random
) -> Scorebug:
    texts, minute = _make_texts(notation, chance)
    return Scorebug(
        notation=notation,
        place=place,
        contrast=contrast,
        quality=tuple(Quality)[number // 3 % len(Quality)],
        font=chance.choice(list_fonts()),
        texts=texts,
        minute=minute,
        seed=chance.randrange(1 << 30),
    )


def _make_texts(notation: Notation, chance: random.Random) -> tuple[tuple[str, ...], int | None]:
    second, extra, end = chance.randrange(60), chance.randrange(1, 9), chance.choice((45, 90))
    early, late = chance.randrange(45), chance.randrange(91, 120)
    shown: dict[Notation, tuple[tuple[str, ...], int | None]] = {
        Notation.RUNNING: ((f"{end - 45 + early:02}:{second:02}",), end - 45 + early),
        Notation.EXTRA_TIME: ((f"{late}:{second:02}",), late),
        Notation.STOPPAGE_TIMER: ((f"{end}:00", f"+{extra}:{second:02}"), end + extra),
        Notation.COMPACT: ((f"{end}+{extra}",), end + extra),
        Notation.ANNOUNCED: ((f"{end + extra - 1}:{second:02}", f"+{extra}"), end + extra - 1),
        Notation.MARKED: (("2H", f"{early:02}:{second:02}"), 45 + early),
        Notation.MINUTE: ((f"{early + 10}'",), early + 10),
        Notation.FOREIGN: ((chance.choice(_SECOND_HALVES), f"{early:02}:{second:02}"), 45 + early),
        Notation.GLUED: ((f"{end}:00+{extra}",), end + extra),
        Notation.KICK_OFF: ((chance.choice(_ANNOUNCEMENTS), chance.choice(_KICK_OFFS)), None),
        Notation.TIME_OF_DAY: ((chance.choice(_KICK_OFFS),), None),
        Notation.MIRRORED: ((f"{end - 45 + early:02}:{second:02}",), end - 45 + early),
    }
    return shown.get(notation, ((), None))


def draw(bug: Scorebug) -> Sample:
    chance = random.Random(bug.seed)  # noqa: S311 - pictures, not secrets
    picture = _draw_pitch(chance)
    if bug.notation is not Notation.NO_SCOREBUG:
        _draw_scorebug(picture, bug, chance)
    if bug.notation is Notation.MIRRORED:
        picture = np.ascontiguousarray(picture[:, ::-1])
    height, quality = _HEIGHT_AND_JPEG[bug.quality]
    small = cv2.resize(picture, (height * 16 // 9 // 2 * 2, height), interpolation=cv2.INTER_AREA)
    _, crushed = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, quality])
    # A judge gets pictures that were decoded from a video and encoded again with little loss.
    decoded = np.asarray(cv2.imdecode(crushed, cv2.IMREAD_COLOR), np.uint8)
    _, jpeg = cv2.imencode(".jpg", decoded, [cv2.IMWRITE_JPEG_QUALITY, 92])
    return Sample(bug, jpeg.tobytes())


def _draw_pitch(chance: random.Random) -> Picture:
    """Draw a pitch with stripes, lines, players and boards in front of a crowd."""
    noise = np.random.default_rng(chance.randrange(1 << 30))
    horizon = chance.randrange(120, 330)
    picture = np.empty((_DRAWN_HEIGHT, _DRAWN_WIDTH, 3), np.uint8)
    picture[:horizon] = cv2.resize(
        noise.integers(20, 200, (horizon // 9 + 1, _DRAWN_WIDTH // 9, 3), dtype=np.uint8), (_DRAWN_WIDTH, horizon)
    )
    stripe = chance.randrange(120, 260)
    for index, left in enumerate(range(0, _DRAWN_WIDTH, stripe)):
        picture[horizon:, left : left + stripe] = (58, 138, 62) if index % 2 else (50, 122, 54)
    _draw_boards(picture, horizon, chance)
    for _ in range(4):
        ends = [(chance.randrange(_DRAWN_WIDTH), chance.randrange(horizon + 60, _DRAWN_HEIGHT)) for _ in range(2)]
        cv2.line(picture, ends[0], ends[1], (215, 225, 220), 5, cv2.LINE_AA)
    for _ in range(14):
        left, top = chance.randrange(_DRAWN_WIDTH), chance.randrange(horizon + 30, _DRAWN_HEIGHT - 120)
        shirt = chance.choice(((40, 40, 200), (235, 235, 235), (160, 60, 30), (30, 200, 220)))
        cv2.ellipse(picture, (left, top), (16, 42), 0, 0, 360, shirt, -1, cv2.LINE_AA)
        cv2.circle(picture, (left, top - 52), 12, (120, 160, 210), -1, cv2.LINE_AA)
        _write(picture, str(chance.randrange(1, 30)), (left - 10, top - 12), 20, (20, 20, 20), "plain")
    grain = noise.integers(-7, 8, picture.shape, dtype=np.int16)
    return np.asarray(np.clip(picture.astype(np.int16) + grain, 0, 255), np.uint8)


def _draw_boards(picture: Picture, horizon: int, chance: random.Random) -> None:
    left = 0
    while left < _DRAWN_WIDTH:
        width = chance.randrange(330, 520)
        colour = chance.choice(((180, 60, 20), (30, 30, 30), (20, 120, 210), (230, 230, 230)))
        cv2.rectangle(picture, (left, horizon), (left + width, horizon + 46), colour, -1)
        text = (20, 20, 20) if sum(colour) > 500 else (240, 240, 240)
        _write(picture, chance.choice(_BOARDS), (left + 18, horizon + 9), 28, text, chance.choice(list_fonts()))
        left += width


def _draw_scorebug(picture: Picture, bug: Scorebug, chance: random.Random) -> None:
    letters = 20 if bug.quality is Quality.TINY else chance.randrange(28, 40)
    background, ink, opacity = _CONTRASTS[bug.contrast]
    is_before = bug.notation in (Notation.KICK_OFF, Notation.TIME_OF_DAY)
    score = "V" if is_before else f"{chance.randrange(4)}{chance.choice('-–')}{chance.randrange(4)}"
    teams = chance.sample(_TEAMS, 2)
    cells = [(teams[0], ink), (score, ink), (teams[1], ink)]
    clock = [(text, ink) for text in bug.texts]
    row = [*clock, *cells] if chance.random() < 0.3 else [*cells, *clock]
    pad = letters * 2 // 3
    widths = [_draw_letters(text, letters, bug.font).shape[1] + 2 * pad for text, _ in row]
    left, top = _choose_corner(bug.place, sum(widths), letters + 2 * pad, chance)
    box = picture[top : top + letters + 2 * pad, left : left + sum(widths)]
    filled = np.empty_like(box)
    filled[:] = background
    box[:] = cv2.addWeighted(filled, opacity, box, 1 - opacity, 0)
    for (text, colour), width in zip(row, widths, strict=True):
        _write(picture, text, (left + pad, top + pad), letters, colour, bug.font)
        left += width
        cv2.line(picture, (left, top + 6), (left, top + letters + 2 * pad - 6), ink, 1)


def _choose_corner(place: Place, width: int, height: int, chance: random.Random) -> tuple[int, int]:
    margin = chance.randrange(40, 100)
    left = {
        Place.TOP_LEFT: margin,
        Place.BOTTOM_LEFT: margin,
        Place.TOP_RIGHT: _DRAWN_WIDTH - margin - width,
        Place.TOP_CENTRE: (_DRAWN_WIDTH - width) // 2,
        Place.BOTTOM_CENTRE: (_DRAWN_WIDTH - width) // 2,
    }[place]
    top = margin * 2 // 3 if place in (Place.TOP_LEFT, Place.TOP_CENTRE, Place.TOP_RIGHT) else 1000 - margin - height
    return left, top


def _write(picture: Picture, text: str, corner: tuple[int, int], height: int, colour: Colour, font: str) -> None:
    """Write letters of this height from the upper left corner; what exceeds the picture is cut off."""
    mask = _draw_letters(text, height, font)
    left, top = corner
    area = picture[top : top + mask.shape[0], max(left, 0) : left + mask.shape[1]]
    ink = mask[: area.shape[0], : area.shape[1], None].astype(np.float32) / 255
    area[:] = (area * (1 - ink) + np.array(colour, np.float32) * ink).astype(np.uint8)


def _draw_letters(text: str, height: int, font: str) -> Picture:
    """Draw white on black, exactly this high. Signs that are lower than a digit stay lower."""
    canvas = np.zeros((_LETTER_SIZE * 2, _LETTER_SIZE * (len(text) + 1), 3), np.uint8)
    stretch = 1.0
    if font == "plain":
        cv2.putText(canvas, text, (20, 130), cv2.FONT_HERSHEY_SIMPLEX, 3.2, (255, 255, 255), 7, cv2.LINE_AA)
        upper, lower = 60, 134
    elif font in _OUTLINE_FONTS:
        name, weight, stretch = _OUTLINE_FONTS[font]
        cv2.putText(canvas, text, (20, 130), (255, 255, 255), cv2.FontFace(name), _LETTER_SIZE, weight)
        upper, lower = 58, 132
    else:
        image = Image.fromarray(canvas)
        ImageDraw.Draw(image).text((20, 130), text, anchor="ls", font=ImageFont.load_default(_LETTER_SIZE))
        canvas = np.array(image)
        upper, lower = 58, 132
    columns = np.flatnonzero(canvas[..., 0].any(axis=0))
    cut = canvas[upper:lower, columns[0] : columns[-1] + 1, 0]
    width = max(1, round(cut.shape[1] * stretch * height / cut.shape[0]))
    return np.asarray(cv2.resize(cut, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
