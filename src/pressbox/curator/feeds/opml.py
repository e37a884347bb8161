"""OPML in and out. Other readers write it carelessly, so what is broken is named and the rest is used."""

import html
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from pressbox.core.errors import InvalidInputError
from pressbox.curator.feeds.outline import NESTING, OutlineFeed, OutlineList, OutlineProblem
from pressbox.curator.library.domain.urls import is_web_url

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element  # type: ignore[import-untyped]

MAX_BYTES = 5_000_000
MAX_DEPTH = 20
MAX_NAME = 200

# Ampersands that begin nothing XML knows. Addresses with several parameters are full of them in careless files.
_LOOSE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)")
_NAMED_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_KNOWN_TO_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


class OpmlOutlines:
    """Reads any OPML that still has outlines in it, and writes version 2.0."""

    def read(self, content: bytes) -> OutlineList:
        if len(content) > MAX_BYTES:
            raise InvalidInputError(f"The file is larger than {MAX_BYTES:,} bytes. Is it an OPML file?", field="file")
        root, problems = _parsed(content)
        feeds: list[OutlineFeed] = []
        for child in root.iter("{*}body"):
            for found in _walk(child, (), 0):
                if isinstance(found, OutlineFeed):
                    feeds.append(found)
                else:
                    problems.append(found)
        return OutlineList(_title(root), tuple(feeds), tuple(problems))

    def write(self, feeds: Sequence[OutlineFeed], title: str, now: datetime) -> bytes:
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<opml version="2.0">',
            "  <head>",
            f"    <title>{_text(title)}</title>",
            f"    <dateCreated>{format_datetime(now)}</dateCreated>",
            "  </head>",
            "  <body>",
            *_written(_tree(feeds), 2),
            "  </body>",
            "</opml>",
            "",
        ]
        return "\n".join(lines).encode()


class _Folder:
    """A category on its way into the file."""

    def __init__(self) -> None:
        self.feeds: list[OutlineFeed] = []
        self.folders: dict[str, _Folder] = {}


def _tree(feeds: Sequence[OutlineFeed]) -> _Folder:
    root = _Folder()
    for feed in feeds:
        folder = root
        for name in filter(None, feed.category.split(NESTING)):
            folder = folder.folders.setdefault(name, _Folder())
        folder.feeds.append(feed)
    return root


def _written(folder: _Folder, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for feed in folder.feeds:
        name = _attribute(feed.title or feed.url)
        site = f" htmlUrl={_attribute(feed.site_url)}" if feed.site_url else ""
        yield f'{indent}<outline type="rss" text={name} title={name} xmlUrl={_attribute(feed.url)}{site}/>'
    for title, inner in folder.folders.items():
        name = _attribute(title)
        yield f"{indent}<outline text={name} title={name}>"
        yield from _written(inner, depth + 1)
        yield f"{indent}</outline>"


def _attribute(text: str) -> str:
    # Line breaks inside an attribute are spaces for every reader.
    return quoteattr(" ".join(_NOT_IN_XML.sub("", text).split()))


def _text(text: str) -> str:
    return html.escape(_NOT_IN_XML.sub("", text), quote=False)


def _parsed(content: bytes) -> "tuple[_Element, list[OutlineProblem]]":
    # Only an import needs it, and a worker starts without.
    from lxml import etree  # type: ignore[import-untyped]

    try:
        return _checked(etree.fromstring(content, _parser(recover=False))), []
    except etree.XMLSyntaxError as error:
        broken = OutlineProblem(error.position[0], "", "The XML is broken here. What could still be read was used.")
    try:
        root = etree.fromstring(_repaired(content), _parser(recover=True))
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise InvalidInputError(f"This is not an OPML file: line {broken.line} is not XML.", field="file")
    return _checked(root), [broken]


def _parser(*, recover: bool) -> "XMLParser":
    from lxml import etree

    # No entities, no document types from elsewhere, no network: an import reads a list of addresses and nothing else.
    return etree.XMLParser(
        recover=recover, resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, remove_comments=True
    )


def _checked(root: "_Element") -> "_Element":
    if root.getroottree().docinfo.internalDTD is not None and _declares_entities(root):
        raise InvalidInputError("The file declares entities of its own; that is not read.", field="file")
    if next(root.iter("{*}body"), None) is None:
        raise InvalidInputError("This is not an OPML file: it has no body with outlines.", field="file")
    return root


def _declares_entities(root: "_Element") -> bool:
    dtd = root.getroottree().docinfo.internalDTD
    return dtd is not None and any(True for _ in dtd.iterentities())


def _repaired(content: bytes) -> bytes:
    known_to_html = _NAMED_ENTITY.sub(_as_number, content)
    return _LOOSE_AMPERSAND.sub(b"&amp;", known_to_html)


def _as_number(found: re.Match[bytes]) -> bytes:
    if found.group(1) in _KNOWN_TO_XML:
        return found.group()
    character = html.unescape(found.group().decode())
    return f"&#{ord(character)};".encode() if len(character) == 1 else found.group()


def _title(root: "_Element") -> str:
    head = next(root.iter("{*}head"), None)
    return "" if head is None else (head.findtext("{*}title") or "").strip()


def _walk(parent: "_Element", way: tuple[str, ...], depth: int) -> Iterator[OutlineFeed | OutlineProblem]:
    for outline in parent.iterchildren("{*}outline"):
        # Readers disagree about capitals.
        given = {str(name).lower(): str(value).strip() for name, value in outline.attrib.items()}
        name = _name(given)
        address = given.get("xmlurl", "")
        if address:
            yield _feed(outline, given, name, address, way)
        elif given.get("type", "").lower() in ("rss", "atom", "feed"):
            yield OutlineProblem(outline.sourceline or 0, name, "It is a subscription without an address (xmlUrl).")
        if len(outline) and depth < MAX_DEPTH:
            yield from _walk(outline, way if address else (*way, name or "?"), depth + 1)
        elif len(outline):
            yield OutlineProblem(outline.sourceline or 0, name, "It is nested too deep.")


def _feed(
    outline: "_Element", given: dict[str, str], name: str, address: str, way: tuple[str, ...]
) -> OutlineFeed | OutlineProblem:
    # An old custom of browsers for the same thing.
    url = re.sub(r"^feed:(?://)?(?=https?:)", "", address, flags=re.IGNORECASE)
    url = re.sub(r"^feed://", "https://", url, flags=re.IGNORECASE)
    if not is_web_url(url):
        return OutlineProblem(outline.sourceline or 0, name, f"“{address[:MAX_NAME]}” is not an address of the web.")
    site = given.get("htmlurl", "")
    title = "" if name == url else name
    return OutlineFeed(url, title, site if is_web_url(site) else "", NESTING.join(way))


def _name(given: dict[str, str]) -> str:
    # Some readers escape twice.
    return " ".join(html.unescape(given.get("title") or given.get("text") or "").split())[:MAX_NAME]
