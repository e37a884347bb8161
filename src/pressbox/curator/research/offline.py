"""The researcher without a model: it searches for names and their neighbours in the graph, and quotes."""

from collections.abc import Sequence

from pressbox.core.errors import NotFoundError
from pressbox.curator.context.domain.context import entity_key
from pressbox.curator.graph.ports import GraphPages
from pressbox.curator.research.domain.extracts import Span, keywords, names_in, quotes_in, shared_names
from pressbox.curator.research.domain.report import write_from_notes
from pressbox.curator.research.domain.research import Material, Note, ResearchMethod, Source
from pressbox.curator.research.ports import Neighbours, ResearcherReply

MOST_NEIGHBOURS = 2
MOST_FURTHER = 2


class OfflineResearcher:
    """No word of what it gives is its own."""

    def __init__(self, neighbours: Neighbours | None = None) -> None:
        self._neighbours = neighbours

    @property
    def method(self) -> ResearchMethod:
        return ResearchMethod.EXTRACTS

    @property
    def model(self) -> str:
        return ""

    async def plan(self, user_id: int, question: str) -> ResearcherReply:
        names = names_in(question)
        near = await self._neighbours.near(user_id, names, MOST_NEIGHBOURS) if self._neighbours else ()
        return ResearcherReply(questions=(*names, *near, keywords(question)))

    async def read(
        self, question: str, asked: Sequence[str], material: Material, text: str, spans: Sequence[Span]
    ) -> ResearcherReply:
        found = quotes_in(text, (question, *asked), spans)
        return ResearcherReply(
            notes=tuple(Note("", text[span.start : span.end], span.start, span.end) for span in found)
        )

    async def check(
        self, question: str, asked: Sequence[str], noted: Sequence[tuple[Source, tuple[Note, ...]]]
    ) -> ResearcherReply:
        """Names that several sources have beside what was asked for lead on."""
        texts = [" ".join(note.quote for note in notes) for _, notes in noted]
        return ResearcherReply(questions=tuple(shared_names(texts, (question, *asked), MOST_FURTHER)))

    async def write(
        self, question: str, noted: Sequence[tuple[Source, tuple[Note, ...]]], most_tokens: int
    ) -> ResearcherReply:
        return ResearcherReply(text=write_from_notes(noted))


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
