"""The context extractor that needs no key and no network: candidates by rules, labelled as such."""

from collections.abc import Sequence

from pressbox.curator.context.domain.context import ContextLink, EntryContext
from pressbox.curator.context.ports import ContextSource
from pressbox.curator.parsers.messages import ContextTask, LinksTask
from pressbox.curator.parsers.pool import Workshop


class OfflineContextExtractor:
    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def extract(self, source: ContextSource) -> EntryContext:
        outcome = await self._workshop.work(ContextTask(source=source))
        assert outcome.context is not None
        return outcome.context


class WorkshopLinks:
    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def find(self, html: str, url: str) -> Sequence[ContextLink]:
        return (await self._workshop.work(LinksTask(html=html, url=url))).links
