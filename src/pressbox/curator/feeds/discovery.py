"""Finds the feeds behind an address that somebody pasted."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from pressbox.core.errors import InvalidInputError, NotFoundError, PermanentError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.core.processes.calls import Terms
from pressbox.curator.feeds.crawler import ACCEPT
from pressbox.curator.feeds.domain import FoundFeed, ParsedFeed
from pressbox.curator.feeds.parser import FeedParser, NotAFeedError
from pressbox.curator.library.parser_pool import ParserPool
from pressbox.curator.library.urls import absolute_url, canonical_url, host_of, is_web_url
from pressbox.curator.text.charsets import decode

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

MOST_FOUND = 10
AT_ONCE = 4
# Where programs put their feeds when the page does not say: WordPress, Ghost, Hugo, Jekyll, Blogger, and by hand.
USUAL_PATHS = (
    "feed",
    "rss",
    "feed.xml",
    "index.xml",
    "rss.xml",
    "atom.xml",
    "feed.json",
    "feeds/posts/default",
    "?feed=rss2",
)
_YOUTUBE = "https://www.youtube.com/feeds/videos.xml?"
_YOUTUBE_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com"})
# In Europe YouTube shows a page of its own until somebody agrees or refuses. This cookie says: refused.
_NO_TRACKING = "SOCS=CAI"
_CONSENT_HOSTS = frozenset({"consent.youtube.com", "consent.google.com"})
_CONSENT = (
    "YouTube asks for consent before it shows this page. Paste the address with the channel's id, such as "
    "https://www.youtube.com/channel/UC…; the channel's page names it under Share, Copy channel ID."
)
_CHANNEL = re.compile(r"/channel/(UC[\w-]{22})\b")
_CHANNEL_ON_PAGE = re.compile(
    r'(?:"externalId"|"channelId"|itemprop="(?:channelId|identifier)" content=)\W{0,3}(UC[\w-]{22})"'
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"feed:(?://)?", re.IGNORECASE)
MOST_CHARACTERS = 3_000_000
_TYPES = {"application/atom+xml": 0, "application/rss+xml": 0, "application/feed+json": 1, "application/rdf+xml": 2}
_MAYBE_TYPES = {"application/xml": 3, "text/xml": 3, "application/json": 4}
# Every WordPress page declares a feed of comments, which people seldom want.
_COMMENTS = re.compile(r"comment|kommentar|replies", re.IGNORECASE)
_LOOKS_LIKE_FEED = re.compile(
    r"(?:/|\b)(?:rss|feed|feeds|atom)(?:\b|/|\.xml|2\b)|\.(?:rss|atom|rdf)(?:$|\?)", re.IGNORECASE
)


@dataclass(frozen=True)
class FeedLink:
    url: str
    title: str = ""


class FeedDiscovery:
    """Offers only feeds that it has read, so all of them can be subscribed."""

    def __init__(self, client: GuardedClient, parsers: ParserPool, max_bytes: int) -> None:
        self._client = client
        self._parsers = parsers
        self._parser = FeedParser(parsers)
        self._max_bytes = max_bytes

    async def discover(self, url: str, owner: str = "") -> Sequence[FoundFeed]:
        return await _Search(self._client, self._parsers, self._parser, self._max_bytes, owner).find(url)


@dataclass(frozen=True)
class _Search:
    """One search; the owner waits for the parser behind searches of his own only."""

    _client: GuardedClient
    _parsers: ParserPool
    _parser: FeedParser
    _max_bytes: int
    _owner: str

    async def find(self, url: str) -> Sequence[FoundFeed]:
        known = _youtube_feed(url)
        answer = await self._get(known) if known else await self._get_first(url)
        parsed = await self._parse(answer)
        if parsed is not None:
            address = (answer.moved_to or answer.url) if known else _lasting_url(url, answer)
            return [FoundFeed(address, parsed.title, parsed)]
        if host_of(answer.url) in _CONSENT_HOSTS:
            raise InvalidInputError(_CONSENT, field="url")
        if answer.status >= 500:
            raise TransientError(f"The site has a fault of its own (status {answer.status}). Try again later.")
        if answer.status >= 400:
            raise NotFoundError(f"The site answers with status {answer.status}. Is the address right?")
        return await self._find_on_page(answer)

    async def _get_first(self, url: str) -> Response:
        """Without a scheme try https, and http where the host does not speak it."""
        text = _FEED_SCHEME.sub("", url.strip(), count=1)
        if not text:
            raise InvalidInputError("Paste the address of a site or of a feed.", field="url")
        if _SCHEME.match(text):
            return await self._get(text)
        try:
            return await self._get(f"https://{text}")
        except TransientError as error:
            try:
                return await self._get(f"http://{text}")
            except TransientError:
                raise error from None

    async def _get(self, url: str) -> Response:
        headers = {"Accept": f"text/html, {ACCEPT}"}
        if host_of(url) in _YOUTUBE_HOSTS:
            headers["Cookie"] = _NO_TRACKING
        return await self._client.get(url, headers=headers, max_bytes=self._max_bytes)

    async def _parse(self, answer: Response) -> ParsedFeed | None:
        if not 200 <= answer.status < 300:
            return None
        try:
            return await self._parser.parse(
                answer.body, answer.headers.get("content-type", ""), answer.url, owner=self._owner
            )
        except NotAFeedError:
            return None

    async def _find_on_page(self, answer: Response) -> Sequence[FoundFeed]:
        kind = answer.headers.get("content-type", "")
        try:
            links = await self._parsers.run_by(Terms(owner=self._owner), read_feed_links, answer.body, kind, answer.url)
        except PermanentError as error:
            raise NotFoundError(f"The page could not be read. {error.message}") from error
        found = await self._read_all(links)
        if found:
            return found
        root, page = absolute_url("/", answer.url), answer.url.partition("?")[0].rstrip("/") + "/"
        guesses = [absolute_url(path, base) for base in dict.fromkeys((page, root)) for path in USUAL_PATHS]
        return await self._read_all([FeedLink(guess) for guess in dict.fromkeys(guesses)], enough=1)

    async def _read_all(self, links: Sequence[FeedLink], enough: int = MOST_FOUND) -> Sequence[FoundFeed]:
        """Read the feeds in the order of the links, each once."""
        found: dict[str, FoundFeed] = {}
        for start in range(0, len(links), AT_ONCE):
            for feed in await asyncio.gather(*(self._try_link(link) for link in links[start : start + AT_ONCE])):
                if feed is not None:
                    found.setdefault(canonical_url(feed.url), feed)
            if len(found) >= enough:
                break
        return list(found.values())

    async def _try_link(self, link: FeedLink) -> FoundFeed | None:
        try:
            answer = await self._get(link.url)
        except (TransientError, PermanentError):
            # Only one of several candidates.
            return None
        parsed = await self._parse(answer)
        return None if parsed is None else FoundFeed(_lasting_url(link.url, answer), parsed.title or link.title, parsed)


def _lasting_url(asked: str, answer: Response) -> str:
    """The address that stays right: permanent redirects count, temporary ones are followed again each time."""
    if answer.moved_to is not None:
        return answer.moved_to
    text = _FEED_SCHEME.sub("", asked.strip(), count=1)
    return text if _SCHEME.match(text) else f"{urlsplit(answer.url).scheme}://{text}"


def _youtube_feed(url: str) -> str | None:
    """The feed of a channel or playlist, which its page does not always name."""
    text = url.strip()
    address = text if "//" in text else f"https://{text}"
    if not is_web_url(address):
        return None
    parts = urlsplit(address)
    if parts.hostname not in _YOUTUBE_HOSTS:
        return None
    playlist = parse_qs(parts.query).get("list", [""])[0]
    if parts.path == "/playlist" and re.fullmatch(r"[\w-]{10,64}", playlist):
        return f"{_YOUTUBE}playlist_id={playlist}"
    channel = _CHANNEL.match(parts.path)
    return None if channel is None else f"{_YOUTUBE}channel_id={channel.group(1)}"


def read_feed_links(body: bytes, content_type: str, page_url: str) -> list[FeedLink]:
    """Return the feeds that a page as it came from the web names, best first."""
    text = decode(body, content_type).text
    links = find_feed_links(text, page_url)
    channel = _CHANNEL_ON_PAGE.search(text) if urlsplit(page_url).hostname in _YOUTUBE_HOSTS else None
    if channel is not None:
        links = [FeedLink(f"{_YOUTUBE}channel_id={channel.group(1)}"), *links]
    return links[:MOST_FOUND]


def find_feed_links(page: str, page_url: str) -> list[FeedLink]:
    """Return the feeds that the head of a page declares, best first, or links in its text that look like feeds."""
    from lxml import etree, html  # type: ignore[import-untyped]

    try:
        root = html.document_fromstring(page[:MOST_CHARACTERS], parser=html.HTMLParser(encoding=None))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        return []
    base = absolute_url(next((element.get("href") or "" for element in root.iter("base")), ""), page_url) or page_url
    return _without_duplicates(_declared_links(root, base) or _links_in_text(root, base), page_url)


def _declared_links(root: "HtmlElement", base: str) -> list[FeedLink]:
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


def _links_in_text(root: "HtmlElement", base: str) -> list[FeedLink]:
    links = ((element, absolute_url(element.get("href") or "", base)) for element in root.iter("a"))
    return [
        FeedLink(url, " ".join(element.text_content().split())[:200])
        for element, url in links
        if url and _LOOKS_LIKE_FEED.search(url.partition("//")[2].partition("/")[2])
    ]


def _without_duplicates(links: list[FeedLink], page_url: str) -> list[FeedLink]:
    unique = {canonical_url(link.url): link for link in reversed(links)}
    unique.pop(canonical_url(page_url), None)
    return [link for link in links if unique.get(canonical_url(link.url)) is link]
