"""Reads and writes OPML, the list of subscriptions that people carry from reader to reader.

Other programs write it carelessly, so what is broken is named and the rest is used.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from pressbox.core.errors import InvalidInputError
from pressbox.curator.library.domain import OutlineProblem
from pressbox.curator.library.urls import LONGEST_FEED_ADDRESS, feed_address, is_too_long, is_web_url, site_name

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element  # type: ignore[import-untyped]

# Nested folders become one category with a joined name; writing takes it apart again.
NESTING = " / "
MAX_BYTES = 5_000_000
MAX_DEPTH = 20
MAX_NAME = 200

# Ampersands that begin no entity. In careless files, addresses with several parameters are full of them.
_LOOSE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_NAMED_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_KNOWN_TO_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


@dataclass(frozen=True)
class OutlineFeed:
    """One subscription. `category` is empty, a name, or names joined by NESTING."""

    url: str
    title: str = ""
    site_url: str = ""
    category: str = ""


@dataclass(frozen=True)
class OutlineList:
    """The subscriptions in the order of the file. The same address in two categories is listed twice."""

    title: str = ""
    feeds: tuple[OutlineFeed, ...] = ()
    problems: tuple[OutlineProblem, ...] = ()


def read_opml(content: bytes) -> OutlineList:
    """Read any OPML that still has outlines in it; InvalidInputError only when it has none at all."""
    if len(content) > MAX_BYTES:
        raise InvalidInputError(f"The file is larger than {MAX_BYTES:,} bytes. Is it an OPML file?", field="file")
    root, problems = _parse(content)
    feeds: list[OutlineFeed] = []
    for child in root.iter("{*}body"):
        for found in _walk(child, (), 0):
            if isinstance(found, OutlineFeed):
                feeds.append(found)
            else:
                problems.append(found)
    return OutlineList(_title(root), tuple(feeds), tuple(problems))


def write_opml(feeds: Sequence[OutlineFeed], title: str, now: datetime) -> bytes:
    """Write OPML 2.0."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<opml version="2.0">',
        "  <head>",
        f"    <title>{_escape_text(title)}</title>",
        f"    <dateCreated>{format_datetime(now)}</dateCreated>",
        "  </head>",
        "  <body>",
        *_write_folder(_build_tree(feeds), 2),
        "  </body>",
        "</opml>",
        "",
    ]
    return "\n".join(lines).encode()


class _Folder:
    """A category while the file is written."""

    def __init__(self) -> None:
        self.feeds: list[OutlineFeed] = []
        self.folders: dict[str, _Folder] = {}


def _build_tree(feeds: Sequence[OutlineFeed]) -> _Folder:
    root = _Folder()
    for feed in feeds:
        folder = root
        for name in filter(None, feed.category.split(NESTING)):
            folder = folder.folders.setdefault(name, _Folder())
        folder.feeds.append(feed)
    return root


def _write_folder(folder: _Folder, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for feed in folder.feeds:
        name = _quote(feed.title or site_name(feed.url))
        site = f" htmlUrl={_quote(feed.site_url)}" if feed.site_url else ""
        yield f'{indent}<outline type="rss" text={name} title={name} xmlUrl={_quote(feed.url)}{site}/>'
    for title, inner in folder.folders.items():
        name = _quote(title)
        yield f"{indent}<outline text={name} title={name}>"
        yield from _write_folder(inner, depth + 1)
        yield f"{indent}</outline>"


def _quote(text: str) -> str:
    # Line breaks inside an attribute are spaces for every reader.
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    return " ".join(_NOT_IN_XML.sub("", text).split())


def _escape_text(text: str) -> str:
    return html.escape(_NOT_IN_XML.sub("", text), quote=False)


def _parse(content: bytes) -> "tuple[_Element, list[OutlineProblem]]":
    # Imported here, because only an import of subscriptions needs it.
    from lxml import etree  # type: ignore[import-untyped]

    try:
        return _check_root(etree.fromstring(content, _parser(recover=False))), []
    except etree.XMLSyntaxError as error:
        broken = OutlineProblem(error.position[0], "", "The XML is broken here. What could still be read was used.")
    try:
        root = etree.fromstring(_repair(content), _parser(recover=True))
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise InvalidInputError(f"This is not an OPML file: line {broken.line} is not XML.", field="file")
    return _check_root(root), [broken]


def _parser(*, recover: bool) -> "XMLParser":
    from lxml import etree

    # No entities, no foreign document types, no network: an import reads a list of addresses and nothing else.
    return etree.XMLParser(
        recover=recover, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True
    )


def _check_root(root: "_Element") -> "_Element":
    if root.getroottree().docinfo.internalDTD is not None and _declares_entities(root):
        raise InvalidInputError("The file declares entities of its own; that is not read.", field="file")
    if next(root.iter("{*}body"), None) is None:
        raise InvalidInputError("This is not an OPML file: it has no body with outlines.", field="file")
    return root


def _declares_entities(root: "_Element") -> bool:
    dtd = root.getroottree().docinfo.internalDTD
    return dtd is not None and any(True for _ in dtd.iterentities())


def _repair(content: bytes) -> bytes:
    known_to_html = _NAMED_ENTITY.sub(_to_number, content)
    return _LOOSE_AMPERSAND.sub(b"&amp;", known_to_html)


def _to_number(found: re.Match[bytes]) -> bytes:
    if found.group(1) in _KNOWN_TO_XML:
        return found.group()
    character = html.unescape(found.group().decode())
    return f"&#{ord(character)};".encode() if len(character) == 1 else found.group()


def _title(root: "_Element") -> str:
    head = next(root.iter("{*}head"), None)
    return "" if head is None else (head.findtext("{*}title") or "").strip()


def _walk(parent: "_Element", path: tuple[str, ...], depth: int) -> Iterator[OutlineFeed | OutlineProblem]:
    for outline in parent.iterchildren("{*}outline"):
        # Readers disagree about capitals.
        given = {str(name).lower(): _clean(str(value)) for name, value in outline.attrib.items()}
        name = _outline_name(given)
        address = given.get("xmlurl", "")
        if address:
            yield _read_feed(outline, given, name, address, path)
        elif given.get("type", "").lower() in ("rss", "atom", "feed"):
            yield OutlineProblem(outline.sourceline or 0, name, "It is a subscription without an address (xmlUrl).")
        if len(outline) and depth < MAX_DEPTH:
            yield from _walk(outline, path if address else (*path, name or "?"), depth + 1)
        elif len(outline):
            yield OutlineProblem(outline.sourceline or 0, name, "It is nested too deep.")


def _read_feed(
    outline: "_Element", given: dict[str, str], name: str, address: str, path: tuple[str, ...]
) -> OutlineFeed | OutlineProblem:
    url = feed_address(address)
    if not is_web_url(url):
        return OutlineProblem(outline.sourceline or 0, name, f"“{address[:MAX_NAME]}” is not an address of the web.")
    if is_too_long(url):
        reason = f"Its address is longer than {LONGEST_FEED_ADDRESS} characters."
        return OutlineProblem(outline.sourceline or 0, name, reason)
    site = given.get("htmlurl", "")
    title = "" if name in (url, site_name(url)) else name
    return OutlineFeed(url, title, site if is_web_url(site) else "", NESTING.join(path)[:MAX_NAME].strip())


def _outline_name(given: dict[str, str]) -> str:
    # Some readers escape twice.
    return " ".join(html.unescape(given.get("title") or given.get("text") or "").split())[:MAX_NAME]
