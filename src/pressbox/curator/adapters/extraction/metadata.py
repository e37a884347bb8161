"""What a page says about itself: title, author, date, language, picture. What it does not say stays empty."""

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
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_LONGEST_NAME = 300
_LONGEST_JSON = 200_000
_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class PageMetadata:
    title: str = ""
    author: str = ""
    language: str = ""
    picture: str = ""
    published_at: datetime | None = None


def metadata_of(tree: Any, base_url: str, now: datetime) -> PageMetadata:
    from trafilatura.metadata import examine_meta, extract_author, extract_meta_json, extract_title

    said = extract_meta_json(tree, examine_meta(tree))
    author = said.author if said.author and not said.author.startswith(("http:", "https:")) else None
    return PageMetadata(
        title=_line(said.title or extract_title(tree)),
        author=_line(author or extract_author(tree)),
        language=_language(tree),
        picture=next(_addresses(_values(tree, _PICTURES), base_url), ""),
        published_at=next(_times([*_values(tree, _DATES), *_linked_data_dates(tree)], now), None),
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


def _addresses(values: Iterable[str], base_url: str) -> Iterator[str]:
    for value in values:
        try:
            whole = urljoin(base_url, value.strip())
            if urlsplit(whole).scheme in ("http", "https"):
                yield whole
        except ValueError:
            continue


def _linked_data_dates(tree: Any) -> Iterator[str]:
    """`datePublished` of the things that the page describes for machines, one level deep and inside `@graph`."""
    for script in tree.xpath("//script[@type='application/ld+json']"):
        try:
            said = json.loads((script.text or "")[:_LONGEST_JSON])
        except (ValueError, RecursionError):
            continue
        things = said if isinstance(said, list) else [said]
        for thing in things:
            graph = thing.get("@graph") if isinstance(thing, dict) else None
            for one in [thing, *(graph if isinstance(graph, list) else [])]:
                if isinstance(one, dict) and isinstance(one.get("datePublished"), str):
                    yield one["datePublished"]


def _times(values: Iterable[str], now: datetime) -> Iterator[datetime]:
    for value in values:
        try:
            time = datetime.fromisoformat(value.strip())
        except ValueError:
            continue
        # Pages state the time of their place without saying which; UTC is at most half a day wrong.
        aware = time if time.tzinfo else time.replace(tzinfo=UTC)
        if _EARLIEST <= aware <= now:
            yield aware.astimezone(UTC)
