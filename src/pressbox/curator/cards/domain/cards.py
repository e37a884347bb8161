"""Cards beside an entry: repositories of the software that it names, and pages that its links lead to. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pressbox.curator.context.domain.context import EntryContext

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
