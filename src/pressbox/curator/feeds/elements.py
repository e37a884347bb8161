"""The children of an XML element by short names, whatever prefix or namespace a feed has chosen for them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pressbox.curator.feeds.document import EMPTY, StatedText

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

# The namespace that a prefix gets which nobody declared.
UNDECLARED = "undeclared:"

_XML = "{http://www.w3.org/XML/1998/namespace}"
_LOOKS_LIKE_HTML = re.compile(
    r"</?(?:p|br|a|div|img|ul|ol|li|blockquote|em|strong|b|i|h[1-6]|pre|table)\b[^<>]*>|&\w+;", re.I
)
# By their beginnings: versions, slashes at the end and capitals differ.
_NAMESPACES = (
    ("http://www.w3.org/2005/atom", "atom"),
    ("http://purl.org/atom/ns", "atom"),
    ("http://purl.org/rss/1.0/modules/content", "content"),
    ("http://purl.org/rss/1.0/modules/syndication", "sy"),
    ("http://purl.org/rss/", ""),
    ("http://my.netscape.com/", ""),
    ("http://channel.netscape.com/", ""),
    ("http://backend.userland.com/", ""),
    ("http://blogs.law.harvard.edu/", ""),
    ("http://cyber.law.harvard.edu/", ""),
    ("http://purl.org/dc/elements", "dc"),
    ("http://purl.org/dc/terms", "dcterms"),
    ("http://search.yahoo.com/mrss", "media"),
    ("http://www.itunes.com/dtds/", "itunes"),
    ("http://rssnamespace.org/feedburner", "feedburner"),
    ("http://webfeeds.org/rss", "webfeeds"),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns", "rdf"),
    ("http://www.w3.org/1999/xhtml", "xhtml"),
)


@lru_cache(maxsize=4096)
def short_name(tag: str) -> str:
    """`media:thumbnail` for the tag of a known namespace; the bare name for RSS's own, of whatever version."""
    if not tag.startswith("{"):
        return tag.lower()
    namespace, _, local = tag[1:].partition("}")
    if namespace.startswith(UNDECLARED):
        return f"{namespace.removeprefix(UNDECLARED).lower()}:{local.lower()}"
    known = namespace.lower().replace("https://", "http://", 1)
    prefix = next((short for start, short in _NAMESPACES if known.startswith(start)), "other")
    return f"{prefix}:{local.lower()}" if prefix else local.lower()


class Children:
    """What an element holds, by short name. `own` is the prefix that this document need not write."""

    def __init__(self, element: "_Element", own: str = "") -> None:
        self.element = element
        self.own = own
        self._named: dict[str, list[_Element]] = {}
        start = f"{own}:" if own else ""
        for child in element.iterchildren(tag="*"):
            name = short_name(child.tag)
            self._named.setdefault(name.removeprefix(start), []).append(child)

    def all(self, *names: str) -> Iterator["_Element"]:
        for name in names:
            yield from self._named.get(name, ())

    def first(self, *names: str) -> "_Element | None":
        return next(self.all(*names), None)

    def text(self, *names: str) -> str:
        """Of the first that has any."""
        return next((text for element in self.all(*names) if (text := text_of(element))), "")

    def inside(self, *names: str) -> "Sequence[Children]":
        return [Children(element, self.own) for element in self.all(*names)]


def text_of(element: "_Element") -> str:
    text = element.text if not len(element) else "".join(element.itertext())
    return (text or "").strip()


def attribute(element: "_Element", name: str) -> str:
    return str(element.get(name, "")).strip()


def language_of(element: "_Element") -> str:
    return attribute(element, f"{_XML}lang")


def base_of(element: "_Element") -> str:
    """What an `xml:base` on the way up says; empty when there is none."""
    # lxml resolves several of them against each other.
    near: _Element | None = element
    while near is not None:
        if near.get(f"{_XML}base"):
            return str(element.base or "")
        near = near.getparent()
    return ""


def markup(element: "_Element | None") -> StatedText:
    """The content of RSS's elements: HTML inside text, or, against the rules, as elements."""
    if element is None:
        return EMPTY
    value = _inner(element) if len(element) else text_of(element)
    return StatedText(value, html=True, base=base_of(element)) if value else EMPTY


def construct(element: "_Element | None") -> StatedText:
    """Atom's text constructs, of version 1.0 and 0.3."""
    if element is None:
        return EMPTY
    kind, mode = attribute(element, "type").lower(), attribute(element, "mode").lower()
    if mode == "base64" or element.get("src"):
        return EMPTY
    if kind == "xhtml" or mode == "xml" or (len(element) and kind != "text"):
        return StatedText(_inner(element), html=True, base=base_of(element))
    value = text_of(element)
    return StatedText(value, html="html" in kind or mode == "escaped", base=base_of(element))


def body(element: "_Element | None") -> StatedText:
    """A text construct that is long enough to tell: programs call it text and send HTML all the same."""
    stated = construct(element)
    return replace(stated, html=True) if _LOOKS_LIKE_HTML.search(stated.value) else stated


def _inner(element: "_Element") -> str:
    from lxml import etree  # type: ignore[import-untyped]

    for inner in element.iterdescendants(tag="*"):
        # Names only: the sanitiser knows `p`, not `xhtml:p`.
        inner.tag = etree.QName(inner).localname.rpartition(":")[2]
    pieces = [_escaped(element.text or "")]
    pieces += [etree.tostring(child, method="html", encoding="unicode") for child in element]
    return "".join(pieces).strip()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
