"""Which entry is the same one, and whether what it says is still the same. Pure."""

import hashlib
import re
from urllib.parse import urlsplit

from pressbox.curator.library.domain.feeds import FeedEntry
from pressbox.curator.library.domain.urls import canonical_url, host_of

# An index of the database takes no more, and nobody needs more to tell entries apart.
LONGEST_GUID = 500
LONGEST_ADDRESS = 2000
_SEPARATOR = "\x1f"
_DIGITS = re.compile(r"[\d\s]+")
_VIDEO_HOSTS = frozenset({"youtube.com", "www.youtube.com", "m.youtube.com", "youtu.be", "www.youtube-nocookie.com"})


def guid_of(entry: FeedEntry) -> str:
    """What tells this entry from the others of its feed, whatever the feed leaves out."""
    guid = storable(entry.guid.strip()) or canonical_url(entry.url)
    if not guid:
        return "text:" + _hash(entry.title, entry.content or entry.summary)
    return guid if len(guid) <= LONGEST_GUID else "hash:" + _hash(guid)


def article_address(url: str) -> str:
    """The address by which the same article is found in other feeds; empty where it names none, as a home page."""
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
    """Of all that is stored of an entry: the same means that there is nothing to write."""
    enclosures = [f"{enclosure.url} {enclosure.type} {enclosure.length}" for enclosure in entry.enclosures]
    stated = (entry.title, entry.url, entry.author, entry.content, entry.summary, entry.language, entry.thumbnail_url)
    return _hash(*stated, *enclosures)


def says_the_same(before: str, after: str) -> bool:
    """Whether two texts differ in figures at most: a feed that counts comments has not edited its articles."""
    return _DIGITS.sub("", before) == _DIGITS.sub("", after)


def content_hash(text: str) -> str:
    """Of the text that is to be read, line by line; empty without any. Answers that name lines are kept under it."""
    return _hash(text) if text.strip() else ""


def shown_hash(title: str, author: str, summary: str, filtered_content: str, feed_content: str) -> str:
    """Of what is in the search index. The database computes the same for rows that it holds."""
    return _hash(title, author, summary, filtered_content, feed_content)


def storable(text: str) -> str:
    """Without what PostgreSQL takes for the end of a text, and halves of characters."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def _hash(*parts: str) -> str:
    # For telling texts apart, not for secrets; the database has this one built in.
    joined = _SEPARATOR.join(parts).encode(errors="replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()
