"""What distilling needs: a distiller, and the entries that wait for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pressbox.curator.distil.contracts import DistilSelection
from pressbox.curator.library.domain.entries import Distilled, ToDistil


class Distiller(Protocol):
    """Summarises. A model that is down raises TransientError; nothing is marked done that is not.

    What cannot be summarised is left out, or comes as an answer that is not `usable` when it was paid for.
    """

    @property
    def name(self) -> str: ...

    @property
    def prompt_version(self) -> str: ...

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]: ...


class DistilStore(Protocol):
    """Entries that wait for a summary. Selection is by state; each write is one transaction."""

    async def select_for_distillation(
        self, entry_ids: Sequence[int], after_entry_id: int, limit: int, *, feed_id: int | None = None
    ) -> DistilSelection:
        """Those of these that wait for it and have a text; without ids all of a feed, or of all feeds."""
        ...

    async def to_distil(self, entry_ids: Sequence[int]) -> Sequence[ToDistil]: ...

    async def save_distilled(self, distilled: Sequence[Distilled], now: datetime) -> Sequence[int]:
        """Only where the content is still the one that was distilled; the ids that were saved."""
        ...

    async def distil_again(self, entry_ids: Sequence[int]) -> None:
        """Let those with a text wait for a distillation again, whatever came of the last."""
        ...

    async def note_distil_failure(self, entry_id: int, reason: str, now: datetime) -> None: ...
