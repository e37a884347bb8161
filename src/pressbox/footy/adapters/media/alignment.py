"""Finds how the picture of one film lies over the picture of another: cropped, turned, small inside something else.

Local features are matched between pictures of both films. What most of them agree on is an affine way from places of
the query to places of the reference.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.footy.adapters.media.films import Pictures
from pressbox.footy.domain.film_agreement import FILM_RATE, Overlay

Numbers = NDArray[np.float32]
Matrix = NDArray[np.float64]

_MOST_FEATURES = 100
_MARK = 128
# How much nearer the best match must be than the second best.
_RATIO = 0.85
_LEAST_MATCHES = 6
_TOLERANCE = 2.0
_MOST_QUERY_KEYS = 12
_KEY_STEP = FILM_RATE // 2
_MOST_REFERENCE_KEYS = 120
_PAIRS_TRIED = 20
_LEAST_SCALE, _MOST_SCALE, _MOST_STRETCH = 0.2, 5.0, 1.6
_LEAST_SHARED = 0.08
_SMOOTHING = 0.8


@dataclass(frozen=True)
class Features:
    points: Numbers
    marks: Numbers


@dataclass(frozen=True)
class Pairing:
    """A picture of the query, one of the reference, and the way between them with the number of points that agree."""

    query: int
    reference: int
    way: Matrix
    agreeing: int


class FilmFeatures:
    """The pictures of a film with their local features, which are looked for when they are needed first."""

    def __init__(self, pictures: Pictures) -> None:
        self.pictures = pictures
        self._known: dict[int, Features] = {}

    def at(self, number: int) -> Features:
        if number not in self._known:
            self._known[number] = _find_features(self.pictures[number])
        return self._known[number]

    def keys(self, most: int) -> list[int]:
        step = max(_KEY_STEP, -(-len(self.pictures) // most))
        return list(range(step // 2, len(self.pictures), step))

    @cached_property
    def mirrored(self) -> "FilmFeatures":
        """The same film in the mirror, whose features follow from those that are known."""
        flipped = FilmFeatures(np.ascontiguousarray(self.pictures[:, :, ::-1]))
        width = self.pictures.shape[2]
        for number, known in self._known.items():
            points = np.column_stack((width - 1 - known.points[:, 0], known.points[:, 1]))
            flipped._known[number] = Features(points, known.marks[:, _IN_THE_MIRROR])
        return flipped


def _in_the_mirror() -> NDArray[np.intp]:
    """The order of a mark's 4 × 4 × 8 numbers in the mirror: rows upside down, directions the other way round."""
    rows, columns, directions = np.meshgrid(np.arange(4), np.arange(4), np.arange(8), indexing="ij")
    return ((3 - rows) * 32 + columns * 8 + (8 - directions) % 8).reshape(-1)


_IN_THE_MIRROR = _in_the_mirror()


def find_pairings(query: FilmFeatures, reference: FilmFeatures) -> list[Pairing]:
    """Pictures of both films that show the same place, those with the most points first."""
    keys = reference.keys(_MOST_REFERENCE_KEYS)
    stacked = np.zeros((len(keys), _MOST_FEATURES, _MARK), dtype=np.float32)
    for place, key in enumerate(keys):
        marks = reference.at(key).marks
        stacked[place, : len(marks)] = marks
    counts = [
        (int(count), number, key)
        for number in query.keys(_MOST_QUERY_KEYS)
        for key, count in zip(keys, _count_matches(query.at(number), stacked), strict=True)
        if count >= _LEAST_MATCHES
    ]
    counts.sort(key=lambda each: (-each[0], each[1:]))
    found = (pair_up(query, number, reference, key) for _, number, key in counts[:_PAIRS_TRIED])
    return sorted((each for each in found if each is not None), key=lambda each: -each.agreeing)


def pair_up(query: FilmFeatures, number: int, reference: FilmFeatures, key: int) -> Pairing | None:
    """Find the way from one picture to another, if enough points agree on one that people could have made."""
    return _find_way(number, key, *_match(query.at(number), reference.at(key)))


def pair_up_all(query: FilmFeatures, reference: FilmFeatures, moments: Sequence[tuple[int, int]]) -> Pairing | None:
    """Find the one way that holds for several pairs of pictures, the first of which leads: it is more exact."""
    matched = [_match(query.at(number), reference.at(key)) for number, key in moments]
    ours, theirs = (np.concatenate(points) for points in zip(*matched, strict=True))
    return _find_way(*moments[0], ours, theirs)


def _find_way(number: int, key: int, ours: Numbers, theirs: Numbers) -> Pairing | None:
    if len(ours) < _LEAST_MATCHES:
        return None
    way, agreeing = cv2.estimateAffine2D(
        ours, theirs, method=cv2.RANSAC, ransacReprojThreshold=_TOLERANCE, maxIters=300, confidence=0.99
    )
    if way is None or int(agreeing.sum()) < _LEAST_MATCHES or not _is_plausible(way):
        return None
    return Pairing(number, key, np.asarray(way, dtype=np.float64), int(agreeing.sum()))


def group_by_way(pairings: Sequence[Pairing], shape: tuple[int, ...], most: int, apart: float) -> list[list[Pairing]]:
    """Group pairings whose ways put the corners of the picture on nearly the same places."""
    groups: list[tuple[Matrix, list[Pairing]]] = []
    for pairing in pairings:
        corners = _corners(pairing.way, shape)
        near = next((group for placed, group in groups if np.abs(corners - placed).mean() <= apart), None)
        if near is not None:
            near.append(pairing)
        elif len(groups) < most:
            groups.append((corners, [pairing]))
    return [group for _, group in groups]


def lay_over(query: Pictures, reference: Pictures, way: Matrix, side: int) -> Overlay | None:
    """Put the common part of both on one grid of about `side` × `side` places.

    It is the grid of the film that shows the common part smaller. The part decides, not the picture around it: small
    players in a small picture must not vanish.
    """
    if _scale(way) < 1:
        swapped = lay_over(reference, query, np.asarray(cv2.invertAffineTransform(way), np.float64), side)
        return None if swapped is None else Overlay(swapped.reference, swapped.query, swapped.shared)
    height, width = query.shape[1:]
    share = _share(query.shape, reference.shape, way)
    if share < _LEAST_SHARED:
        return None
    shrunk = min(1.0, side / np.sqrt(share * width * height))
    size = (max(4, round(width * shrunk)), max(4, round(height * shrunk)))
    # From a place of the grid to a place of the query, and on to the reference.
    enlarge = np.array([[1 / shrunk, 0, (1 / shrunk - 1) / 2], [0, 1 / shrunk, (1 / shrunk - 1) / 2], [0, 0, 1]])
    warped, shared = _warp(reference, way @ enlarge, size)
    if not shared.any():
        return None
    ours = np.stack([_smooth(cv2.resize(each, size, interpolation=cv2.INTER_AREA)) for each in query])
    rows, columns = np.flatnonzero(shared.any(axis=1)), np.flatnonzero(shared.any(axis=0))
    part = np.s_[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return Overlay(ours[:, *part], warped[:, *part], shared[part])


def shares(query: tuple[int, ...], reference: tuple[int, ...], way: Matrix) -> tuple[float, float]:
    """Which share of its own picture each of two films shows of the other."""
    back = np.asarray(cv2.invertAffineTransform(way), dtype=np.float64)
    return _share(query, reference, way), _share(reference, query, back)


def turn_of(way: Matrix) -> float:
    """By how many degrees a way turns the picture."""
    return float(np.degrees(np.arctan2(way[1, 0] - way[0, 1], way[0, 0] + way[1, 1])))


def _find_features(picture: NDArray[np.uint8]) -> Features:
    detector = cv2.SIFT.create(nfeatures=_MOST_FEATURES, contrastThreshold=0.02, edgeThreshold=12)
    points, marks = detector.detectAndCompute(picture, None)
    if marks is None or len(points) < _LEAST_MATCHES:
        return Features(np.zeros((0, 2), dtype=np.float32), np.zeros((0, _MARK), dtype=np.float32))
    marks = marks[:_MOST_FEATURES]
    # Square roots of shares compare better than the plain numbers.
    rooted = np.sqrt(marks / np.maximum(marks.sum(axis=1, keepdims=True), 1e-6))
    return Features(np.array([each.pt for each in points[:_MOST_FEATURES]], dtype=np.float32), rooted)


def _count_matches(ours: Features, stacked: Numbers) -> Iterator[int]:
    """How many of our points have a match in each picture of the other film."""
    if len(ours.marks) == 0:
        return iter([0] * len(stacked))
    near = (ours.marks @ stacked.reshape(-1, _MARK).T).reshape(len(ours.marks), *stacked.shape[:2])
    best, second = _two_nearest(near)
    return iter(_is_clear(best, second).sum(axis=0).tolist())


def _match(ours: Features, theirs: Features) -> tuple[Numbers, Numbers]:
    """Pairs of points that are each other's best match, and clearly so."""
    if min(len(ours.marks), len(theirs.marks)) < _LEAST_MATCHES:
        return ours.points[:0], theirs.points[:0]
    near = ours.marks @ theirs.marks.T
    chosen = near.argmax(axis=1)
    mutual = near.argmax(axis=0)[chosen] == np.arange(len(chosen))
    clear = _is_clear(*_two_nearest(near)) & mutual
    return ours.points[clear], theirs.points[chosen[clear]]


def _two_nearest(near: Numbers) -> tuple[Numbers, Numbers]:
    top = np.partition(near, -2, axis=-1)[..., -2:]
    return top[..., 1], top[..., 0]


def _is_clear(best: Numbers, second: Numbers) -> NDArray[np.bool_]:
    """Compare distances: marks have length one, so the distance follows from the product."""
    return (1 - best) < _RATIO**2 * (1 - second)


def _is_plausible(way: "cv2.typing.MatLike") -> bool:
    large, small = np.linalg.svd(way[:, :2], compute_uv=False)
    upright = np.linalg.det(way[:, :2]) > 0
    return bool(upright and small > _LEAST_SCALE and large < _MOST_SCALE and large < _MOST_STRETCH * small)


def _scale(way: Matrix) -> float:
    return float(np.sqrt(abs(np.linalg.det(way[:, :2]))))


def _corners(way: Matrix, shape: tuple[int, ...]) -> Matrix:
    height, width = shape[-2:]
    return np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]]) @ way.T


def _warp(pictures: Pictures, way: Matrix, size: tuple[int, int]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Bring pictures onto a grid; a way that shrinks them much shrinks them by averages first."""
    height, width = pictures.shape[1:]
    scale = _scale(way)
    if scale > 1:
        smaller = (max(8, round(width / scale)), max(8, round(height / scale)))
        across, down = smaller[0] / width, smaller[1] / height
        way = np.array([[across, 0, (across - 1) / 2], [0, down, (down - 1) / 2]]) @ np.vstack((way, (0, 0, 1)))
        shown = [cv2.resize(each, smaller, interpolation=cv2.INTER_AREA) for each in pictures]
    else:
        shown = list(pictures)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    warped = np.stack([_smooth(cv2.warpAffine(each, way, size, flags=flags)) for each in shown])
    full = np.full(shown[0].shape[:2], 255, dtype=np.uint8)
    covered = (cv2.warpAffine(full, way, size, flags=flags) > 250).astype(np.uint8)
    # The outermost points are mixed with what lies outside.
    return warped, cv2.erode(covered, np.ones((3, 3), dtype=np.uint8), borderValue=0).astype(bool)


def _smooth(picture: "cv2.typing.MatLike") -> Numbers:
    return np.asarray(cv2.GaussianBlur(picture.astype(np.float32), (0, 0), _SMOOTHING), dtype=np.float32)


def _share(shape: tuple[int, ...], other: tuple[int, ...], way: Matrix) -> float:
    full = np.full(other[-2:], 255, dtype=np.uint8)
    size = (shape[-1], shape[-2])
    return float((cv2.warpAffine(full, way, size, flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP) > 0).mean())
