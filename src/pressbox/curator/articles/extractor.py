"""The Extractor port: pages and feeds' texts become articles, in the workshop's processes."""

from collections.abc import Sequence

from pressbox.curator.articles.ports import Page
from pressbox.curator.library.domain.entries import FetchedArticle
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.parsers.messages import ExtractTask, FeedTextTask, Outcome
from pressbox.curator.parsers.pool import Workshop


class WorkshopExtractor:
    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop

    async def extract(self, page: Page, rules: Sequence[ExtractionRule]) -> FetchedArticle:
        return _article(
            await self._workshop.work(ExtractTask(html=_text(page.html), url=_text(page.url), rules=tuple(rules)))
        )

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle:
        return _article(await self._workshop.work(FeedTextTask(html=_text(html), base_url=_text(base_url))))


def _text(text: str) -> str:
    """Without halves of characters, which no message can carry."""
    return text.encode("utf-8", errors="replace").decode()


def _article(outcome: Outcome) -> FetchedArticle:
    assert outcome.article is not None
    return outcome.article
