"""What an entry is about: domain, kind of text, entities, their relations, key points and links. Pure.

Context, graph, asking and research speak of the same entities, so they are here once.
"""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class ContextMethod(StrEnum):
    """OFFLINE: candidates found by rules, labelled as such wherever they are shown."""

    OFFLINE = "offline"
    LLM = "llm"


class EntityKind(StrEnum):
    PERSON = "person"
    ORGANISATION = "organisation"
    PLACE = "place"
    SOFTWARE = "software"
    PRODUCT = "product"
    EVENT = "event"
    CONCEPT = "concept"
    OTHER = "other"


@dataclass(frozen=True)
class Entity:
    """`quote` is a passage of the entry that names it."""

    name: str
    kind: EntityKind = EntityKind.OTHER
    description: str = ""
    quote: str = ""

    @property
    def key(self) -> str:
        return entity_key(self.name)


@dataclass(frozen=True)
class Relationship:
    """Both ends are names of entities of the same entry."""

    source: str
    target: str
    relation: str
    quote: str = ""


@dataclass(frozen=True)
class ContextLink:
    url: str
    title: str = ""


@dataclass(frozen=True)
class EntryContext:
    entry_id: int
    content_hash: str
    method: ContextMethod
    model: str = ""
    prompt_version: str = ""
    domain: str = ""
    content_type: str = ""
    language: str = ""
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    key_points: tuple[str, ...] = ()
    links: tuple[ContextLink, ...] = ()


def entity_key(name: str) -> str:
    """One spelling for all: "  OpenAI’s " and "openai's" are the same."""
    plain = unicodedata.normalize("NFKC", name).replace("’", "'").casefold()
    return " ".join(plain.split()).strip(" .,;:!?\"'()[]")
