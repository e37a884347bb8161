"""Which entry of a feed is the same one as before, and whether it still says the same. Pure."""

import re
from urllib.parse import urlsplit

from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.library.domain.entries import hash_texts
from pressbox.curator.library.domain.urls import canonical_url, host_of
from pressbox.curator.text.plain_text import make_storable

# An index of the database takes no more, and no more is needed to tell entries apart.
LONGEST_GUID = 500
LONGEST_ADDRESS = 2000
_DIGITS = re.compile(r"[\d\s]+")
_VIDEO_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "youtu.be", "www.youtube-nocookie.com"})


def choose_guid(entry: FeedEntry) -> str:
    """Choose what tells this entry from the others of its feed, whatever the feed leaves out."""
    guid = make_storable(entry.guid.strip()) or canonical_url(entry.url)
    if not guid:
        return "text:" + hash_texts(entry.title, entry.content or entry.summary)
    return guid if len(guid) <= LONGEST_GUID else "hash:" + hash_texts(guid)


def article_address(url: str) -> str:
    """The address that identifies an article across feeds; empty where it names none, as a home page."""
    address = canonical_url(url)
    parts = urlsplit(address)
    names_something = parts.path.strip("/") or parts.query or parts.fragment
    return address if names_something and len(address) <= LONGEST_ADDRESS else ""


def has_page(entry: FeedEntry) -> bool:
    """Whether there is an article to fetch: not for videos of YouTube, and not for files that are the entry."""
    if not entry.url:
        return False
    return not is_video(entry.url) and entry.url not in {enclosure.url for enclosure in entry.enclosures}


def is_video(url: str) -> bool:
    return host_of(url) in _VIDEO_HOSTS


def feed_hash(entry: FeedEntry) -> str:
    """Hash all that is stored of an entry: with the same hash there is nothing to write."""
    enclosures = [f"{enclosure.url} {enclosure.type} {enclosure.length}" for enclosure in entry.enclosures]
    texts = (entry.title, entry.url, entry.author, entry.content, entry.summary, entry.language, entry.thumbnail_url)
    return hash_texts(*texts, *enclosures)


def says_the_same(before: str, after: str) -> bool:
    """Whether two texts differ in figures at most: a feed that counts comments has not edited its articles."""
    return _DIGITS.sub("", before) == _DIGITS.sub("", after)
