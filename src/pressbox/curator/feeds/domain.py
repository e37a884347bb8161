"""A feed as its document has it (raw), as it is stored (parsed), what a crawl came to, and what tells entries apart.

An entry has several names, from wide to narrow. It goes by the widest that no other entry of its document shares. When
neighbours come or go that may be another one than last time, so the others are kept to find it again.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from pressbox.curator.library.domain import CrawlOutcome, Enclosure
from pressbox.curator.library.urls import article_address, canonical_url


@dataclass(frozen=True)
class RawText:
    """A text of a document. `html` says that it is markup, `base` where its relative addresses begin, if stated.

    In what is `xhtml` every tag is one; in other markup it may be a word in brackets.
    """

    value: str
    html: bool = True
    base: str = ""
    xhtml: bool = False


NO_TEXT = RawText("")


@dataclass(frozen=True)
class RawFile:
    url: str
    type: str = ""
    length: str = ""


@dataclass(frozen=True)
class RawEntry:
    guid: str = ""
    url: str = ""
    title: RawText = NO_TEXT
    author: str = ""
    published: str = ""
    updated: str = ""
    content: RawText = NO_TEXT
    summary: RawText = NO_TEXT
    language: str = ""
    thumbnail_url: str = ""
    files: tuple[RawFile, ...] = ()


@dataclass(frozen=True)
class RawFeed:
    """What RSS, Atom, RDF and JSON Feed have in common, before anything is cleaned."""

    title: RawText = NO_TEXT
    site_url: str = ""
    description: RawText = NO_TEXT
    language: str = ""
    icon_url: str = ""
    interval: timedelta | None = None
    entries: tuple[RawEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class FeedEntry:
    """An entry of a feed, cleaned: absolute addresses, sanitised HTML, aware times or none."""

    guid: str
    url: str
    title: str
    author: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    content: str = ""
    summary: str = ""
    language: str = ""
    thumbnail_url: str = ""
    enclosures: tuple[Enclosure, ...] = ()
    # Names under which an earlier crawl may have stored it, see `identity.py`.
    narrower_guids: tuple[str, ...] = field(default=(), compare=False)
    wider_guids: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class ParsedFeed:
    """`problems` names what could not be used."""

    title: str
    site_url: str = ""
    description: str = ""
    language: str = ""
    icon_url: str = ""
    hub_interval: timedelta | None = None
    entries: tuple[FeedEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validators:
    """What a conditional request sends. Stored in the same transaction as the entries they stand for."""

    etag: str = ""
    last_modified: str = ""
    content_hash: str = ""


@dataclass(frozen=True)
class Crawl:
    """One crawl, before it is stored."""

    outcome: CrawlOutcome
    parsed: ParsedFeed | None = None
    validators: Validators = field(default_factory=Validators)
    reason: str = ""
    status: int | None = None
    # Where the feed lives now, after a permanent redirect.
    moved_to: str | None = None
    # The site asks not to come back before this time (Retry-After, Cache-Control, Expires).
    not_before: datetime | None = None
    # It was not asked: others of its host come first. The feed has no fault, and comes at `not_before`.
    postponed: bool = False
    # It breaks our own process: not crawled again until somebody asks for it.
    set_aside: bool = False


@dataclass(frozen=True)
class FeedToCrawl:
    feed_id: int
    url: str
    validators: Validators
    interval: timedelta | None = None
    entry_limit: int | None = None
    last_read_at: datetime | None = None


LONGEST_NAME = 1000
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True)
class EntryIdentity:
    """`guid` tells an entry from its neighbours; under the other names an earlier crawl may have stored it.

    A narrower name is the entry for sure, a wider one only when title and date agree.
    """

    guid: str
    narrower: tuple[str, ...] = ()
    wider: tuple[str, ...] = ()


def identify_entries(entries: Sequence[RawEntry]) -> list[EntryIdentity]:
    """Return the identity of every entry, in order. Entries that cannot be told apart have the same."""
    names = [_names(entry) for entry in entries]
    levels = [_first_level(entry, own) for entry, own in zip(entries, names, strict=True)]
    shared = True
    while shared:
        shared = False
        for group in _group_by_name(names, levels):
            if len(group) > 1 and _differ([entries[place] for place in group]):
                for place in group:
                    if levels[place] < len(names[place]) - 1:
                        levels[place] += 1
                        shared = True
    return [_identity(own, level) for own, level in zip(names, levels, strict=True)]


def _identity(names: Sequence[str], level: int) -> EntryIdentity:
    return EntryIdentity(names[level], tuple(names[level + 1 :]), tuple(reversed(names[:level])))


def _names(entry: RawEntry) -> list[str]:
    """All names of an entry, the widest first."""
    guid = " ".join(_CONTROL.sub("", entry.guid).split())
    title = " ".join(entry.title.value.split())
    if guid:
        return [_shorten(guid), _narrow(guid, canonical_url(entry.url), title)]
    link = canonical_url(entry.url, keep_fragment=True)
    if link:
        # Without its fragment it was stored by earlier versions.
        wide = list(dict.fromkeys((_shorten(canonical_url(entry.url)), _shorten(link))))
        moment = entry.published or entry.updated or entry.content.value
        return [*wide, _narrow(link, title), _narrow(link, title, moment)]
    # Without the date: undated entries exist, and a corrected date must not make a second entry.
    return [_hash(entry.title.value, entry.content.value, *(file.url for file in entry.files))]


def _first_level(entry: RawEntry, names: Sequence[str]) -> int:
    if entry.guid.strip() or len(names) == 1:
        return 0
    # The home page is not the address of an article, so the title counts from the beginning.
    level = names.index(_shorten(canonical_url(entry.url, keep_fragment=True)))
    return level if article_address(entry.url) else level + 1


def _group_by_name(names: Sequence[Sequence[str]], levels: Sequence[int]) -> list[list[int]]:
    groups: dict[str, list[int]] = defaultdict(list)
    for place, (own, level) in enumerate(zip(names, levels, strict=True)):
        groups[own[level]].append(place)
    return list(groups.values())


FEWEST_UNDER_ONE_GUID = 3


def _differ(entries: Sequence[RawEntry]) -> bool:
    """Whether the entries of one name are several.

    A guid is believed unless both title and address contradict it, or so many titles that it is the same for
    everything: an article is seldom listed three times, under another title each time.
    """
    titles = {" ".join(entry.title.value.split()) for entry in entries}
    if not entries[0].guid.strip():
        moments = {(entry.published or entry.updated or entry.content.value).strip() for entry in entries}
        return len(titles) > 1 or len(moments) > 1
    if len(titles) == len(entries) >= FEWEST_UNDER_ONE_GUID:
        return True
    return len(titles) > 1 and len({canonical_url(entry.url) for entry in entries}) > 1


def _narrow(name: str, *details: str) -> str:
    return _shorten(f"{name} {_hash(*details)}")


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else _hash(name)


def _hash(*parts: str) -> str:
    text = "\n".join(parts).encode("utf-8", errors="replace")
    return f"sha256:{hashlib.sha256(text).hexdigest()}"


class Discovery(Protocol):
    """Finds the feeds of a site, best first; the address of a feed finds itself.

    A site without feeds gives an empty result. One that cannot be read raises a TransientError or a PermanentError.
    """

    async def discover(self, url: str, owner: str = "") -> Sequence["FoundFeed"]: ...


@dataclass(frozen=True)
class FoundFeed:
    url: str
    title: str
    parsed: ParsedFeed | None = None
