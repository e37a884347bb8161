"""Reads feeds whose XML cannot be repaired, with feedparser, which is slow and finds what can be found."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.core.logs import get_logger
from pressbox.curator.feeds.domain import NO_TEXT, RawEntry, RawFeed, RawFile, RawText
from pressbox.curator.feeds.xml_feed import MOST_ENTRIES
from pressbox.curator.library.domain.urls import absolute_url

log = get_logger(__name__)

# It reads the worst documents at a fifth of a megabyte per second, so it gets no more than this.
MOST_CHARACTERS = 500_000


def read_malformed_feed(text: str, url: str) -> RawFeed | None:
    """Return None when it is not even the beginning of a feed."""
    # Imported here: it is slow to load and hardly ever needed.
    import feedparser  # type: ignore[import-untyped]

    # Given as a file, because feedparser would open what looks like an address or a path.
    source = io.BytesIO(text[:MOST_CHARACTERS].encode())
    headers = {"content-location": url, "content-type": "application/xml; charset=utf-8"}
    try:
        found = feedparser.parse(source, response_headers=headers, resolve_relative_uris=False, sanitize_html=False)
    # It means never to raise, and does so for some documents, with whatever its own code stumbles over.
    except Exception:
        log.warning("feedparser_failed", msg="A damaged feed broke feedparser", exc_info=True)
        return None
    feed = found.feed
    if not found.entries and not feed.get("title"):
        return None
    return RawFeed(
        title=_text(feed, "title"),
        site_url=absolute_url(_string(feed, "link"), url),
        description=_text(feed, "subtitle"),
        language=_string(feed, "language"),
        icon_url=absolute_url(_string(feed, "icon") or _string(feed.get("image") or {}, "href"), url),
        entries=tuple(_entry(entry, url) for entry in found.entries[:MOST_ENTRIES]),
        problems=("It is too long to be repaired; its beginning was read.",) if len(text) > MOST_CHARACTERS else (),
    )


def _entry(entry: Mapping[str, Any], url: str) -> RawEntry:
    long = _content(entry.get("content") or ())
    short = _text(entry, "summary")
    pictures: Sequence[Mapping[str, Any]] = entry.get("media_thumbnail") or ()
    return RawEntry(
        guid=_string(entry, "id"),
        url=absolute_url(_string(entry, "link"), url),
        title=_text(entry, "title"),
        author=_string(entry, "author"),
        published=_string(entry, "published"),
        # For a missing `updated` feedparser returns the date of publication, with a warning.
        updated=_string(entry, "updated") if "updated" in entry else "",
        content=long if long.value else short,
        summary=short if long.value and long != short else NO_TEXT,
        language=_string(entry, "language"),
        thumbnail_url=absolute_url(_string(pictures[0], "url"), url) if pictures else "",
        files=tuple(_file(file, url) for file in entry.get("enclosures") or ()),
    )


def _content(contents: Sequence[Mapping[str, Any]]) -> RawText:
    return max((_typed(content) for content in contents), key=lambda text: len(text.value), default=NO_TEXT)


def _text(holder: Mapping[str, Any], name: str) -> RawText:
    return _typed(holder.get(f"{name}_detail") or {"value": _string(holder, name)})


def _typed(detail: Mapping[str, Any]) -> RawText:
    return RawText(_string(detail, "value"), html=detail.get("type") != "text/plain", base=_string(detail, "base"))


def _file(file: Mapping[str, Any], url: str) -> RawFile:
    return RawFile(absolute_url(_string(file, "href"), url), _string(file, "type"), _string(file, "length"))


def _string(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    return value.strip() if isinstance(value, str) else ""
