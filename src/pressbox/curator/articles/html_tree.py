"""HTML as a tree of elements and as text. The only module here that knows how lxml parses."""

import re
import sys
from typing import Any

# What XML cannot hold; a page that has it is read without.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,8}));?")
# lxml refuses a text that declares an encoding, since it is decoded already.
_DECLARATION = re.compile(r"^\s*<\?xml[^>]{0,200}\?>", re.IGNORECASE)

# A start tag as browsers read it. Possessive throughout: each character is looked at a bounded number of times.
_ATTRIBUTE = r"""=?+[^\s/>=]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_START_TAG = re.compile(rf"<([a-zA-Z][^\s/>]*+)(?:[\s/]++|{_ATTRIBUTE}|=)*+>?+")
_ANY_ATTRIBUTE = re.compile(_ATTRIBUTE)
MOST_ATTRIBUTES = 200
_LONG_TAG = 2 * MOST_ATTRIBUTES
_LONGEST_NAME = 30
_BLOCK_NAMES = """
    address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())
_UNREAD = frozenset({"script", "style", "template", "noscript", "head", "svg", "rt", "rp", "iframe", "textarea"})
_CELLS = frozenset({"td", "th"})
_BETWEEN_CELLS = " | "


def parse_html(html: str) -> Any | None:
    """Parse into a tree without comments, at most some 250 levels deep; None when there is nothing in it."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml import html as lxml_html

    text = _DECLARATION.sub("", make_parsable(html))
    if not text.strip():
        return None
    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    try:
        # Always with a root of our own: a fragment may be text alone, or several elements.
        root = lxml_html.document_fromstring(f"<!DOCTYPE html><body>{text}</body>".encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


def make_parsable(html: str) -> str:
    """Take out what lxml reads and then refuses to write, and what it takes minutes for."""
    return limit_attributes(_CONTROL.sub(" ", _REFERENCE.sub(_drop_control, html)))


def _drop_control(found: re.Match[str]) -> str:
    number = int(found[1], 16) if found[1] else int(found[2])
    is_unwritable = number > sys.maxunicode or _CONTROL.match(chr(number)) is not None
    return " " if is_unwritable else found.group()


def limit_attributes(html: str) -> str:
    """Drop the attributes of tags with hundreds of them: parsers compare each with all others, which takes minutes."""
    kept, done = [], 0
    for found in _START_TAG.finditer(html):
        if found.end() - found.start() > _LONG_TAG and _count_attributes(found.group()) > MOST_ATTRIBUTES:
            kept += [html[done : found.start()], f"<{found[1][:_LONGEST_NAME]}>"]
            done = found.end()
    return "".join([*kept, html[done:]])


def _count_attributes(tag: str) -> int:
    return sum(1 for _ in _ANY_ATTRIBUTE.finditer(tag))


def remove(element: Any) -> None:
    """Remove an element with its content; the text that follows it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def unwrap(element: Any) -> None:
    """Remove an element and keep its content."""
    if element.getparent() is not None:
        element.drop_tag()


def serialise(root: Any) -> str:
    from lxml import html as lxml_html

    body = root.find("body") if root.tag == "html" else root
    return str(lxml_html.tostring(root if body is None else body, encoding="unicode"))


def html_to_text(html: str) -> str:
    """Write one line for each block, without empty lines.

    Code keeps its lines, a row of a table is one, and readings of characters are left out.
    """
    from lxml import etree

    root = parse_html(html)
    if root is None:
        return ""
    lines = _Lines()
    # Without recursion: the page decides how deep it is.
    for event, element in etree.iterwalk(root, events=("start", "end")):
        lines.open(element) if event == "start" else lines.close(element)
    return lines.text()


class _Lines:
    def __init__(self) -> None:
        self._done: list[str] = []
        self._current: list[str] = []
        self._unread = 0
        self._preformatted = 0

    def open(self, element: Any) -> None:
        if element.tag in BLOCKS:
            self._end_line()
        if element.tag in _CELLS and self._current:
            self._current.append(_BETWEEN_CELLS)
        self._unread += element.tag in _UNREAD
        self._preformatted += element.tag == "pre"
        self._add(element.text)

    def close(self, element: Any) -> None:
        self._unread -= element.tag in _UNREAD
        if element.tag in BLOCKS:
            self._end_line()
        self._preformatted -= element.tag == "pre"
        self._add(element.tail)

    def text(self) -> str:
        self._end_line()
        return "\n".join(self._done)

    def _add(self, text: str | None) -> None:
        if text and not self._unread:
            self._current.append(text)

    def _end_line(self) -> None:
        whole = "".join(self._current)
        self._current.clear()
        lines = whole.split("\n") if self._preformatted else [" ".join(whole.split())]
        self._done += [line.rstrip() for line in lines if line.strip()]
