"""Finds the entries of a crawl among those that are stored. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pressbox.curator.feeds.domain import FeedEntry
from pressbox.curator.ingest.domain import feed_hash, shorten_guid
from pressbox.curator.text.plain_text import make_storable


@dataclass(frozen=True)
class StoredEntry:
    """What is compared of a stored entry. `published_at` is None for an undated one."""

    id: int
    guid: str
    url: str
    title: str
    feed_hash: str
    published_at: datetime | None


def all_guids(guid: str, entry: FeedEntry) -> tuple[str, ...]:
    return tuple(dict.fromkeys((guid, *map(shorten_guid, (*entry.narrower_guids, *entry.wider_guids)))))


def match_entries(wanted: Mapping[str, FeedEntry], stored: Mapping[str, StoredEntry]) -> dict[str, StoredEntry]:
    """Return what is known of the wanted entries, both by guid. A stored entry is one of them at most."""
    found: dict[str, StoredEntry] = {}
    taken: set[int] = set()
    for guid, entry in wanted.items():
        names = (guid, *map(shorten_guid, entry.narrower_guids))
        row = next((stored[name] for name in names if name in stored and stored[name].id not in taken), None)
        if row is not None:
            found[guid] = row
            taken.add(row.id)
    for guid, entry in wanted.items():
        if guid in found:
            continue
        rows = (stored[name] for name in map(shorten_guid, entry.wider_guids) if name in stored)
        same = next((row for row in rows if row.id not in taken and _is_same(row, entry)), None)
        if same is not None:
            found[guid] = same
            taken.add(same.id)
    return found


def find_renamed(known: Mapping[str, StoredEntry], wanted: Mapping[str, FeedEntry]) -> dict[int, str]:
    """Return the new guids of entries that were stored under a wider one, so that it cannot stand for another."""
    wide = {guid: set(map(shorten_guid, wanted[guid].wider_guids)) for guid in known}
    return {row.id: guid for guid, row in known.items() if row.guid in wide[guid]}


def is_removed(guid: str, entry: FeedEntry, removed: Mapping[str, datetime]) -> bool:
    """Whether an entry was cleaned up: under its own name, or by its date under one that it shared with others."""
    if any(name in removed for name in (guid, *map(shorten_guid, entry.narrower_guids))):
        return True
    shared = [removed[name] for name in map(shorten_guid, entry.wider_guids) if name in removed]
    return entry.published_at is not None and any(entry.published_at <= at for at in shared)


def _is_same(row: StoredEntry, entry: FeedEntry) -> bool:
    if row.feed_hash == feed_hash(entry):
        return True
    same_words = (row.title, row.url) == (make_storable(entry.title), make_storable(entry.url))
    return same_words and (None in (row.published_at, entry.published_at) or row.published_at == entry.published_at)
