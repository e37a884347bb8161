"""The feeds that a web page names, best first."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pressbox.curator.library.domain.urls import absolute_url, canonical_url

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

MOST_CHARACTERS = 3_000_000
_TYPES = {"application/atom+xml": 0, "application/rss+xml": 0, "application/feed+json": 1, "application/rdf+xml": 2}
_MAYBE_TYPES = {"application/xml": 3, "text/xml": 3, "application/json": 4}
# Feeds of comments come with every WordPress page; nobody means them first.
_COMMENTS = re.compile(r"comment|kommentar|replies", re.IGNORECASE)
_LOOKS_LIKE_FEED = re.compile(
    r"(?:/|\b)(?:rss|feed|feeds|atom)(?:\b|/|\.xml|2\b)|\.(?:rss|atom|rdf)(?:$|\?)", re.IGNORECASE
)


@dataclass(frozen=True)
class FeedLink:
    url: str
    title: str = ""


def feed_links(page: str, page_url: str) -> list[FeedLink]:
    """What the head declares; otherwise links in the text that look like feeds."""
    # Only discovery needs it, and a worker starts without.
    from lxml import etree, html  # type: ignore[import-untyped]

    try:
        root = html.document_fromstring(page[:MOST_CHARACTERS], parser=html.HTMLParser(encoding=None))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    base = absolute_url(next((element.get("href") or "" for element in root.iter("base")), ""), page_url) or page_url
    return _unique(_declared(root, base) or _in_text(root, base), page_url)


def _declared(root: "HtmlElement", base: str) -> list[FeedLink]:
    found: list[tuple[int, FeedLink]] = []
    for element in root.iter("link"):
        rel = (element.get("rel") or "").lower().split()
        kind = (element.get("type") or "").lower().partition(";")[0].strip()
        url = absolute_url(element.get("href") or "", base)
        rank = _TYPES.get(kind) if "alternate" in rel or "feed" in rel else None
        if rank is None and ("feed" in rel or ("alternate" in rel and kind in _MAYBE_TYPES)):
            rank = _MAYBE_TYPES.get(kind, 3)
        if rank is None or not url:
            continue
        title = " ".join((element.get("title") or "").split())
        found.append((rank + (10 if _COMMENTS.search(f"{title} {url}") else 0), FeedLink(url, title)))
    return [link for _, link in sorted(found, key=lambda pair: pair[0])]


def _in_text(root: "HtmlElement", base: str) -> list[FeedLink]:
    links = ((element, absolute_url(element.get("href") or "", base)) for element in root.iter("a"))
    return [
        FeedLink(url, " ".join(element.text_content().split())[:200])
        for element, url in links
        if url and _LOOKS_LIKE_FEED.search(url.partition("//")[2].partition("/")[2])
    ]


def _unique(links: list[FeedLink], page_url: str) -> list[FeedLink]:
    unique = {canonical_url(link.url): link for link in reversed(links)}
    unique.pop(canonical_url(page_url), None)
    return [link for link in links if unique.get(canonical_url(link.url)) is link]
