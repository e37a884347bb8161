"""What translation needs: translators, stored translations, and a way to start the workflow."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.translate.contracts import Provider, TranslationCursor, TranslationSelection
from pressbox.curator.translate.domain.blocks import Block
from pressbox.curator.translate.domain.segments import BlockTranslation, Limits


@dataclass(frozen=True)
class LanguagePair:
    """`source` is empty when it is not known; the provider then detects it."""

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
    """`complete` when every block of the text is translated, or has a reason why not."""

    entry_id: int
    language: str
    provider: str
    model: str
    content_hash: str
    title: str
    blocks: Sequence[BlockTranslation]
    complete: bool
    at: datetime


class Translator(Protocol):
    """Translates one request of blocks at a time, within `limits`, and is never paid twice for the same one.

    When it is down, busy, over quota or has a wrong key, it raises one of `models.waiting.UNAVAILABLE`. A block without
    an answer is not in the result.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def limits(self) -> Limits: ...

    async def translate(
        self, blocks: Sequence[Block], languages: LanguagePair, source: TranslationSource
    ) -> Sequence[BlockTranslation]: ...


class Translations(Protocol):
    async def select(
        self, entry_ids: Sequence[int], language: str, after: TranslationCursor | None, limit: int
    ) -> TranslationSelection:
        """Select these entries; without ids, those of subscribed feeds in another language that have no complete
        translation of their present text, the newest first.
        """
        ...

    async def find_source(self, entry_id: int) -> TranslationSource | None:
        """Return None when the entry is gone or has no text."""
        ...

    async def find(self, entry_id: int, language: str) -> StoredTranslation | None: ...

    async def add(
        self,
        source: TranslationSource,
        language: str,
        provider: str,
        model: str,
        blocks: Sequence[BlockTranslation],
        now: datetime,
    ) -> None:
        """Add blocks to the translation by the same provider; another provider starts a new one."""
        ...

    async def finish(self, entry_ids: Sequence[int], language: str, now: datetime) -> Sequence[int]:
        """Mark translations of the present text as complete, and return their entry ids."""
        ...


class TranslationWorkflows(Protocol):
    """Starts TranslationWorkflow and returns its id, or that of the run that does the same already."""

    async def start_translation(
        self, entry_ids: Sequence[int], provider: Provider, language: str, *, again: bool = False
    ) -> str: ...
