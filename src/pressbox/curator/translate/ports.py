"""What translation needs: a translator, and where translations are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.translate.contracts import Provider, TranslationCursor, TranslationSelection
from pressbox.curator.translate.domain.article_blocks import Block
from pressbox.curator.translate.domain.segments import Done, Limits


@dataclass(frozen=True)
class Languages:
    """`source` is empty when nobody knows it; the provider then finds out."""

    source: str
    target: str


@dataclass(frozen=True)
class TranslationSource:
    """An entry as its reader sees it."""

    entry_id: int
    feed_id: int
    title: str
    summary: str
    html: str
    language: str
    content_hash: str


@dataclass(frozen=True)
class StoredTranslation:
    """`complete` when every block of that text was translated, or has a reason why not."""

    entry_id: int
    language: str
    provider: str
    model: str
    content_hash: str
    title: str
    blocks: Sequence[Done]
    complete: bool
    at: datetime


class Translator(Protocol):
    """Somebody is asked for one request of blocks at a time, within `limits`, and is never paid twice for the same.

    Away, busy, over quota or with a wrong key it raises one of `activities/waiting.py:UNAVAILABLE`.
    A block without an answer is not in the result.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    async def translate(
        self, blocks: Sequence[Block], languages: Languages, source: TranslationSource
    ) -> Sequence[Done]: ...


class Translations(Protocol):
    async def select(
        self, entry_ids: Sequence[int], language: str, after: TranslationCursor | None, limit: int
    ) -> TranslationSelection:
        """These entries; without ids those that somebody follows, in another language and without a complete
        translation of their present text, the newest first.
        """
        ...

    async def source(self, entry_id: int) -> TranslationSource | None:
        """None when the entry is gone or has nothing to read."""
        ...

    async def stored(self, entry_id: int, language: str) -> StoredTranslation | None: ...

    async def put(
        self,
        source: TranslationSource,
        language: str,
        provider: str,
        model: str,
        done: Sequence[Done],
        now: datetime,
    ) -> None:
        """Add to what is there of the same provider; of another one it is begun anew."""
        ...

    async def finish(self, entry_ids: Sequence[int], language: str, now: datetime) -> Sequence[int]:
        """Those of which nothing is left to do are complete from now on. Their ids."""
        ...


class TranslationRuns(Protocol):
    """Starts TranslationWorkflow; the id of the run, or of the one that does this already."""

    async def translate(
        self, entry_ids: Sequence[int], provider: Provider, language: str, *, again: bool = False
    ) -> str: ...
