"""The distiller that needs no key and no network. Its summaries are in the language of the article."""

from collections.abc import Sequence

from pressbox.curator.adapters.distillers.summarising import NAME, VERSION
from pressbox.curator.adapters.workshop.messages import DistilTask
from pressbox.curator.adapters.workshop.pool import Workshop
from pressbox.curator.domain.entries import Distilled, ToDistil


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
