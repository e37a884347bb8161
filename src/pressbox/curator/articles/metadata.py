"""Reads what a page says about itself: title, author, date, language, picture. What it does not say stays empty."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

_DATES = (
    "//meta[@property='article:published_time' or @property='og:article:published_time']/@content",
    "//meta[@itemprop='datePublished']/@content",
    "//*[@itemprop='datePublished']/@datetime",
    "//meta[@name='date' or @name='DC.date.issued' or @name='dcterms.date' or @name='parsely-pub-date']/@content",
    "//article//time[@pubdate]/@datetime",
    "(//article//time/@datetime)[1]",
)
_PICTURES = (
    "//meta[@property='og:image' or @property='og:image:url' or @property='og:image:secure_url']/@content",
    "//meta[@name='twitter:image' or @name='twitter:image:src']/@content",
    "//link[@rel='image_src']/@href",
)
_AUTHOR = "(//a[@rel='author'] | //*[@itemprop='author'])[1]"
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_LONGEST_NAME = 300
_MOST_AUTHORS = 5
_LONGEST_JSON = 200_000
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class PageMetadata:
    title: str = ""
    author: str = ""
    language: str = ""
    picture: str = ""
    published_at: datetime | None = None


def read_metadata(tree: Any, base_url: str, now: datetime) -> PageMetadata:
    from trafilatura.metadata import examine_meta, extract_meta_json, extract_title

    meta = extract_meta_json(tree, examine_meta(tree))
    items = _read_linked_data(tree)
    # Only what is marked as the author: names near words like "by" are wrong too often.
    marked = (element.text_content() for element in tree.xpath(_AUTHOR))
    stated = [meta.author] if meta.author and not meta.author.startswith(("http:", "https:")) else []
    dates = (item["datePublished"] for item in items if isinstance(item.get("datePublished"), str))
    return PageMetadata(
        title=_line(meta.title or extract_title(tree)),
        author=_line(next(iter([*_author_names(items), *stated, *marked]), "")).strip(" —–-|·,"),
        language=_language(tree),
        picture=next(_absolute_urls(_values(tree, _PICTURES), base_url), ""),
        published_at=next(_parse_dates([*_values(tree, _DATES), *dates], now), None),
    )


def _values(tree: Any, expressions: Iterable[str]) -> Iterator[str]:
    for expression in expressions:
        yield from (str(value) for value in tree.xpath(expression))


def _line(text: str | None) -> str:
    return " ".join((text or "").split())[:_LONGEST_NAME]


def _language(tree: Any) -> str:
    said = next(_values(tree, ("/html/@lang", "//meta[@http-equiv='content-language']/@content")), "")
    found = _LANGUAGE.match(said.strip().lower())
    return found.group() if found else ""


def _absolute_urls(values: Iterable[str], base_url: str) -> Iterator[str]:
    for value in values:
        try:
            whole = urljoin(base_url, value.strip())
            if urlsplit(whole).scheme in ("http", "https"):
                yield whole
        except ValueError:
            continue


def _read_linked_data(tree: Any) -> list[dict[str, Any]]:
    """Return the objects of the page's JSON-LD, one level deep and inside `@graph`."""
    found: list[dict[str, Any]] = []
    for script in tree.xpath("//script[@type='application/ld+json']"):
        try:
            said = json.loads((script.text or "")[:_LONGEST_JSON])
        except (ValueError, RecursionError):
            continue
        for item in said if isinstance(said, list) else [said]:
            graph = item.get("@graph") if isinstance(item, dict) else None
            found += [one for one in [item, *(graph if isinstance(graph, list) else [])] if isinstance(one, dict)]
    return found


def _author_names(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        authors = item.get("author")
        names = [
            one.get("name") if isinstance(one, dict) else one
            for one in (authors if isinstance(authors, list) else [authors])
        ]
        said = [name for name in names if isinstance(name, str) and not name.startswith(("http:", "https:"))]
        if said:
            yield ", ".join(said[:_MOST_AUTHORS])


def _parse_dates(values: Iterable[str], now: datetime) -> Iterator[datetime]:
    for value in values:
        try:
            time = datetime.fromisoformat(value.strip())
        except ValueError:
            continue
        # Pages state local time without saying where; UTC is at most half a day wrong.
        aware = time if time.tzinfo else time.replace(tzinfo=UTC)
        if _EARLIEST <= aware <= now:
            yield aware.astimezone(UTC)
