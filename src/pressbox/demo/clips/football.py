"""Draws an invented football match: a stadium, a camera that follows the ball, twenty-two players."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.demo.clips.spec import Camera, ClipSpec

Picture = NDArray[np.uint8]
Numbers = NDArray[np.float64]

_LENGTH, _WIDTH = 105.0, 68.0
_MARGIN = 12.0
_TEXELS = 8  # of the lawn, per metre
_STAND_TEXELS = 10
_STAND_HEIGHT = 22.0


@dataclass(frozen=True)
class Stadium:
    lawn: Picture
    stand: Picture
    shirts: tuple[tuple[int, int, int], tuple[int, int, int]]
    position: Numbers
    distance: float


@dataclass(frozen=True)
class Shot:
    """What one camera shows from `begin` to `end`; a replay shows the play at another speed."""

    begin: float
    end: float
    position: Numbers
    distance: float
    play_begin: float
    play_speed: float
    # Which share of the ball's way the camera follows.
    follows: float = 1.0


def draw_football(spec: ClipSpec) -> Iterator[Picture]:
    stadium = _build_stadium(spec.broadcast)
    random = np.random.default_rng([spec.seed, 1])
    play = _Play(random, spec.duration)
    tactical = spec.camera is Camera.TACTICAL
    shots = _plan_tactical(random, stadium, spec.duration) if tactical else _plan_shots(random, stadium, spec.duration)
    for number in range(round(spec.duration * spec.rate)):
        seconds = number / spec.rate
        shot = next(shot for shot in shots if seconds < shot.end or shot is shots[-1])
        moment = shot.play_begin + (seconds - shot.begin) * shot.play_speed
        yield _draw_picture(spec, stadium, shot, play, moment)


class _Play:
    """Smooth movements of the ball and the players. The ball ends in the goal."""

    def __init__(self, random: np.random.Generator, duration: float) -> None:
        self._duration = duration
        side = random.choice((0.0, _LENGTH))
        start = (_LENGTH / 2 + random.uniform(-25, 25), random.uniform(12, 56))
        middle = (abs(side - random.uniform(14, 26)), random.uniform(8, 60))
        self._ball = np.array([start, middle, (abs(side - 1.0), _WIDTH / 2 + random.uniform(-3, 3))])
        self._bend = random.uniform(-9, 9)
        self._homes = np.column_stack((random.uniform(3, 102, 22), random.uniform(3, 65, 22)))
        self._pull = random.uniform(0.25, 0.8, 22)
        self._wander = random.uniform(0.5, 3.5, (22, 2))
        self._tempo = random.uniform(0.25, 0.9, (22, 2))
        self._phase = random.uniform(0, 6.3, (22, 2))
        self.sway = random.uniform(0.2, 0.9)
        self.lag = random.uniform(0.3, 0.9)

    def ball(self, moment: float) -> Numbers:
        share = min(max(moment / (0.75 * self._duration), 0.0), 1.0)
        first, second, third = self._ball
        place = (1 - share) ** 2 * first + 2 * share * (1 - share) * second + share**2 * third
        place[1] += self._bend * np.sin(np.pi * share)
        return np.asarray(place, dtype=np.float64)

    def players(self, moment: float) -> Numbers:
        pulled = self._homes + (self.ball(moment - self.lag) - self._homes) * self._pull[:, None] * 0.6
        places = pulled + self._wander * np.sin(self._tempo * moment * 2 + self._phase)
        return np.asarray(places, dtype=np.float64)


def _plan_shots(random: np.random.Generator, stadium: Stadium, duration: float) -> list[Shot]:
    """The main camera, and in longer clips a replay from behind the goal line or from close by."""
    main = stadium.position
    if duration < 4.0 or random.random() < 0.3:
        return [Shot(0.0, duration, main, stadium.distance, 0.0, 1.0)]
    cut = duration * random.uniform(0.55, 0.75)
    other = np.array([random.choice((-14.0, _LENGTH + 14.0)), random.uniform(5, 30), random.uniform(7, 14)])
    replay = Shot(cut, duration, other, stadium.distance * random.uniform(0.8, 1.2), cut * 0.45, 0.6)
    return [Shot(0.0, cut, main, stadium.distance, 0.0, 1.0), replay]


def _plan_tactical(random: np.random.Generator, stadium: Stadium, duration: float) -> list[Shot]:
    """One camera high above the main one, which shows most of the pitch and turns a little."""
    high = stadium.position + np.array((0.0, -24.0, 10.0))
    return [Shot(0.0, duration, high, stadium.distance * 0.8, 0.0, 1.0, random.uniform(0.2, 0.5))]


def _draw_picture(spec: ClipSpec, stadium: Stadium, shot: Shot, play: _Play, moment: float) -> Picture:
    centre = np.array((_LENGTH / 2, _WIDTH * 0.51))
    aim: Numbers = centre + (play.ball(moment - play.lag) - centre) * (0.75, 0.45) * shot.follows
    aim += np.array((0.6 * np.sin(play.sway * moment * 3), 0.4 * np.sin(play.sway * moment * 2 + 1))) * shot.follows
    zoom = shot.distance * (1 + 0.08 * shot.follows * np.sin(play.sway * moment * 1.3))
    camera = _camera_matrix(spec, shot.position, np.array([aim[0], aim[1], 1.0]), zoom)
    size = (spec.width, spec.height)
    shown = cv2.warpPerspective(stadium.lawn, camera @ _LAWN, size, flags=cv2.INTER_LINEAR, borderValue=(74, 62, 56))
    _paint_stand(shown, stadium, camera, size)
    _paint_people(shown, stadium, camera, play, moment)
    return np.asarray(shown, dtype=np.uint8)


def _paint_stand(shown: "cv2.typing.MatLike", stadium: Stadium, camera: Numbers, size: tuple[int, int]) -> None:
    """Paint the crowd behind the far touchline, as a wall."""
    wall = np.array([[1 / _STAND_TEXELS, 0, -_MARGIN * 4], [0, 0, _WIDTH + 6], [0, -1 / _STAND_TEXELS, _STAND_HEIGHT]])
    ways = camera[:, :3] @ wall + np.outer(camera[:, 3], (0, 0, 1))
    corners = ways @ np.array([[0, 0, 1], [stadium.stand.shape[1], 0, 1]]).T
    if (corners[2] <= 0).any():
        return
    # Pixels outside the wall stay as they are.
    cv2.warpPerspective(stadium.stand, ways, size, shown, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)


def _paint_people(shown: "cv2.typing.MatLike", stadium: Stadium, camera: Numbers, play: _Play, moment: float) -> None:
    places = play.players(moment)
    for number in np.argsort(-places[:, 1]):
        x, y = places[number]
        feet, head = _project(camera, (x, y, 0.0)), _project(camera, (x, y, 1.85))
        if feet is None or head is None:
            continue
        tall = max(3, feet[1] - head[1])
        stride = round(0.22 * tall * np.sin(6 * moment + number))
        half = max(1, tall // 6)
        hips = (feet[0], feet[1] - tall * 45 // 100)
        thick = max(1, tall // 9)
        cv2.line(shown, hips, (feet[0] - stride, feet[1]), (40, 40, 60), thick)
        cv2.line(shown, hips, (feet[0] + stride, feet[1]), (40, 40, 60), thick)
        shirt = stadium.shirts[int(number) % 2]
        cv2.rectangle(shown, (feet[0] - half, head[1] + tall // 6), (feet[0] + half, hips[1]), shirt, -1)
        cv2.circle(shown, (feet[0], head[1] + tall // 12), max(1, tall // 9), (90, 130, 190), -1)
    ball = play.ball(moment)
    spot = _project(camera, (ball[0], ball[1], 0.3 + abs(1.2 * np.sin(moment * 3))))
    if spot is not None:
        cv2.circle(shown, spot, 2, (245, 245, 245), -1)


def _camera_matrix(spec: ClipSpec, position: Numbers, aim: Numbers, distance: float) -> Numbers:
    """The 3 × 4 matrix from places in metres to places in the picture."""
    forward = (aim - position) / np.linalg.norm(aim - position)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    down = np.cross(forward, right)
    turn = np.stack((right, down, forward))
    focal = distance * spec.width
    lens = np.array([[focal, 0, spec.width / 2], [0, focal, spec.height / 2], [0, 0, 1.0]])
    return np.asarray(lens @ np.column_stack((turn, -turn @ position)), dtype=np.float64)


# The matrix from points of the lawn's texture to places in metres.
_LAWN = np.array([[1 / _TEXELS, 0, -_MARGIN], [0, 1 / _TEXELS, -_MARGIN], [0, 0, 0], [0, 0, 1]])


def _project(camera: Numbers, place: tuple[float, float, float]) -> tuple[int, int] | None:
    x, y, depth = camera @ np.array((*place, 1.0))
    if depth <= 0.5 or abs(x) > 4000 * depth or abs(y) > 4000 * depth:
        return None
    return round(x / depth), round(y / depth)


@lru_cache(maxsize=4)
def _build_stadium(broadcast: int) -> Stadium:
    random = np.random.default_rng([broadcast, 2])
    shirts = random.choice(len(_SHIRTS), 2, replace=False)
    position = np.array([_LENGTH / 2 + random.uniform(-4, 4), -random.uniform(24, 34), random.uniform(15, 22)])
    return Stadium(
        lawn=_build_lawn(random),
        stand=_build_stand(random),
        shirts=(_SHIRTS[shirts[0]], _SHIRTS[shirts[1]]),
        position=position,
        distance=random.uniform(1.1, 1.5),
    )


_SHIRTS = ((40, 40, 210), (220, 220, 220), (200, 120, 20), (20, 200, 230), (30, 30, 30), (110, 20, 120))


def _build_lawn(random: np.random.Generator) -> Picture:
    """A lawn with stripes, worn patches and the lines of the pitch."""
    across, along = int((_WIDTH + 2 * _MARGIN) * _TEXELS), int((_LENGTH + 2 * _MARGIN) * _TEXELS)
    stripe = (np.arange(along) // int(random.uniform(4.5, 7.0) * _TEXELS) % 2) * random.uniform(8, 16)
    worn = cv2.resize(random.normal(0, 6, (18, 26)), (along, across), interpolation=cv2.INTER_CUBIC)
    fine = random.normal(0, 3, (across, along))
    bright = stripe[None] + worn + fine
    colour = np.array([random.uniform(40, 60), random.uniform(115, 140), random.uniform(48, 70)])
    lawn: Picture = np.clip(bright[..., None] * (0.6, 1.0, 0.6) + colour, 0, 255).astype(np.uint8)
    for line in _pitch_lines():
        points = ((np.array(line) + _MARGIN) * _TEXELS).astype(np.int32)
        cv2.polylines(lawn, [points], False, (235, 240, 235), 2, cv2.LINE_AA)
    return lawn


def _pitch_lines() -> Iterator[list[tuple[float, float]]]:
    yield [(0, 0), (_LENGTH, 0), (_LENGTH, _WIDTH), (0, _WIDTH), (0, 0)]
    yield [(_LENGTH / 2, 0), (_LENGTH / 2, _WIDTH)]
    turns = np.linspace(0, 2 * np.pi, 60)
    yield [(_LENGTH / 2 + 9.15 * float(np.cos(turn)), _WIDTH / 2 + 9.15 * float(np.sin(turn))) for turn in turns]
    for goal, way in ((0.0, 1), (_LENGTH, -1)):
        for depth, half in ((16.5, 20.16), (5.5, 9.16), (-2.0, 3.66)):
            near, far = _WIDTH / 2 - half, _WIDTH / 2 + half
            yield [(goal, near), (goal + way * depth, near), (goal + way * depth, far), (goal, far)]


def _build_stand(random: np.random.Generator) -> Picture:
    """A stand with people as coloured specks, above a row of advertising boards."""
    width, height = int((_LENGTH + 8 * _MARGIN) * _STAND_TEXELS), int(_STAND_HEIGHT * _STAND_TEXELS)
    blocks = cv2.resize(random.uniform(30, 120, (5, 24, 3)), (width, height), interpolation=cv2.INTER_NEAREST)
    specks = random.integers(0, 100, (height // 5, width // 4, 3)).astype(np.float64)
    people = cv2.resize(specks, (width, height), interpolation=cv2.INTER_NEAREST)
    stand: Picture = np.clip(blocks + people, 4, 255).astype(np.uint8)
    top = height - 2 * _STAND_TEXELS
    for number in range(int(width / 150)):
        colour = tuple(int(part) for part in random.integers(60, 255, 3))
        left = number * 150
        cv2.rectangle(stand, (left, top), (left + 148, height), colour, -1)
        word = "".join(random.choice(list("ABEKLMNORSTU"), 6))
        cv2.putText(stand, word, (left + 12, height - 4), cv2.FONT_HERSHEY_SIMPLEX, 0.7, (20, 20, 20), 2)
    return stand
