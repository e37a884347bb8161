"""What an entry is about: domain, kind of text, entities, their relations, key points and links. Pure.

Context, graph, asking and research speak of the same entities, so they are here once.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from pressbox.curator.library.domain.urls import host_of

_TO_FOLD = re.compile(r"[\s._-]+|(?:js|py|rs|go)$")
FULL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}/[A-Za-z0-9_.-]{1,100}")
_HOSTS = ("github.com", "www.github.com")
_NO_OWNERS = ("topics", "features", "orgs", "sponsors", "about", "settings", "marketplace", "apps", "search", "login")


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


def find_repositories(links: Sequence[ContextLink]) -> dict[str, str]:
    """`owner/name` of repositories on GitHub that an article links to, by the name folded."""
    found: dict[str, str] = {}
    for link in links:
        pieces = [piece for piece in urlsplit(link.url).path.split("/") if piece]
        if host_of(link.url) not in _HOSTS or len(pieces) < 2 or pieces[0] in _NO_OWNERS:
            continue
        full_name = f"{pieces[0]}/{pieces[1].removesuffix('.git')}"
        if FULL_NAME.fullmatch(full_name):
            found.setdefault(fold_name(full_name.partition("/")[2]), full_name)
    return found


def fold_name(name: str) -> str:
    return _TO_FOLD.sub("", entity_key(name))
