"""The graph of entities: what an entry says for it, and what a person sees of it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from pressbox.curator.context.domain.candidates import MENTIONED_WITH
from pressbox.curator.context.domain.context import Entity, EntityKind, EntryContext, entity_key

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
