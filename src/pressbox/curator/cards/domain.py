"""Cards beside an entry: repositories of the software that it names, and pages that its links lead to. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pressbox.curator.context.domain import ContextLink, EntryContext, entity_key, find_repositories, fold_name
from pressbox.curator.text.sentences import extract_terms

WELL_KNOWN = 200
# Another of the same name that is nearly as well known makes it unclear which one is meant.
CLEARLY_MORE = 5
SHARED_WORDS = 2


@dataclass(frozen=True)
class Repository:
    """`linked`: the article leads there itself."""

    full_name: str
    url: str
    description: str = ""
    stars: int = 0
    language: str = ""
    licence: str = ""
    topics: tuple[str, ...] = ()
    pushed_at: datetime | None = None
    archived: bool = False
    fork: bool = False
    linked: bool = False

    @property
    def name(self) -> str:
        return self.full_name.partition("/")[2]


def linked_repository(name: str, links: Sequence[ContextLink]) -> str | None:
    return find_repositories(links).get(fold_name(name))


def find_evident(name: str, found: Sequence[Repository], text: str) -> Repository | None:
    """The one that it is beyond doubt, or None."""
    linked = next((one for one in found if one.linked and _same_name(name, one)), None)
    if linked is not None:
        return linked
    named = sorted((one for one in found if _same_name(name, one) and not one.fork), key=lambda one: -one.stars)
    if not named or named[0].stars < WELL_KNOWN:
        return None
    if len(named) > 1 and named[1].stars * CLEARLY_MORE > named[0].stars:
        return None
    return named[0] if _is_about_it(name, named[0], text) else None


def _same_name(name: str, repository: Repository) -> bool:
    return fold_name(name) in (fold_name(repository.name), fold_name(repository.full_name.replace("/", "")))


def _is_about_it(name: str, repository: Repository, text: str) -> bool:
    """The description and the article share words beside the name itself."""
    said = {*extract_terms(repository.description, "en"), *(topic.lower() for topic in repository.topics)}
    return len((said - {entity_key(name), fold_name(name)}) & set(extract_terms(text, "en"))) >= SHARED_WORDS


LONGEST_BODY = 300_000
MOST_LINKS_AT_ONCE = 20
# The addresses of one order travel in a message, which stays below 10 kB.
BYTES_OF_ADDRESSES = 6_000


class EnrichmentKind(StrEnum):
    GITHUB = "github"
    LINK = "link"


@dataclass(frozen=True)
class NewEnrichment:
    """`key` tells it from others of its kind: the repository, or the address. `reason` says why there is no body."""

    entry_id: int
    kind: EnrichmentKind
    key: str
    title: str
    url: str
    body_html: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Card:
    """An enrichment without its body, as lists show it."""

    id: int
    entry_id: int
    kind: EnrichmentKind
    key: str
    title: str
    url: str
    facts: Mapping[str, object]
    reason: str
    has_body: bool
    at: datetime


@dataclass(frozen=True)
class CardPage:
    """One with its body: sanitised HTML."""

    card: Card
    html: str
    entry_title: str


@dataclass(frozen=True)
class LinkView:
    url: str
    title: str
    host: str
    # The card of its page, when somebody had it read.
    card: Card | None = None


@dataclass(frozen=True)
class ContextView:
    """All of the panel. `context` is None as long as nobody asked for it; `current` says whether the text is the same
    that it was made of."""

    entry_id: int
    title: str
    context: EntryContext | None = None
    current: bool = True
    found_at: datetime | None = None
    links: Sequence[LinkView] = ()
    repositories: Sequence[Card] = ()
