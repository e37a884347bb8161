"""The store of maintenance in memory."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from pressbox.maintenance.contracts import Kind


class FakeStore:
    """Counts down what it was given; repeating a call finds nothing more."""

    def __init__(self, rows: Mapping[Kind, int] | None = None, scratch: Sequence[str] = ()) -> None:
        self.rows = dict(rows or {})
        self.scratch = list(scratch)
        self.asked: list[tuple[Kind, datetime]] = []

    async def delete_rows(self, kind: Kind, before: datetime) -> int:
        self.asked.append((kind, before))
        return self.rows.pop(kind, 0)

    async def list_scratch(self, before: datetime) -> AsyncIterator[str]:
        for key in list(self.scratch):
            yield key

    async def delete_scratch(self, key: str) -> None:
        self.scratch.remove(key)

    async def delete_unfinished(self, before: datetime) -> int:
        return 0
