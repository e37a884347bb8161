"""Draws scenes without football: a studio, a street, titles, fades, a black screen."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.spec import ClipSpec, Scene

Picture = NDArray[np.uint8]


def draw_other_scene(spec: ClipSpec) -> Iterator[Picture]:
    random = np.random.default_rng([spec.seed, 3])
    painter = _PAINTERS[spec.scene](spec, random)
    for number in range(round(spec.duration * spec.rate)):
        yield painter(number / spec.rate)


Painter = Callable[[float], Picture]


def _random_colour(random: np.random.Generator, low: int = 0, high: int = 255) -> tuple[int, int, int]:
    blue, green, red = (int(part) for part in random.integers(low, high, 3))
    return blue, green, red


def _fill(spec: ClipSpec, colour: tuple[int, int, int]) -> Picture:
    return np.full((spec.height, spec.width, 3), colour, dtype=np.uint8)


def _random_words(random: np.random.Generator, count: int) -> str:
    return " ".join("".join(random.choice(list("AEIOLMNRST"), 5)) for _ in range(count))


def _studio(spec: ClipSpec, random: np.random.Generator) -> Painter:
    coarse = random.integers(20, 200, (3, 5, 3)).astype(np.uint8)
    back = cv2.resize(coarse, (spec.width, spec.height), interpolation=cv2.INTER_CUBIC)
    suit, words, tempo = _random_colour(random, 10, 90), _random_words(random, 3), random.uniform(1.0, 3.0)

    def paint(seconds: float) -> Picture:
        shown = np.array(back, dtype=np.uint8)
        x = round(spec.width * (0.5 + 0.05 * np.sin(tempo * seconds)))
        y = round(spec.height * (0.42 + 0.02 * np.sin(tempo * 1.7 * seconds)))
        unit = spec.height // 10
        cv2.ellipse(shown, (x, y + 5 * unit), (3 * unit, 4 * unit), 0, 0, 360, suit, -1)
        cv2.ellipse(shown, (x, y), (unit + unit // 3, 2 * unit), 0, 0, 360, (120, 150, 205), -1)
        mouth = max(1, round(unit * 0.4 * abs(np.sin(tempo * 4 * seconds))))
        cv2.ellipse(shown, (x, y + unit), (unit // 2, mouth), 0, 0, 360, (40, 30, 90), -1)
        cv2.rectangle(shown, (0, spec.height - 2 * unit), (spec.width, spec.height - unit), (140, 40, 20), -1)
        place = (unit, spec.height - unit - unit // 4)
        cv2.putText(shown, words, place, cv2.FONT_HERSHEY_DUPLEX, unit / 40, (255, 255, 255), 1, cv2.LINE_AA)
        return shown

    return paint


def _street(spec: ClipSpec, random: np.random.Generator) -> Painter:
    houses = [(random.uniform(0, 3), random.uniform(0.2, 0.6), _random_colour(random, 40, 220)) for _ in range(14)]
    cars = [(random.uniform(-1, 2), random.uniform(0.1, 0.5), _random_colour(random)) for _ in range(6)]
    pan = random.uniform(-0.15, 0.15)

    def paint(seconds: float) -> Picture:
        shown = _fill(spec, (200, 170, 130))
        cv2.rectangle(shown, (0, round(spec.height * 0.7)), (spec.width, spec.height), (70, 70, 70), -1)
        for place, tall, colour in houses:
            left = round((place - 1 + pan * seconds) * spec.width)
            top = round(spec.height * (0.7 - tall))
            cv2.rectangle(shown, (left, top), (left + spec.width // 6, round(spec.height * 0.7)), colour, -1)
        for number, (place, speed, colour) in enumerate(cars):
            left = round((place + speed * seconds * (-1) ** number) * spec.width)
            top = round(spec.height * (0.74 + 0.035 * number))
            cv2.rectangle(shown, (left, top), (left + spec.width // 7, top + spec.height // 14), colour, -1)
        return shown

    return paint


def _title(spec: ClipSpec, random: np.random.Generator) -> Painter:
    card = _fill(spec, _random_colour(random, 0, 90))
    for line in range(int(random.integers(1, 4))):
        place = (spec.width // 10, spec.height * (line + 2) // 6)
        size = spec.height / 300
        cv2.putText(
            card, _random_words(random, 3), place, cv2.FONT_HERSHEY_DUPLEX, size, (255, 255, 255), 2, cv2.LINE_AA
        )
    return lambda _: card


def _flat(spec: ClipSpec, random: np.random.Generator) -> Painter:
    base = np.array(_random_colour(random, 20, 235), dtype=np.float64)

    def paint(_: float) -> Picture:
        return np.clip(base + random.normal(0, 2, (spec.height, spec.width, 1)), 0, 255).astype(np.uint8)

    return paint


def _fade(spec: ClipSpec, random: np.random.Generator) -> Painter:
    first, last = np.array(_random_colour(random, 0, 60)), np.array(_random_colour(random, 100, 255))

    def paint(seconds: float) -> Picture:
        share = seconds / spec.duration
        blue, green, red = (int(part) for part in first + (last - first) * share)
        return _fill(spec, (blue, green, red))

    return paint


def _black(spec: ClipSpec, random: np.random.Generator) -> Painter:
    black = _fill(spec, (0, 0, 0))
    return lambda _: black


_PAINTERS: dict[Scene, Callable[[ClipSpec, np.random.Generator], Painter]] = {
    Scene.STUDIO: _studio,
    Scene.STREET: _street,
    Scene.TITLE: _title,
    Scene.FLAT: _flat,
    Scene.FADE: _fade,
    Scene.BLACK: _black,
}
