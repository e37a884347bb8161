"""Neighbours in the graph, by the names of entities."""

from collections.abc import Sequence

from pressbox.core.errors import NotFoundError
from pressbox.curator.context.domain.context import entity_key
from pressbox.curator.graph.ports import GraphPages


class GraphNeighbours:
    def __init__(self, graph: GraphPages) -> None:
        self._graph = graph

    async def near(self, user_id: int, names: Sequence[str], limit: int) -> Sequence[str]:
        found: dict[str, str] = {}
        for name in names:
            try:
                entity = await self._graph.entity(user_id, entity_key(name), limit)
            except NotFoundError:
                # Most names are in no graph.
                continue
            found |= {neighbour.key: neighbour.name for neighbour in entity.neighbours}
        return [name for key, name in found.items() if key not in {entity_key(one) for one in names}][:limit]
