"""From the address that somebody pasted to the feeds behind it."""

import asyncio
import re
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

from pressbox.core.errors import InvalidInputError, NotFoundError, PermanentError, TransientError
from pressbox.core.http.client import GuardedClient, Response
from pressbox.curator.feeds.crawler import ACCEPT
from pressbox.curator.feeds.page_links import FeedLink, feed_links
from pressbox.curator.feeds.parser import NotAFeedError
from pressbox.curator.feeds.ports import FoundFeed
from pressbox.curator.feeds.reader import FeedReader
from pressbox.curator.library.domain.feeds import ParsedFeed
from pressbox.curator.library.domain.urls import absolute_url, canonical_url, is_web_url
from pressbox.curator.text.charsets import decode

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
_CHANNEL = re.compile(r"/channel/(UC[\w-]{22})\b")
_CHANNEL_ON_PAGE = re.compile(
    r'(?:"externalId"|"channelId"|itemprop="(?:channelId|identifier)" content=)\W{0,3}(UC[\w-]{22})"'
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_FEED_SCHEME = re.compile(r"feed:(?://)?", re.IGNORECASE)


class FeedDiscovery:
    """Every feed that it names was read: what it offers can be subscribed."""

    def __init__(self, client: GuardedClient, reader: FeedReader, max_bytes: int) -> None:
        self._client = client
        self._reader = reader
        self._max_bytes = max_bytes

    async def discover(self, url: str) -> Sequence[FoundFeed]:
        known = _youtube_feed(url)
        answer = await self._asked(known) if known else await self._first_answer(url)
        parsed = await self._as_feed(answer)
        if parsed is not None:
            return [FoundFeed(answer.moved_to or answer.url if known else _kept(url, answer), parsed.title, parsed)]
        if answer.status >= 500:
            raise TransientError(f"The site has a fault of its own (status {answer.status}). Try again later.")
        if answer.status >= 400:
            raise NotFoundError(f"The site answers with status {answer.status}. Is the address right?")
        return await self._on_page(answer)

    async def _first_answer(self, url: str) -> Response:
        """Without a scheme https is meant; where nobody speaks it, http."""
        text = _FEED_SCHEME.sub("", url.strip(), count=1)
        if not text:
            raise InvalidInputError("Paste the address of a site or of a feed.", field="url")
        if _SCHEME.match(text):
            return await self._asked(text)
        try:
            return await self._asked(f"https://{text}")
        except TransientError as error:
            try:
                return await self._asked(f"http://{text}")
            except TransientError:
                raise error from None

    async def _asked(self, url: str) -> Response:
        return await self._client.get(url, headers={"Accept": f"text/html, {ACCEPT}"}, max_bytes=self._max_bytes)

    async def _as_feed(self, answer: Response) -> ParsedFeed | None:
        if not 200 <= answer.status < 300:
            return None
        try:
            return await self._reader.read(answer.body, answer.headers.get("content-type", ""), answer.url)
        except NotAFeedError:
            return None

    async def _on_page(self, answer: Response) -> Sequence[FoundFeed]:
        text = decode(answer.body, answer.headers.get("content-type", "")).text
        links = await asyncio.to_thread(feed_links, text, answer.url)
        channel = _CHANNEL_ON_PAGE.search(text) if urlsplit(answer.url).hostname in _YOUTUBE_HOSTS else None
        if channel is not None:
            links = [FeedLink(f"{_YOUTUBE}channel_id={channel.group(1)}"), *links]
        found = await self._read_all(links[:MOST_FOUND])
        if found:
            return found
        root, page = absolute_url("/", answer.url), answer.url.partition("?")[0].rstrip("/") + "/"
        guesses = [absolute_url(path, base) for base in dict.fromkeys((page, root)) for path in USUAL_PATHS]
        return await self._read_all([FeedLink(guess) for guess in dict.fromkeys(guesses)], enough=1)

    async def _read_all(self, links: Sequence[FeedLink], enough: int = MOST_FOUND) -> Sequence[FoundFeed]:
        """In the order of the links, the same feed once."""
        found: dict[str, FoundFeed] = {}
        for start in range(0, len(links), AT_ONCE):
            for feed in await asyncio.gather(*(self._tried(link) for link in links[start : start + AT_ONCE])):
                if feed is not None:
                    found.setdefault(canonical_url(feed.url), feed)
            if len(found) >= enough:
                break
        return list(found.values())

    async def _tried(self, link: FeedLink) -> FoundFeed | None:
        try:
            answer = await self._asked(link.url)
        except (TransientError, PermanentError):
            # One of several candidates; what matters is whether any of them is a feed.
            return None
        parsed = await self._as_feed(answer)
        return None if parsed is None else FoundFeed(_kept(link.url, answer), parsed.title or link.title, parsed)


def _kept(asked: str, answer: Response) -> str:
    """The address that stays right: temporary redirects are followed again each time."""
    if answer.moved_to is not None:
        return answer.moved_to
    text = _FEED_SCHEME.sub("", asked.strip(), count=1)
    return text if _SCHEME.match(text) else f"{urlsplit(answer.url).scheme}://{text}"


def _youtube_feed(url: str) -> str | None:
    """Channels and playlists have feeds which their pages do not always name."""
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
