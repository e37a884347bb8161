"""Finds articles on pages, in the child processes of the parser pool."""

from collections.abc import Sequence

from pressbox.core.clock import utc_now
from pressbox.curator.articles.extraction import article_of, feed_text_of
from pressbox.curator.articles.ports import Page
from pressbox.curator.library.domain.entries import FetchedArticle
from pressbox.curator.library.domain.feeds import ExtractionRule
from pressbox.curator.library.parser_pool import ParserPool


class PooledExtractor:
    def __init__(self, parsers: ParserPool) -> None:
        self._parsers = parsers

    async def extract(self, page: Page, rules: Sequence[ExtractionRule]) -> FetchedArticle:
        return await self._parsers.run(
            article_of, _encodable(page.html), _encodable(page.url), tuple(rules), now=utc_now()
        )

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle:
        return await self._parsers.run(feed_text_of, _encodable(html), _encodable(base_url))


def _encodable(text: str) -> str:
    """Without halves of characters, which no message can carry."""
    return text.encode("utf-8", errors="replace").decode()
