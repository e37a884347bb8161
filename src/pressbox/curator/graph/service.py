"""The graph of entities as one person walks through it, and the work on it."""

from collections.abc import Sequence

from pressbox.core.errors import InvalidInputError
from pressbox.curator.graph.activities import GraphPages, GraphWork
from pressbox.curator.graph.contracts import (
    GLOBAL_GRAPH_UPDATE,
    GRAPH_REBUILD,
    GRAPH_REBUILD_WORKFLOW,
    GRAPH_WORKFLOW,
    GlobalGraphUpdateInput,
    GraphRebuildInput,
)
from pressbox.curator.graph.domain import EntityView, GraphState, MentionedEntity
from pressbox.curator.library.starter import Starter

LONGEST_WORDS = 200
NEIGHBOURS = 8
MOST_NEIGHBOURS = 24
LISTED = 40
MOST_LISTED = 200


class GraphService:
    def __init__(self, pages: GraphPages, work: GraphWork) -> None:
        self._pages = pages
        self._work = work

    async def entities(self, user_id: int, words: str = "", *, limit: int = LISTED) -> Sequence[MentionedEntity]:
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


BY_HAND = "by-hand"


class GraphStarter(Starter):
    async def update(self, batch_size: int) -> str:
        """By hand: what failed before is tried again."""
        input = GlobalGraphUpdateInput(batch_size=batch_size, retry_failed=True, policy=self._policy)
        return await self.start(GLOBAL_GRAPH_UPDATE, input, f"{GRAPH_WORKFLOW}-{BY_HAND}")

    async def rebuild(self, batch_size: int, clean: bool) -> str:
        input = GraphRebuildInput(batch_size=batch_size, clean=clean, policy=self._policy)
        return await self.start(GRAPH_REBUILD, input, GRAPH_REBUILD_WORKFLOW)
