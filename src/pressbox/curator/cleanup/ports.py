"""What the cleanup needs from storage."""

from datetime import datetime
from typing import Protocol

from pressbox.curator.cleanup.contracts import CleanupResult


class CleanupStore(Protocol):
    """Deletes old entries."""

    async def clean_up(self, before: datetime, dry_run: bool, limit: int) -> CleanupResult:
        """What everybody has read and nobody kept. The index learns of it by `removed`. A dry run counts all."""
        ...
