"""What a page is, what is made of it, and who reads and extracts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.library.domain.feeds import ExtractionRule


@dataclass(frozen=True)
class Page:
    url: str
    html: str
    content_type: str


@dataclass(frozen=True)
class FetchedArticle:
    """What was made of a page: sanitised HTML, and its text for models and search."""

    html: str
    text: str
    title: str = ""
    author: str = ""
    language: str = ""
    thumbnail_url: str = ""
    published_at: datetime | None = None
    final_url: str = ""
    # True when the rules or the extractor found nothing and the whole page is kept instead.
    whole_page: bool = False


class PageReader(Protocol):
    """Reads one page within the limits. The kind of error says whether to try again."""

    async def read(self, url: str, limit: int) -> Page: ...


class Extractor(Protocol):
    """Finds the article on a page, off the event loop."""

    async def extract(self, page: Page, rules: Sequence[ExtractionRule], owner: str = "") -> FetchedArticle:
        """The owner is the person who waits for it, and has a turn of his own; without one it is work for all."""
        ...

    async def from_feed(self, html: str, base_url: str) -> FetchedArticle: ...
