"""How asking and research find what to stand on."""

from collections.abc import Sequence
from typing import Protocol

from pressbox.curator.search.domain.retrieval import Passage


class Retriever(Protocol):
    async def find(
        self, user_id: int, question: str, *, entry_id: int | None = None, limit: int = 8
    ) -> Sequence[Passage]:
        """Best first, only of what the person reads; with `entry_id` only of that entry."""
        ...
