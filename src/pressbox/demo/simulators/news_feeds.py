"""Writes feeds as publishers do: RSS 2.0, Atom and JSON Feed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr


class Form(StrEnum):
    RSS = "rss"
    ATOM = "atom"
    JSON = "json"

    @property
    def content_type(self) -> str:
        return "application/feed+json" if self is Form.JSON else f"application/{self.value}+xml"


@dataclass(frozen=True)
class Item:
    """Empty fields are left out, as careless publishers do. With `content` the feed carries the full text."""

    title: str
    guid: str = ""
    url: str = ""
    author: str = ""
    published_at: datetime | None = None
    summary: str = ""
    content: str = ""
    image_url: str = ""
    video_id: str = ""


@dataclass(frozen=True)
class Channel:
    title: str
    url: str
    language: str
    description: str = ""


def write_feed(form: Form, channel: Channel, items: Sequence[Item]) -> bytes:
    write = {Form.RSS: _rss, Form.ATOM: _atom, Form.JSON: _json}[form]
    return write(channel, items).encode()


def _element(name: str, value: str, attributes: str = "") -> str:
    return f"<{name}{attributes}>{escape(value)}</{name}>" if value else ""


def _rss(channel: Channel, items: Sequence[Item]) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/'
        'content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"><channel>'
        f"{_element('title', channel.title)}{_element('link', channel.url)}{_element('language', channel.language)}"
        f"{_element('description', channel.description)}\n{''.join(map(_rss_item, items))}</channel></rss>\n"
    )


def _rss_item(item: Item) -> str:
    date = format_datetime(item.published_at, usegmt=False) if item.published_at else ""
    image = f"<media:thumbnail url={quoteattr(item.image_url)}/>" if item.image_url else ""
    return (
        f"<item>{_element('title', item.title)}{_element('link', item.url)}"
        f"{_element('guid', item.guid, ' isPermaLink=' + quoteattr('false'))}{_element('pubDate', date)}"
        f"{_element('dc:creator', item.author)}{_element('description', item.summary)}"
        f"{_element('content:encoded', item.content)}{image}</item>\n"
    )


def _atom(channel: Channel, items: Sequence[Item]) -> str:
    newest = max((item.published_at for item in items if item.published_at), default=None)
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
        f'xmlns:yt="http://www.youtube.com/xml/schemas/2015" xml:lang={quoteattr(channel.language)}>'
        f"{_element('id', channel.url)}{_element('title', channel.title)}<link href={quoteattr(channel.url)}/>"
        f"{_element('updated', newest.isoformat() if newest else '')}\n{''.join(map(_atom_entry, items))}</feed>\n"
    )


def _atom_entry(item: Item) -> str:
    date = item.published_at.isoformat() if item.published_at else ""
    author = f"<author>{_element('name', item.author)}</author>" if item.author else ""
    link = f"<link href={quoteattr(item.url)}/>" if item.url else ""
    html = ' type="html"'
    return (
        f"<entry>{_element('id', item.guid)}{_element('title', item.title)}{link}{author}{_element('published', date)}"
        f"{_element('updated', date)}{_element('summary', item.summary)}{_element('content', item.content, html)}"
        f"{_element('yt:videoId', item.video_id)}</entry>\n"
    )


def _json(channel: Channel, items: Sequence[Item]) -> str:
    return json.dumps(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": channel.title,
            "home_page_url": channel.url,
            "language": channel.language,
            "items": [_json_item(item) for item in items],
        },
        ensure_ascii=False,
    )


def _json_item(item: Item) -> dict[str, object]:
    told: dict[str, object] = {
        "id": item.guid,
        "url": item.url,
        "title": item.title,
        "summary": item.summary,
        "content_html": item.content,
        "image": item.image_url,
        "date_published": item.published_at.isoformat() if item.published_at else "",
        "authors": [{"name": item.author}] if item.author else [],
    }
    return {name: value for name, value in told.items() if value}
