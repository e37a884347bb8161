"""Starting the work on the graph."""

from pressbox.curator.graph.contracts import (
    GLOBAL_GRAPH_UPDATE,
    GRAPH_REBUILD,
    GRAPH_REBUILD_WORKFLOW,
    GRAPH_WORKFLOW,
    GlobalGraphUpdateInput,
    GraphRebuildInput,
)
from pressbox.curator.library.starter import Starter

BY_HAND = "by-hand"


class GraphStarter(Starter):
    async def update(self, batch_size: int) -> str:
        """By hand: what failed before is tried again."""
        input = GlobalGraphUpdateInput(batch_size=batch_size, retry_failed=True, policy=self._policy)
        return await self.start(GLOBAL_GRAPH_UPDATE, input, f"{GRAPH_WORKFLOW}-{BY_HAND}")

    async def rebuild(self, batch_size: int, clean: bool) -> str:
        input = GraphRebuildInput(batch_size=batch_size, clean=clean, policy=self._policy)
        return await self.start(GRAPH_REBUILD, input, GRAPH_REBUILD_WORKFLOW)
