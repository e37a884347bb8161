"""Measures how well what moves in two films agrees. Pure; numpy does the arithmetic.

The films lie over each other already. A camera that turns moves everything, and two goals of one match are filmed by
the same camera: what a moving, zooming or turning camera and a change of brightness explain is taken away first.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pressbox.footy.domain.film_rule import Agreement

FILM_RATE = 12
# Between the two pictures of a difference: players have moved by then.
LAG = 6
_PART = 6
# The poorest tenth of the parts may be an accident, such as one damaged picture.
_POOREST = 0.1
_TRIES_PER_LENGTH = 3
# The contrast of noise, in grey levels from one point to the next.
_FAINT = np.float32(4.0)
# The size of a place on the grid, the contrast from which something is seen there, and how alike it must be.
_PLACE = 6
_VISIBLE = 6.0
_ALIKE = 0.5
_LEAST_SHARED = 0.05

Numbers = NDArray[np.float32]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class Overlay:
    """Two films on one grid. Both arrays hold pictures by time; `shared` marks the places that both show."""

    query: Numbers
    reference: Numbers
    shared: NDArray[np.bool_]


@dataclass(frozen=True)
class Times:
    """Which moments are compared: picture `speed` × t + offset of the reference with picture t of the query."""

    offsets: Sequence[int]
    speed: float = 1.0


def measure(overlay: Overlay, times: Iterable[Times], lengths: Sequence[float]) -> Iterator[Agreement]:
    """For each speed and each length in seconds, yield the best agreements."""
    if len(overlay.query) - LAG < _PART or overlay.shared.mean() < _LEAST_SHARED:
        return
    ours = moving_parts(overlay.query, overlay.shared, LAG)
    alike = _unit(overlay.query[:, overlay.shared]) @ _unit(overlay.reference[:, overlay.shared]).T
    for each in times:
        lag = max(1, round(LAG * each.speed))
        if len(overlay.reference) - lag < _PART:
            continue
        theirs = moving_parts(overlay.reference, overlay.shared, lag)
        yield from _agreements(_Table(ours, theirs, alike), each, lengths)


def drop_foreign_places(overlay: Overlay, moments: Sequence[tuple[int, int]]) -> Overlay:
    """Leave out what only one of the films shows, such as bars, captions and backgrounds.

    These are places with something to see in either film that is not alike at the same moments. Whether they move is
    not asked: choosing places by that would make strangers agree.
    """
    ours = overlay.query[[number for number, _ in moments]]
    theirs = overlay.reference[[number for _, number in moments]]
    height, width = overlay.shared.shape
    kept = np.zeros_like(overlay.shared)
    for top in range(0, height, _PLACE):
        for left in range(0, width, _PLACE):
            place = np.s_[top : top + _PLACE, left : left + _PLACE]
            shared = overlay.shared[place]
            kept[place] = _is_alike(ours[:, *place][:, shared], theirs[:, *place][:, shared])
    return replace(overlay, shared=overlay.shared & kept)


def _is_alike(ours: Numbers, theirs: Numbers) -> bool:
    if ours.size == 0:
        return False
    ours, theirs = ours - ours.mean(axis=1, keepdims=True), theirs - theirs.mean(axis=1, keepdims=True)
    spread, other = float(np.sqrt((ours**2).mean())), float(np.sqrt((theirs**2).mean()))
    return max(spread, other) < _VISIBLE or float((ours * theirs).mean()) > _ALIKE * spread * other


def moving_parts(pictures: Numbers, shared: NDArray[np.bool_], lag: int) -> Numbers:
    """What changes from each picture to a later one, without what the camera and the light explain: a row per time.

    Where there are edges, a camera that moves a little changes much. Changes count in shares of the contrast that is
    there, so that a player on the grass weighs more than the lines and the crowd.
    """
    before, after = pictures[:-lag], pictures[lag:]
    between = (before + after) / 2
    across, down = np.gradient(between, axis=2)[:, shared], np.gradient(between, axis=1)[:, shared]
    light = between[:, shared]
    change = (after - before)[:, shared]
    rows, columns = np.nonzero(shared)
    x, y = _centred(columns), _centred(rows)
    light, change = light - light.mean(axis=1, keepdims=True), change - change.mean(axis=1, keepdims=True)
    # Brightness, two directions, zoom, turn.
    causes = np.stack((light, across, down, x * across + y * down, x * down - y * across), axis=1)
    evenness = 1 / (np.hypot(across, down) + _FAINT)
    causes, change = causes * evenness[:, None], change * evenness
    weights = causes @ causes.transpose(0, 2, 1)
    # Flat pictures have no causes; without this their equations have no solution.
    spread = np.trace(weights, axis1=1, axis2=2) / causes.shape[1]
    weights += np.eye(causes.shape[1], dtype=np.float32) * (1e-4 * spread + 1e-6)[:, None, None]
    shares = np.linalg.solve(weights, causes @ change[:, :, None])
    return np.asarray(change - (shares.transpose(0, 2, 1) @ causes)[:, 0], dtype=np.float32)


def _centred(places: Places) -> Numbers:
    return np.asarray((places - places.mean()) / 20, dtype=np.float32)


def _unit(rows: Numbers) -> Numbers:
    centred = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(centred / (np.linalg.norm(centred, axis=1, keepdims=True) + 1e-6), dtype=np.float32)


class _Table:
    """Products of what moves at every time of one film and every time of the other, and how alike the pictures are."""

    def __init__(self, ours: Numbers, theirs: Numbers, alike: Numbers) -> None:
        self.products = ours @ theirs.T
        self.ours, self.theirs = (ours * ours).sum(axis=1), (theirs * theirs).sum(axis=1)
        self.alike = alike


def _agreements(table: _Table, times: Times, lengths: Sequence[float]) -> Iterator[Agreement]:
    offsets = np.asarray(times.offsets, dtype=np.intp)
    moments = np.arange(len(table.ours))
    places = np.round(offsets[:, None] + moments * times.speed).astype(np.intp)
    inside = (places >= 0) & (places < len(table.theirs))
    places = np.where(inside, places, 0)
    # Sums up to each time; a difference of two is the sum between them. Times outside of a film add nothing.
    together = _sums(np.where(inside, table.products[moments, places], 0))
    ours = _sums(np.where(inside, table.ours, 0))
    theirs = _sums(np.where(inside, table.theirs[places], 0))
    present = _sums(inside.astype(np.float64))
    parts = _correlations(together, ours, theirs, _PART)
    for seconds in lengths:
        length = round(seconds * FILM_RATE)
        if length > len(moments):
            continue
        whole = np.where(
            present[:, length:] - present[:, :-length] == length, _correlations(together, ours, theirs, length), -1
        )
        for place in np.argsort(whole.max(axis=1))[::-1][:_TRIES_PER_LENGTH]:
            begin = int(whole[place].argmax())
            if whole[place, begin] <= 0:
                continue
            within = slice(begin, begin + length)
            pictures = table.alike[moments[within], places[place, within]]
            yield Agreement(
                seconds=seconds,
                moving=float(whole[place, begin]),
                least=float(np.quantile(parts[place, begin : begin + length - _PART + 1], _POOREST)),
                still=float(pictures.min()),
                begin=begin / FILM_RATE,
                offset=float(offsets[place] / FILM_RATE),
                speed=times.speed,
            )


def _sums(values: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.concatenate((np.zeros((len(values), 1)), np.cumsum(values, axis=1, dtype=np.float64)), axis=1)


def _correlations(
    together: NDArray[np.float64], ours: NDArray[np.float64], theirs: NDArray[np.float64], length: int
) -> NDArray[np.float64]:
    energy = (ours[:, length:] - ours[:, :-length]) * (theirs[:, length:] - theirs[:, :-length])
    return np.asarray((together[:, length:] - together[:, :-length]) / np.sqrt(np.maximum(energy, 1e-6)))
