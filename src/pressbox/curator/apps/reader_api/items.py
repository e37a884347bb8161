"""Entries as items of the reader API."""

from pressbox.curator.apps.domain.streams import (
    FEED,
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    ItemReference,
    StreamItem,
    long_id,
    microseconds,
    short_id,
)
from pressbox.curator.apps.reader_api.responses import Json


def reference(item: ItemReference) -> dict[str, Json]:
    return {
        "id": short_id(item.entry_id),
        "directStreamIds": [f"{FEED}{item.feed_id}"],
        "timestampUsec": str(microseconds(item.arrived_at)),
    }


def item(entry: StreamItem) -> dict[str, Json]:
    arrived = microseconds(entry.arrived_at)
    told: dict[str, Json] = {
        "id": long_id(entry.entry_id),
        "crawlTimeMsec": str(arrived // 1000),
        "timestampUsec": str(arrived),
        "published": int(entry.published_at.timestamp()),
        "updated": int(entry.updated_at.timestamp()),
        "title": entry.title,
        "canonical": [{"href": entry.canonical_url or entry.url}],
        "alternate": [{"href": entry.url, "type": "text/html"}],
        "categories": tags_of(entry),
        "origin": {
            "streamId": f"{FEED}{entry.feed.id}",
            "title": entry.feed.title,
            "htmlUrl": entry.feed.site_url,
        },
        "summary": {"direction": "ltr", "content": entry.html},
    }
    if entry.author:
        told["author"] = entry.author
    if entry.enclosures:
        told["enclosure"] = [
            {"href": one.url, "type": one.type} | ({"length": one.length} if one.length is not None else {})
            for one in entry.enclosures
        ]
    return told


def tags_of(entry: StreamItem) -> list[str]:
    tags = [READING_LIST]
    if entry.feed.folder:
        tags.append(f"{LABEL}{entry.feed.folder}")
    if entry.read:
        tags.append(READ)
    if entry.starred:
        tags.append(STARRED)
    # A label may be called as the folder is.
    return list(dict.fromkeys([*tags, *(f"{LABEL}{name}" for name in entry.labels)]))
