"""The graph of entities as one person walks through it, and the work on it."""

from collections.abc import Sequence

from pressbox.core.errors import InvalidInputError
from pressbox.curator.graph.domain.graph import EntityView, GraphState, Mentioned
from pressbox.curator.graph.ports import GraphPages, GraphWork

LONGEST_WORDS = 200
NEIGHBOURS = 8
MOST_NEIGHBOURS = 24
LISTED = 40
MOST_LISTED = 200


class GraphService:
    def __init__(self, pages: GraphPages, work: GraphWork) -> None:
        self._pages = pages
        self._work = work

    async def entities(self, user_id: int, words: str = "", *, limit: int = LISTED) -> Sequence[Mentioned]:
        """Those whose name holds the words; without words those that the newest articles name most."""
        if len(words) > LONGEST_WORDS:
            raise InvalidInputError(f"Search for at most {LONGEST_WORDS} characters.", field="q")
        return await self._pages.entities(user_id, words, max(1, min(limit, MOST_LISTED)))

    async def entity(self, user_id: int, key: str, *, neighbours: int = NEIGHBOURS) -> EntityView:
        return await self._pages.entity(user_id, key, max(1, min(neighbours, MOST_NEIGHBOURS)))

    async def state(self, user_id: int) -> GraphState:
        return await self._pages.state(user_id)

    async def update(self, *, batch_size: int = 50) -> str:
        return await self._work.update(batch_size)

    async def rebuild(self, *, batch_size: int = 20, clean: bool = False) -> str:
        return await self._work.rebuild(batch_size, clean)
