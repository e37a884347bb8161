"""How pages are read and articles are found on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pressbox.curator.library.domain.entries import FetchedArticle
from pressbox.curator.library.domain.feeds import ExtractionRule


class PageReader(Protocol):
    """Reads one page through the guard, within the limits. The kind of error says whether to try again."""

    async def read(self, url: str, limit: int) -> "Page": ...


@dataclass(frozen=True)
class Page:
    url: str
    html: str
    content_type: str


class Extractor(Protocol):
    """Finds the article on a page; CPU work, off the event loop."""

    async def extract(self, page: Page, rules: Sequence[ExtractionRule]) -> FetchedArticle: ...

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle: ...
