"""Where cards and links of entries are kept, and how the work on them is started."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.cards.domain import CardPage, ContextView, NewEnrichment, Repository


class Enrichments(Protocol):
    """What a person asks for is one of their entries, or a NotFoundError."""

    async def find_links(self, entry_id: int, urls: Sequence[str]) -> Sequence[str]:
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

    async def require_visible(self, user_id: int, entry_ids: Sequence[int]) -> None: ...


class ContextWorkflows(Protocol):
    """Each gives the id of the workflow."""

    async def extract(self, entry_id: int, again: bool) -> str: ...

    async def collect(self, entry_ids: Sequence[int], again: bool) -> str: ...

    async def fetch_links(self, entry_id: int, urls: Sequence[str]) -> str: ...

    async def delete_enrichment(self, enrichment_id: int) -> str: ...


class Repositories(Protocol):
    """Trouble of the other side is a TransientError, with the time to come back when it says one."""

    async def search(self, words: str, limit: int) -> Sequence[Repository]: ...

    async def get(self, full_name: str) -> Repository | None:
        """None when there is none of this name."""
        ...

    async def readme(self, repository: Repository) -> str:
        """Sanitised HTML; empty when there is none."""
        ...


@dataclass(frozen=True)
class Choice:
    """`repository` is None for "none of these"; `by` says who chose: a model by its name, or rules."""

    repository: Repository | None
    by: str


class RepositoryChooser(Protocol):
    """Which of the repositories is the software that the text speaks of; none of them is an answer too."""

    async def choose(
        self, name: str, found: Sequence[Repository], text: str, entry_id: int, feed_id: int
    ) -> Choice: ...
