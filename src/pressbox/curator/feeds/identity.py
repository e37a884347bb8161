"""Tells the entries of a feed apart: inside one document, and from one crawl to the next. Pure.

An entry has several names, from wide to narrow. It goes by the widest that no other entry of its document shares. When
neighbours come or go that may be another one than last time, so the others are kept to find it again.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.curator.feeds.domain import RawEntry
from pressbox.curator.library.domain.urls import article_address, canonical_url

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


def _differ(entries: Sequence[RawEntry]) -> bool:
    """Whether the entries of one name are several. A guid is believed unless both title and address contradict it."""
    titles = {" ".join(entry.title.value.split()) for entry in entries}
    if not entries[0].guid.strip():
        moments = {(entry.published or entry.updated or entry.content.value).strip() for entry in entries}
        return len(titles) > 1 or len(moments) > 1
    return len(titles) > 1 and len({canonical_url(entry.url) for entry in entries}) > 1


def _narrow(name: str, *details: str) -> str:
    return _shorten(f"{name} {_hash(*details)}")


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else _hash(name)


def _hash(*parts: str) -> str:
    text = "\n".join(parts).encode("utf-8", errors="replace")
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
