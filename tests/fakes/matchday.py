"""The store of matchday in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class FakeChanges:
    fixture_ids: Sequence[int] = ()
    up_to: int = 0
    more: bool = False
    lost: bool = False


@dataclass
class FakeMatchday:
    """Gives these changes one after the other, and these fixtures in pages."""

    changes: list[FakeChanges] = field(default_factory=list)
    fixtures: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)

    async def find_changed(self) -> FakeChanges:
        return self.changes.pop(0)

    async def note_read(self, up_to: int) -> None:
        self.read.append(up_to)

    async def find_all(self, after: int, limit: int) -> Sequence[int]:
        return [number for number in self.fixtures if number > after][:limit]

    async def keep(self, fixture_ids: Collection[int]) -> int:
        self.kept += fixture_ids
        return 0
