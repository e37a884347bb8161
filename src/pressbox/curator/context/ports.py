"""What context, its cards and the graph need: an extractor, and where contexts are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.context.domain.context import ContextLink, EntryContext


@dataclass(frozen=True)
class ContextSource:
    """The whole text of an entry (filtered, else full, else the feed's), and its HTML for the links."""

    entry_id: int
    feed_id: int
    title: str
    url: str
    text: str
    html: str
    language: str
    content_hash: str


class ContextExtractor(Protocol):
    """Finds out what an entry is about. A model that is away raises, see `ports/models.py`."""

    async def extract(self, source: ContextSource) -> EntryContext: ...


class Contexts(Protocol):
    async def source(self, entry_id: int) -> ContextSource | None:
        """None when the entry is gone or has no text."""
        ...

    async def of(self, entry_ids: Sequence[int]) -> Mapping[int, EntryContext]:
        """Those that have one, of whatever text; compare its `content_hash`."""
        ...

    async def save(self, context: EntryContext, now: datetime) -> bool:
        """With its links. False when the entry is gone or has another text by now."""
        ...


class Links(Protocol):
    """The links of an article's HTML; CPU work, off the event loop."""

    async def find(self, html: str, url: str) -> Sequence[ContextLink]: ...


class EntryLinks(Protocol):
    async def save_links(self, entry_id: int, links: Sequence[ContextLink]) -> bool:
        """These and no others. False when the entry is gone."""
        ...
