"""Entries as apps read them: items of the Google Reader API, and Atom."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from pressbox.curator.apps.domain import (
    FEED,
    LABEL,
    READ,
    READING_LIST,
    STARRED,
    STATE,
    ItemReference,
    StreamItem,
    long_id,
    microseconds,
    short_id,
)

Json = str | int | float | bool | None | Mapping[str, "Json"] | Sequence["Json"]


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


READER_SCHEME = "http://www.google.com/reader/"
_ATOM = "http://www.w3.org/2005/Atom"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_READER = "http://www.google.com/schemas/reader/atom/"


@dataclass(frozen=True)
class Told:
    """What is said of the feed itself. `html_address` is a page of the same, when there is one."""

    id: str
    title: str
    address: str
    html_address: str = ""
    full_text: bool = True
    continuation: str = ""
    # Each entry says whether it is read and starred, and is named as apps name it.
    for_apps: bool = False


def newest_of(entries: Sequence[StreamItem]) -> datetime:
    """When the newest of them came or changed; long ago when there are none."""
    return max((max(entry.arrived_at, entry.updated_at) for entry in entries), default=_LONG_AGO)


def atom(about: Told, entries: Sequence[StreamItem]) -> bytes:
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<feed xmlns="{_ATOM}" xmlns:gr="{_READER}">',
        _text("id", about.id),
        _text("title", about.title),
        _text("updated", _moment(newest_of(entries))),
        "<author><name>Pressbox</name></author>",
        f'<link rel="self" type="application/atom+xml" href={quoteattr(_clean(about.address))}/>',
    ]
    if about.html_address:
        lines.append(f'<link rel="alternate" type="text/html" href={quoteattr(_clean(about.html_address))}/>')
    if about.continuation:
        lines.append(f"<gr:continuation>{escape(about.continuation)}</gr:continuation>")
    for entry in entries:
        lines.extend(_entry(entry, about))
    lines.append("</feed>")
    return "\n".join(lines).encode("utf-8", "replace")


def _entry(entry: StreamItem, about: Told) -> Iterator[str]:
    yield "<entry>"
    own = long_id(entry.entry_id)
    yield _text("id", own if about.for_apps else entry.canonical_url or entry.url or own)
    yield _text("title", entry.title)
    yield _text("published", _moment(entry.published_at))
    yield _text("updated", _moment(max(entry.updated_at, entry.published_at)))
    yield f"<author><name>{escape(_clean(entry.author or entry.feed.title))}</name></author>"
    if entry.url:
        yield f'<link rel="alternate" type="text/html" href={quoteattr(_clean(entry.url))}/>'
    for one in entry.enclosures:
        length = f' length="{one.length}"' if one.length is not None else ""
        kind = f" type={quoteattr(_clean(one.type))}" if one.type else ""
        yield f'<link rel="enclosure" href={quoteattr(_clean(one.url))}{kind}{length}/>'
    if about.for_apps:
        yield from _categories(entry)
    if entry.summary:
        yield _text("summary", entry.summary)
    if about.full_text or not entry.summary:
        yield f'<content type="html">{escape(_clean(entry.html))}</content>'
    yield "</entry>"


def _categories(entry: StreamItem) -> Iterator[str]:
    words = {tag: tag.rpartition("/")[2] for tag in tags_of(entry) if tag.startswith(STATE)}
    words |= {tag: tag.removeprefix(LABEL) for tag in tags_of(entry) if tag.startswith(LABEL)}
    if not entry.read:
        words[f"{STATE}fresh"] = "fresh"
    for tag, word in words.items():
        term, label = quoteattr(_clean(tag)), quoteattr(_clean(word))
        yield f'<category term={term} scheme="{READER_SCHEME}" label={label}/>'


def _text(name: str, text: str) -> str:
    return f"<{name}>{escape(_clean(text))}</{name}>"


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# What XML cannot hold in any form.
_UNWRITABLE = {code: None for code in (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0xFFFE, 0xFFFF)}


def _clean(text: str) -> str:
    return text.translate(_UNWRITABLE)
