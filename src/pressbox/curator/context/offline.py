"""The context extractor that needs no key and no network: candidates by rules, labelled as such."""

from collections.abc import Sequence

from pressbox.curator.context.domain.context import ContextLink, EntryContext
from pressbox.curator.context.finder import extract_context, extract_links
from pressbox.curator.context.ports import ContextSource
from pressbox.curator.library.parser_pool import ParserPool


class OfflineContextExtractor:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def extract(self, source: ContextSource) -> EntryContext:
        return await self._parsers.run(extract_context, source)


class PooledLinks:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def find(self, html: str, url: str) -> Sequence[ContextLink]:
        return await self._parsers.run(extract_links, html, url)
