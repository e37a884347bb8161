"""Where an entity and its neighbours stand in a picture: left and right of it, line by line, never over each other.

Pure, and the same for the same neighbours. Sizes are those of the picture's own coordinates.
"""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pressbox.curator.context.domain.context import EntityKind
from pressbox.curator.graph.domain.graph import EntityView, Neighbour

WIDTH = 920
ROW = 64
CHIP = 34
MARGIN = 28
WIDEST_CHIP = 200
WIDEST_MIDDLE = 200
# What a letter takes in the picture's fonts, a wide one twice as much; the browser's own may be a little wider.
LETTER = 8.0
LABEL_LETTER = 6.8
PADDING = 38
LEFT, RIGHT = MARGIN + WIDEST_CHIP, WIDTH - MARGIN - WIDEST_CHIP
LEAST_ROWS = 3


@dataclass(frozen=True)
class Spot:
    """A node as it is drawn: its box, and what of its name fits."""

    key: str
    name: str
    shown: str
    kind: EntityKind
    x: float
    y: float
    width: float
    height: float = CHIP

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True)
class Line:
    """From one node to another. `toward` and `from_it`: which ends have arrows, seen from the middle."""

    path: str
    label: str = ""
    shown: str = ""
    label_x: float = 0
    label_y: float = 0
    anchor: str = "start"
    said: bool = True
    toward: bool = False
    from_it: bool = False


@dataclass(frozen=True)
class Picture:
    width: int
    height: int
    middle: Spot
    spots: Sequence[Spot]
    lines: Sequence[Line]
    among: Sequence[Line]


def drawn(entity: EntityView, tie: Callable[[str, int], str]) -> Picture:
    """Who points to the entity stands left as far as both sides stay even. `tie` words a relation."""
    ordered = sorted(entity.neighbours, key=_points_away)
    half = len(ordered) // 2 + (len(ordered) % 2 and _more_point_here(ordered))
    sides = (ordered[:half], ordered[half:])
    rows = max(LEAST_ROWS, *map(len, sides))
    height = rows * ROW + 2 * MARGIN
    middle = _middle(entity, height)
    placed = [
        (neighbour, _spot(neighbour, on_the_left, _height_of(number, len(side), height)))
        for side, on_the_left in zip(sides, (True, False), strict=True)
        for number, neighbour in enumerate(side)
    ]
    spots = {spot.key: spot for _, spot in placed}
    return Picture(
        width=WIDTH,
        height=height,
        middle=middle,
        spots=[spot for _, spot in placed],
        lines=[_line(neighbour, spot, middle, tie) for neighbour, spot in placed],
        among=[_arc(spots[one], spots[other]) for one, other in entity.among if one in spots and other in spots],
    )


def _points_away(neighbour: Neighbour) -> bool:
    return not neighbour.relations or neighbour.relations[0].outgoing


def _more_point_here(ordered: Sequence[Neighbour]) -> int:
    return int(sum(not _points_away(one) for one in ordered) * 2 > len(ordered))


def _height_of(number: int, of: int, height: int) -> float:
    """The middle of a line; a side with fewer lines stands around the middle of the picture."""
    return height / 2 + (number - (of - 1) / 2) * ROW


def _middle(entity: EntityView, height: int) -> Spot:
    shown, width = _lock_unchanged(entity.name, WIDEST_MIDDLE - PADDING, LETTER * 1.12)
    box = 44
    return Spot(
        entity.key,
        entity.name,
        shown,
        entity.kind,
        (WIDTH - width - PADDING) / 2,
        (height - box) / 2,
        width + PADDING,
        box,
    )


def _spot(neighbour: Neighbour, on_the_left: bool, at: float) -> Spot:
    shown, width = _lock_unchanged(neighbour.name, WIDEST_CHIP - PADDING, LETTER)
    x = LEFT - width - PADDING if on_the_left else RIGHT
    return Spot(neighbour.key, neighbour.name, shown, neighbour.kind, x, at - CHIP / 2, width + PADDING)


def _line(neighbour: Neighbour, spot: Spot, middle: Spot, tie: Callable[[str, int], str]) -> Line:
    on_the_left = spot.x < middle.x
    begin = (middle.x if on_the_left else middle.x + middle.width, middle.middle)
    end = (LEFT if on_the_left else RIGHT, spot.middle)
    # It turns near the middle, so that words beside the neighbours stand free.
    span = end[0] - begin[0]
    label = ", ".join(dict.fromkeys(str(tie(one.word, one.entries)) for one in neighbour.relations))
    room = abs(end[0] - begin[0]) - 14
    # Beyond the line's bend: above it where the line comes from below, and below it otherwise.
    above = spot.middle <= middle.middle
    return Line(
        path=_curve(begin, begin[0] + span * 0.2, end[0] - span * 0.85, end),
        label=label,
        shown=_lock_unchanged(label, min(room, 170), LABEL_LETTER)[0],
        label_x=end[0] + (8 if on_the_left else -8),
        label_y=end[1] - 7 if above else end[1] + 15,
        anchor="start" if on_the_left else "end",
        said=neighbour.related,
        toward=any(one.stated and one.outgoing for one in neighbour.relations),
        from_it=any(one.stated and not one.outgoing for one in neighbour.relations),
    )


def _arc(one: Spot, other: Spot) -> Line:
    """Between two neighbours: outside of them on one side, through the picture from side to side."""
    left, right = one.x < WIDTH / 2, other.x < WIDTH / 2
    if left == right:
        edge = 4.0 if left else WIDTH - 4.0
        begin, end = (spot.x if left else spot.x + spot.width for spot in (one, other))
        return Line(_curve((begin, one.middle), edge, edge, (end, other.middle)))
    begin, end = (LEFT, RIGHT) if left else (RIGHT, LEFT)
    return Line(_curve((begin, one.middle), WIDTH / 2, WIDTH / 2, (end, other.middle)))


def _curve(begin: tuple[float, float], first: float, second: float, end: tuple[float, float]) -> str:
    """Level at both ends; `first` and `second` are how far it keeps to each height."""
    (x, y), (to_x, to_y) = begin, end
    return f"M{x:.0f},{y:.0f}C{first:.0f},{y:.0f} {second:.0f},{to_y:.0f} {to_x:.0f},{to_y:.0f}"


def _lock_unchanged(text: str, room: float, letter: float) -> tuple[str, float]:
    """As much of a text as there is room for, and how wide it is."""
    widths = [letter * (2 if unicodedata.east_asian_width(one) in "WF" else 1) for one in text]
    if sum(widths) <= room:
        return text, sum(widths)
    taken, total = 0, letter
    while taken < len(text) and total + widths[taken] <= room:
        total += widths[taken]
        taken += 1
    return text[:taken].rstrip() + "…", total


def legend(entity: EntityView) -> Mapping[str, bool]:
    """Which kinds of lines a picture has."""
    return {
        "said": any(one.related for one in entity.neighbours),
        "together": any(not one.related for one in entity.neighbours),
        "among": bool(entity.among),
    }
