"""The context extractor that needs no key and no network: candidates by rules, labelled as such."""

from collections.abc import Sequence

from pressbox.curator.adapters.workshop.messages import ContextTask, LinksTask
from pressbox.curator.adapters.workshop.pool import Workshop
from pressbox.curator.domain.context import ContextLink, EntryContext
from pressbox.curator.ports.enriching import ContextSource


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
