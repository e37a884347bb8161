"""Hand-written doubles of maintenance's ports."""

from collections.abc import AsyncIterator
from datetime import datetime


class FakeRecords:
    """Counts down what it was given; repeating a call finds nothing more."""

    def __init__(self, old: dict[str, int]) -> None:
        self.old = dict(old)
        self.asked: list[tuple[str, datetime]] = []

    async def prune_sessions(self, before: datetime) -> int:
        return self._prune("sessions", before)

    async def prune_tokens(self, before: datetime) -> int:
        return self._prune("tokens", before)

    async def prune_rate_limits(self, before: datetime) -> int:
        return self._prune("rate limits", before)

    async def prune_changes(self, before: datetime) -> int:
        return self._prune("changes", before)

    async def prune_progress(self, before: datetime) -> int:
        return self._prune("progress", before)

    def _prune(self, name: str, before: datetime) -> int:
        self.asked.append((name, before))
        return self.old.pop(name, 0)


class FakeScratch:
    def __init__(self, keys: list[str]) -> None:
        self.keys = list(keys)

    async def older_than(self, before: datetime) -> AsyncIterator[str]:
        for key in list(self.keys):
            yield key

    async def remove(self, key: str) -> None:
        self.keys.remove(key)

    async def remove_unfinished(self, before: datetime) -> int:
        return 0
