"""The researcher without a model: it searches for names and their neighbours in the graph, and quotes."""

from collections.abc import Sequence

from pressbox.curator.research.domain.extracts import keywords, names_in, quotes_in, shared_names
from pressbox.curator.research.domain.quotes import Span
from pressbox.curator.research.domain.report import of_notes
from pressbox.curator.research.domain.research import Material, Note, ResearchMethod, Source
from pressbox.curator.research.ports import Neighbours, Told

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

    async def plan(self, user_id: int, question: str) -> Told:
        names = names_in(question)
        near = await self._neighbours.near(user_id, names, MOST_NEIGHBOURS) if self._neighbours else ()
        return Told(questions=(*names, *near, keywords(question)))

    async def read(
        self, question: str, asked: Sequence[str], material: Material, text: str, spans: Sequence[Span]
    ) -> Told:
        found = quotes_in(text, (question, *asked), spans)
        return Told(notes=tuple(Note("", text[span.start : span.end], span.start, span.end) for span in found))

    async def check(
        self, question: str, asked: Sequence[str], noted: Sequence[tuple[Source, tuple[Note, ...]]]
    ) -> Told:
        """Names that several sources have beside what was asked for lead on."""
        texts = [" ".join(note.quote for note in notes) for _, notes in noted]
        return Told(questions=tuple(shared_names(texts, (question, *asked), MOST_FURTHER)))

    async def write(self, question: str, noted: Sequence[tuple[Source, tuple[Note, ...]]], most_tokens: int) -> Told:
        return Told(text=of_notes(noted))
