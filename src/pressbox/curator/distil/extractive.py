"""The distiller that needs no key and no network. Its summaries are in the language of the article."""

from collections.abc import Sequence

from pressbox.curator.distil.summary import NAME, VERSION
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.parsers.messages import DistilTask
from pressbox.curator.parsers.pool import Workshop


class ExtractiveDistiller:
    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompt_version(self) -> str:
        return VERSION

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        """Whatever `language` is wanted: taking sentences out of a text does not translate them."""
        outcome = await self._workshop.work(DistilTask(entries=tuple(entries), sentences=sentences))
        return outcome.distilled
