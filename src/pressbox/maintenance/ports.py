"""What maintenance needs from outside."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Protocol


class Records(Protocol):
    """Rows that grow old. Each call removes everything that ended before the instant and returns how many.

    Repeating a call with the same instant is harmless. Trouble with the database is a TransientError.
    """

    async def prune_sessions(self, before: datetime) -> int: ...

    async def prune_tokens(self, before: datetime) -> int: ...

    async def prune_rate_limits(self, before: datetime) -> int: ...

    async def prune_changes(self, before: datetime) -> int: ...

    async def prune_progress(self, before: datetime) -> int: ...


class Scratch(Protocol):
    """Objects that one step left for the next."""

    def older_than(self, before: datetime) -> AsyncIterator[str]:
        """Keys of scratch objects that were last written before the instant."""
        ...

    async def remove(self, key: str) -> None:
        """Remove one; a missing one is fine."""
        ...

    async def remove_unfinished(self, before: datetime) -> int:
        """Remove what writers that died before the instant left half-written; how many."""
        ...
