"""Finds the children of an XML element by short names, whatever prefix or namespace a feed uses."""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from pressbox.curator.feeds.domain import NO_TEXT, RawText

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

# The namespace given to prefixes that are not declared.
UNDECLARED = "undeclared:"

_XML = "{http://www.w3.org/XML/1998/namespace}"
_LOOKS_LIKE_HTML = re.compile(
    r"</?(?:p|br|a|div|img|ul|ol|li|blockquote|em|strong|b|i|h[1-6]|pre|table)\b[^<>]*>|&\w+;", re.I
)
# By their beginnings, because versions, final slashes and capitals differ.
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
    """Return `media:thumbnail` for a tag of a known namespace, and the bare name for RSS's own of any version."""
    if not tag.startswith("{"):
        return tag.lower()
    namespace, _, local = tag[1:].partition("}")
    if namespace.startswith(UNDECLARED):
        return f"{namespace.removeprefix(UNDECLARED).lower()}:{local.lower()}"
    known = namespace.lower().replace("https://", "http://", 1)
    prefix = next((short for start, short in _NAMESPACES if known.startswith(start)), "other")
    return f"{prefix}:{local.lower()}" if prefix else local.lower()


class Children:
    """The children of an element by short name. `own` is the prefix that this kind of document leaves out."""

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
        """Return the text of the first that has any."""
        return next((text for element in self.all(*names) if (text := element_text(element))), "")

    def inside(self, *names: str) -> "Sequence[Children]":
        return [Children(element, self.own) for element in self.all(*names)]


def element_text(element: "_Element") -> str:
    text = element.text if not len(element) else "".join(element.itertext())
    return (text or "").strip()


def attribute(element: "_Element", name: str) -> str:
    return str(element.get(name, "")).strip()


def xml_language(element: "_Element") -> str:
    return attribute(element, f"{_XML}lang")


def xml_base(element: "_Element") -> str:
    """Return the `xml:base` that holds for an element; empty when there is none."""
    # lxml resolves several of them against each other.
    near: _Element | None = element
    while near is not None:
        if near.get(f"{_XML}base"):
            return str(element.base or "")
        near = near.getparent()
    return ""


def read_markup(element: "_Element | None") -> RawText:
    """Read an element of RSS: HTML inside text or, against the rules, as elements."""
    if element is None:
        return NO_TEXT
    value = _inner_html(element) if len(element) else element_text(element)
    return RawText(value, html=True, base=xml_base(element)) if value else NO_TEXT


def read_construct(element: "_Element | None") -> RawText:
    """Read a text construct of Atom 1.0 or 0.3."""
    if element is None:
        return NO_TEXT
    kind, mode = attribute(element, "type").lower(), attribute(element, "mode").lower()
    if element.get("src"):
        return NO_TEXT
    if mode == "base64" or _is_binary(kind):
        return RawText(_decode_base64(element_text(element)), html=True, base=xml_base(element))
    if kind == "xhtml" or mode == "xml" or (len(element) and kind != "text"):
        return RawText(_inner_html(element), html=True, base=xml_base(element))
    value = element_text(element)
    return RawText(value, html="html" in kind or mode == "escaped", base=xml_base(element))


def _is_binary(kind: str) -> bool:
    """Whether Atom 1.0 wants a text of this type in base64."""
    return "/" in kind and not kind.startswith("text/") and not kind.endswith(("xml", "json", "html"))


def _decode_base64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=False).decode()
    except ValueError:
        # A picture, or what is not base64 at all.
        return ""


def read_body(element: "_Element | None") -> RawText:
    """Read a long text construct: what is declared as text may be HTML all the same."""
    text = read_construct(element)
    return replace(text, html=True) if _LOOKS_LIKE_HTML.search(text.value) else text


def _inner_html(element: "_Element") -> str:
    from lxml import etree  # type: ignore[import-untyped]

    for inner in element.iterdescendants(tag="*"):
        # The sanitiser knows `p`, not `xhtml:p`.
        inner.tag = etree.QName(inner).localname.rpartition(":")[2]
    pieces = [_escape(element.text or "")]
    pieces += [etree.tostring(child, method="html", encoding="unicode") for child in element]
    return "".join(pieces).strip()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
