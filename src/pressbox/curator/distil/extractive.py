"""The distiller that needs no key and no network. Its summaries are in the language of the article."""

from collections.abc import Sequence

from pressbox.curator.distil.summary import NAME, VERSION, summarise_all
from pressbox.curator.library.domain.entries import Distilled, ToDistil
from pressbox.curator.library.parser_pool import ParserPool


class ExtractiveDistiller:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompt_version(self) -> str:
        return VERSION

    async def distil(self, entries: Sequence[ToDistil], language: str, sentences: int) -> Sequence[Distilled]:
        """Whatever `language` is wanted: taking sentences out of a text does not translate them."""
        return await self._parsers.run(summarise_all, entries, sentences)
