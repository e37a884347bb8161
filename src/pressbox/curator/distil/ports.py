"""What distilling needs: a distiller, and the entries that wait for a summary."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pressbox.curator.distil.contracts import DistilSelection
from pressbox.curator.library.domain.entries import Distilled, ToDistil


class Distiller(Protocol):
    """Summarises texts without asking anybody. A text that cannot be summarised is left out."""

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]: ...


class DistilStore(Protocol):
    """Entries that wait for a summary. Selection is by state; each write is one transaction."""

    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        """Select those of these entries that wait and have a text; without ids, of one feed or of all feeds."""
        ...

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]: ...

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        """Save summaries whose text is still the same, and return the ids of their entries."""
        ...

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        """Let entries with a text wait for a summary again, whatever the last result was."""
        ...

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None: ...
