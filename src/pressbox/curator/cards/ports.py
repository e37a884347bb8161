"""Where cards and links of entries are kept, and how the work on them is started."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pressbox.curator.cards.domain.cards import CardPage, ContextView, NewEnrichment
from pressbox.curator.context.domain.context import ContextLink


class Links(Protocol):
    """The links of an article's HTML; CPU work, off the event loop."""

    async def find(self, html: str, url: str) -> Sequence[ContextLink]: ...


class EntryLinks(Protocol):
    async def save_links(self, entry_id: int, links: Sequence[ContextLink]) -> bool:
        """These and no others. False when the entry is gone."""
        ...


class Enrichments(Protocol):
    """What a person asks for is one of their entries, or a NotFoundError."""

    async def known_links(self, entry_id: int, urls: Sequence[str]) -> Sequence[str]:
        """Those of the addresses that the entry's text has."""
        ...

    async def save(self, enrichment: NewEnrichment, now: datetime) -> int | None:
        """In place of the one with its key. None when the entry is gone."""
        ...

    async def delete(self, enrichment_id: int) -> bool: ...

    async def hide(self, user_id: int, enrichment_id: int) -> int:
        """From all pages, at once; the id of its entry."""
        ...

    async def panel(self, user_id: int, entry_id: int) -> ContextView: ...

    async def page(self, user_id: int, enrichment_id: int) -> CardPage: ...

    async def demand(self, user_id: int, entry_ids: Sequence[int]) -> None: ...


class ContextWorkflows(Protocol):
    """Each gives the id of the workflow."""

    async def extract(self, entry_id: int, again: bool) -> str: ...

    async def collect(self, entry_ids: Sequence[int], again: bool) -> str: ...

    async def fetch_links(self, entry_id: int, urls: Sequence[str]) -> str: ...

    async def delete_enrichment(self, enrichment_id: int) -> str: ...
