"""The graph of entities: what an entry says, what a person sees of it, and where that stands in a picture."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from pressbox.curator.context.domain import MENTIONED_WITH, Entity, EntityKind, EntryContext, entity_key

# What one entry may say: a text that names more is a list, and a name that is longer is a sentence.
MOST_ENTITIES = 200
MOST_RELATIONS = 400
LONGEST_NAME = 200
LONGEST_RELATION = 80
LONGEST_QUOTE = 500
LONGEST_DESCRIPTION = 500
# Of a question; more words are an essay, and its first ones tell enough.
MOST_WORDS = 60
LONGEST_PHRASE = 5
LONGEST_RUN = 8


@dataclass(frozen=True)
class Statements:
    """What one entry says: entities by key, and relations by both keys and their word, each with a quote."""

    entities: Mapping[str, Entity]
    relations: Mapping[tuple[str, str, str], str]


def extract_statements(context: EntryContext) -> Statements:
    """Each entity once, by its key; a relation brings its ends along, and nothing is related to itself."""
    entities: dict[str, Entity] = {}
    for entity in context.entities:
        _merge_entity(entities, entity)
    relations: dict[tuple[str, str, str], str] = {}
    for one in context.relationships:
        ends = (entity_key(one.source), entity_key(one.target))
        word = " ".join(one.relation.split()).lower()[:LONGEST_RELATION].strip()
        if not all(map(_is_usable, ends)) or ends[0] == ends[1] or not word or len(relations) == MOST_RELATIONS:
            continue
        if word == MENTIONED_WITH:
            # It has no direction: both orders are the same edge.
            ends = (min(ends), max(ends))
        for name in (one.source, one.target):
            _merge_entity(entities, Entity(name, quote=one.quote))
        if all(end in entities for end in ends):
            relations.setdefault((*ends, word), one.quote[:LONGEST_QUOTE])
    return Statements(entities, relations)


def _merge_entity(entities: dict[str, Entity], entity: Entity) -> None:
    if not _is_usable(entity.key) or (entity.key not in entities and len(entities) == MOST_ENTITIES):
        return
    known = entities.get(entity.key)
    if known is None:
        name = " ".join(entity.name.split())
        entities[entity.key] = Entity(
            name, entity.kind, entity.description[:LONGEST_DESCRIPTION], entity.quote[:LONGEST_QUOTE]
        )
    elif known.kind is EntityKind.OTHER and entity.kind is not EntityKind.OTHER:
        entities[entity.key] = Entity(
            known.name, entity.kind, known.description or entity.description, known.quote or entity.quote
        )


def _is_usable(key: str) -> bool:
    return 0 < len(key) <= LONGEST_NAME and any(character.isalnum() for character in key)


def extract_phrases(words: str) -> Mapping[str, int]:
    """Every key that may be an entity in these words, with the number of words that it is made of.

    Scripts without spaces are looked through run by run, of two characters and more.
    """
    plain = entity_key(words).split()[:MOST_WORDS]
    found: dict[str, int] = {}
    for begin in range(len(plain)):
        for size in range(1, min(LONGEST_PHRASE, len(plain) - begin) + 1):
            key = entity_key(" ".join(plain[begin : begin + size]))
            # "openai's" asks for openai.
            for one in (key, key.removesuffix("'s")):
                found.setdefault(one, size)
    for word in plain:
        for run in _runs(word):
            found.setdefault(run, 1)
    return {key: size for key, size in found.items() if _is_usable(key)}


def _runs(word: str) -> Iterator[str]:
    """Parts of a word of a script without spaces, where nothing tells where a name begins and ends."""
    if word.isascii() or any("a" <= letter <= "z" for letter in word):
        return
    for begin in range(len(word)):
        for size in range(2, min(LONGEST_RUN, len(word) - begin) + 1):
            yield word[begin : begin + size]


@dataclass(frozen=True)
class MentionedEntity:
    """An entity in a list, with the number of entries that name it, of those that the person may see."""

    key: str
    name: str
    kind: EntityKind
    entries: int


@dataclass(frozen=True)
class Evidence:
    """An entry that says so."""

    entry_id: int
    title: str
    feed_title: str
    published_at: datetime
    quote: str


@dataclass(frozen=True)
class Relation:
    """`outgoing`: from the entity in the middle to its neighbour. An empty word: both are named in the same entry."""

    word: Annotated[str, Field(description="Empty when both are only named together.")]
    outgoing: Annotated[bool, Field(description="From the entity to its neighbour.")]
    entries: int
    evidence: Sequence[Evidence]

    @property
    def stated(self) -> bool:
        """Whether an entry says how; otherwise both only stand side by side."""
        return self.word not in ("", MENTIONED_WITH)


@dataclass(frozen=True)
class Neighbour:
    key: str
    name: str
    kind: EntityKind
    relations: Sequence[Relation]

    @property
    def entries(self) -> int:
        return max((relation.entries for relation in self.relations), default=0)

    @property
    def related(self) -> bool:
        return any(relation.stated for relation in self.relations)


@dataclass(frozen=True)
class EntityView:
    """One entity with its neighbours and what stands behind both."""

    key: str
    name: str
    kind: EntityKind
    descriptions: Sequence[str]
    entries: int
    evidence: Sequence[Evidence]
    neighbours: Sequence[Neighbour]
    # Pairs of neighbours that are related themselves.
    among: Annotated[Sequence[tuple[str, str]], Field(description="Keys of neighbours that are related.")]
    more: Annotated[bool, Field(description="There are more neighbours.")]


@dataclass(frozen=True)
class Failure:
    entry_id: int
    title: str
    reason: str


@dataclass(frozen=True)
class GraphState:
    """How far the graph is, over what the person may see."""

    entries: int
    waiting: int
    added_at: datetime | None
    rebuilding: bool
    failures: Sequence[Failure]


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
