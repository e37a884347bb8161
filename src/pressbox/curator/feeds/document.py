"""A feed as its document states it, before anything is cleaned: one shape for RSS, Atom, RDF and JSON Feed."""

from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True)
class StatedText:
    """`html` True: markup. `base` is what its relative addresses are relative to, when the document says so."""

    value: str
    html: bool = True
    base: str = ""


@dataclass(frozen=True)
class StatedFile:
    url: str
    type: str = ""
    length: str = ""


EMPTY = StatedText("")


@dataclass(frozen=True)
class StatedEntry:
    guid: str = ""
    url: str = ""
    title: StatedText = EMPTY
    author: str = ""
    published: str = ""
    updated: str = ""
    content: StatedText = EMPTY
    summary: StatedText = EMPTY
    language: str = ""
    thumbnail_url: str = ""
    files: tuple[StatedFile, ...] = ()


@dataclass(frozen=True)
class StatedFeed:
    title: StatedText = EMPTY
    site_url: str = ""
    description: StatedText = EMPTY
    language: str = ""
    icon_url: str = ""
    interval: timedelta | None = None
    entries: tuple[StatedEntry, ...] = ()
    problems: tuple[str, ...] = field(default=())
