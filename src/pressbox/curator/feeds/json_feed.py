"""Reads JSON Feed 1.0 and 1.1."""

import json
from collections.abc import Mapping, Sequence

from pressbox.curator.feeds.domain import NO_TEXT, RawEntry, RawFeed, RawFile, RawText
from pressbox.curator.feeds.xml_feed import MOST_ENTRIES
from pressbox.curator.library.domain.urls import absolute_url


def read_json_feed(text: str, url: str) -> RawFeed | None:
    """Return None when this is no JSON Feed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    feed = _object(document)
    items = feed.get("items")
    if not isinstance(items, list) or not ("jsonfeed.org" in _text(feed, "version") or "title" in feed):
        return None
    author = _authors(feed)
    return RawFeed(
        title=RawText(_text(feed, "title"), html=False),
        site_url=absolute_url(_text(feed, "home_page_url"), url),
        description=RawText(_text(feed, "description"), html=False),
        language=_text(feed, "language"),
        icon_url=absolute_url(_text(feed, "icon") or _text(feed, "favicon"), url),
        entries=tuple(_item(_object(item), url, author) for item in items[:MOST_ENTRIES]),
    )


def _item(item: Mapping[str, object], url: str, feed_author: str) -> RawEntry:
    html, plain = _text(item, "content_html"), _text(item, "content_text")
    content = RawText(html) if html else RawText(plain, html=False)
    summary = RawText(_text(item, "summary"), html=False)
    image = _text(item, "image") or _text(item, "banner_image")
    return RawEntry(
        guid=_text(item, "id"),
        url=absolute_url(_text(item, "url") or _text(item, "external_url"), url),
        title=RawText(_text(item, "title"), html=False),
        author=_authors(item) or feed_author,
        published=_text(item, "date_published"),
        updated=_text(item, "date_modified"),
        content=content if content.value else summary,
        summary=summary if content.value else NO_TEXT,
        language=_text(item, "language"),
        thumbnail_url=absolute_url(image, url),
        files=tuple(_file(_object(file), url) for file in _list(item.get("attachments"))),
    )


def _file(file: Mapping[str, object], url: str) -> RawFile:
    return RawFile(absolute_url(_text(file, "url"), url), _text(file, "mime_type"), _text(file, "size_in_bytes"))


def _authors(holder: Mapping[str, object]) -> str:
    people = [_object(person) for person in (*_list(holder.get("authors")), holder.get("author"))]
    return ", ".join(dict.fromkeys(name for person in people if (name := _text(person, "name"))))


def _text(holder: Mapping[str, object], name: str) -> str:
    value = holder.get(name)
    # In some feeds ids are numbers. Booleans are never a text.
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
