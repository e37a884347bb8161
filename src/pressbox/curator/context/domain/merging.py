"""What a model said of the pieces of a text becomes one context, and only what the text bears out. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pressbox.curator.context.domain.context import Entity, EntityKind, Relationship, entity_key

PIECE = 12_000
OVERLAP = 600
MOST_ENTITIES = 40
MOST_RELATIONSHIPS = 60
MOST_POINTS = 8
_SPACE = re.compile(r"\s+")
# Where a piece may end, best first.
_BREAKS = ("\n", "。", ". ", " ")


@dataclass(frozen=True)
class PieceContext:
    """Of one piece of the text."""

    domain: str
    content_type: str
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    key_points: tuple[str, ...]


@dataclass(frozen=True)
class MergedContext:
    domain: str
    content_type: str
    entities: tuple[Entity, ...]
    relationships: tuple[Relationship, ...]
    key_points: tuple[str, ...]


def split_pieces(text: str) -> list[str]:
    """The whole text in pieces that overlap, so that no name is cut in two without being whole in one of them."""
    pieces, begin = [], 0
    while len(text) - begin > PIECE:
        end = _break(text, begin + PIECE // 2, begin + PIECE)
        pieces.append(text[begin:end])
        begin = max(_break(text, end - OVERLAP, end), begin + 1)
    return [*pieces, text[begin:]]


def _break(text: str, first: int, last: int) -> int:
    """Where a line, a sentence or a word ends between the two; the last place when none does."""
    window = text[first:last]
    for mark in _BREAKS:
        place = window.rfind(mark, 0, len(window) - 1) if len(window) > 1 else -1
        if place > 0:
            return first + place + len(mark)
    return last


def keep_supported(said: PieceContext, piece: str) -> PieceContext:
    """Without entities that the piece does not name, quotes that it does not have, and relations of strangers."""
    plain = _fold(piece)
    named = {entity.key: _keep_real_quote(entity, plain) for entity in said.entities if _fold(entity.name) in plain}
    relations = tuple(
        Relationship(named[source].name, named[target].name, one.relation, one.quote if _has(one.quote, plain) else "")
        for one in said.relationships
        if (source := entity_key(one.source)) in named and (target := entity_key(one.target)) in named
        if source != target
    )
    return PieceContext(said.domain, said.content_type, tuple(named.values()), relations, said.key_points)


def merge_pieces(pieces: Sequence[PieceContext]) -> MergedContext:
    """What most pieces say of the whole; every entity once, those of several pieces first."""
    counts = Counter(entity.key for piece in pieces for entity in {one.key: one for one in piece.entities}.values())
    known: dict[str, Entity] = {}
    for entity in (entity for piece in pieces for entity in piece.entities):
        known[entity.key] = _join_entities(known.get(entity.key), entity)
    # Sorting is stable: those of equally many pieces stay in the order of the text.
    chosen = sorted(known.values(), key=lambda entity: -counts[entity.key])[:MOST_ENTITIES]
    names = {entity.key: entity.name for entity in chosen}
    return MergedContext(
        domain=_most(piece.domain for piece in pieces),
        content_type=_most(piece.content_type for piece in pieces),
        entities=tuple(chosen),
        relationships=_relations(pieces, names),
        key_points=_points(pieces),
    )


def _relations(pieces: Sequence[PieceContext], names: Mapping[str, str]) -> tuple[Relationship, ...]:
    found: dict[tuple[str, str, str], Relationship] = {}
    for one in (one for piece in pieces for one in piece.relationships):
        source, target = entity_key(one.source), entity_key(one.target)
        if source in names and target in names:
            key = (source, target, one.relation.casefold())
            found.setdefault(key, Relationship(names[source], names[target], one.relation, one.quote))
    return tuple(found.values())[:MOST_RELATIONSHIPS]


def _points(pieces: Sequence[PieceContext]) -> tuple[str, ...]:
    """From every piece in turn: the end of a text has its say too."""
    found: dict[str, str] = {}
    for round_number in range(max((len(piece.key_points) for piece in pieces), default=0)):
        for piece in pieces:
            if round_number < len(piece.key_points):
                point = piece.key_points[round_number]
                found.setdefault(_fold(point), point)
    return tuple(found.values())[:MOST_POINTS]


def _join_entities(known: Entity | None, entity: Entity) -> Entity:
    if known is None:
        return entity
    kind = entity.kind if known.kind is EntityKind.OTHER else known.kind
    return Entity(known.name, kind, known.description or entity.description, known.quote or entity.quote)


def _most(values: Iterable[str]) -> str:
    counted = Counter(value for value in values if value)
    return counted.most_common(1)[0][0] if counted else ""


def _keep_real_quote(entity: Entity, plain: str) -> Entity:
    quote = entity.quote if _has(entity.quote, plain) else ""
    return Entity(entity.name, entity.kind, entity.description, quote)


def _has(quote: str, plain: str) -> bool:
    return bool(quote) and _fold(quote) in plain


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text.replace("’", "'")).strip().casefold()
