"""What the service needs to start work."""

from collections.abc import Sequence
from typing import Protocol

from pressbox.curator.ingest.contracts import PreviewFetchOutput
from pressbox.curator.library.domain.feeds import ExtractionRule


class Workflows(Protocol):
    """Starting workflows from the service."""

    async def ingest_feed(self, feed_id: int) -> str: ...

    async def ingest_all(self, only_due: bool) -> str: ...

    async def reprocess(self, entry_ids: Sequence[int], fetch: bool, distill: bool) -> str: ...

    async def distil(self, entry_ids: Sequence[int]) -> str: ...

    async def reindex(self, batch_size: int, clean: bool) -> str: ...

    async def prune(self, batch_size: int) -> str: ...

    async def embed(self, batch_size: int) -> str: ...

    async def clean_up(self, days: int, dry_run: bool) -> str: ...

    async def preview(self, url: str, rules: Sequence[ExtractionRule]) -> PreviewFetchOutput:
        """Runs to its end: somebody waits for it."""
        ...
