"""The graph of entities: what update and rebuild write, and what pages, asking and research read of it."""

from collections.abc import Sequence
from typing import Protocol


class GraphReader(Protocol):
    async def entries_near(self, user_id: int, words: str, limit: int) -> Sequence[int]:
        """Entries of the person's feeds that say something of the entities in these words, best first."""
        ...
