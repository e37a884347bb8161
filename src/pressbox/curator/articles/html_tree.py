"""HTML as a tree of elements and as text, and an extracted text found again in the tree of its page.

An extractor returns text with a little markup. The page has all of it: the elements whose words were extracted are
kept, with everything around them that is not other text.
"""

import re
import sys
from functools import cache
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
    try:
        # Always with a root of our own: a fragment may be text alone, or several elements.
        root = lxml_html.document_fromstring(f"<!DOCTYPE html><body>{text}</body>".encode(), parser=_make_parser())
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


@cache
def _make_parser() -> Any:
    from lxml import etree
    from lxml import html as lxml_html

    parser = lxml_html.HTMLParser(remove_comments=True, remove_pis=True, encoding="utf-8")
    # Its own lookup asks Python for the class of every element; nobody needs that of forms and their fields.
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=lxml_html.HtmlElement))
    return parser


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
    from lxml import etree

    body = root.find("body") if root.tag == "html" else root
    return str(etree.tostring(root if body is None else body, method="html", encoding="unicode"))


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


# With less of the text than this in one place it was put together otherwise, and is used as it was extracted.
LEAST_COVERED = 0.8
_NOT_WORDS = re.compile(r"[\W_]+")
_LEAF_NAMES = "p li dd dt blockquote pre td th h1 h2 h3 h4 h5 h6 figcaption caption summary div section article"
_LEAVES = frozenset(_LEAF_NAMES.split())
_MEDIA = ("img", "video", "audio", "iframe", "object", "embed", "picture")
_KEPT_WHOLE = frozenset({"table", "pre", "figure", "dl", "math"})
_NEVER_KEPT = ("nav", "aside", "footer", "form", "script", "style", "template", "button", "select")
# A leaf of a word or two is found in any text, and says nothing about the place.
_SIGNIFICANT = 20
# What repeats inside an article, such as a refrain, is shorter.
_NEVER_REPEATED = 120


def find_place(root: Any, text: str) -> Any | None:
    """Return the part of the tree that holds `text`, without other text; None when it cannot be told."""
    words = squash(text)
    kept, found = _find_leaves(root, words)
    for element, length in _find_bare_texts(root, words):
        kept.add(element)
        found.append((element, length))
    if not found or sum(length for _, length in found) < LEAST_COVERED * len(words):
        return None
    place = _find_common_ancestor(found, root)
    _prune(place, kept)
    return place


def _find_leaves(root: Any, words: str) -> tuple[set[Any], list[tuple[Any, int]]]:
    """Return the leaves whose words were found, and the parents and lengths of the significant ones."""
    kept: set[Any] = set()
    found: list[tuple[Any, int]] = []
    seen: dict[str, Any] = {}
    for leaf in _leaves(root):
        own = squash(leaf.text_content())
        parent = leaf.getparent()
        # A page may hold its article twice, once for small screens; what repeats in one place is meant to.
        if not own or seen.get(own, parent) is not parent or own not in words:
            continue
        kept.add(leaf)
        if len(own) >= _SIGNIFICANT:
            found.append((parent, len(own)))
        if len(own) >= _NEVER_REPEATED:
            seen.setdefault(own, parent)
    return kept, found


def _find_bare_texts(root: Any, words: str) -> list[tuple[Any, int]]:
    """Find text that stands beside blocks instead of inside one of its own, as in old pages."""
    found = []
    for element in root.iter("body", *_LEAVES):
        if len(element) == 0:
            continue
        texts = [squash(text) for text in (element.text, *(child.tail for child in element)) if text]
        length = sum(len(text) for text in texts if len(text) >= _SIGNIFICANT and text in words)
        if length and next(element.iterdescendants(*_LEAVES), None) is not None:
            found.append((element, length))
    return found


def squash(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()


def _leaves(root: Any) -> list[Any]:
    """Return the blocks that have no blocks of text inside."""
    return [
        element
        for element in root.iter(*_LEAVES)
        if next((inner for inner in element.iterdescendants(*_LEAVES)), None) is None
    ]


def _find_common_ancestor(found: list[tuple[Any, int]], root: Any) -> Any:
    """Return the smallest element that holds nearly all of it: a title far above must not bring the menu along."""
    total = sum(length for _, length in found)
    inside: dict[Any, int] = {}
    for holder, length in found:
        for ancestor in (holder, *holder.iterancestors()):
            inside[ancestor] = inside.get(ancestor, 0) + length
    enough = [element for element, length in inside.items() if length >= 0.97 * total]
    return max(enough, key=lambda element: sum(1 for _ in element.iterancestors()), default=root)


def _prune(place: Any, kept: set[Any]) -> None:
    needed = {ancestor for leaf in kept for ancestor in leaf.iterancestors()} | kept
    along: set[Any] = set()
    for element in list(place.iterdescendants()):
        parent = element.getparent()
        if parent is None or not isinstance(element.tag, str) or element in needed:
            continue
        if parent in along and element.tag not in _NEVER_KEPT:
            along.add(element)
        elif element.tag in _NEVER_KEPT or (_is_block(element) and not _belongs(element, needed)):
            remove(element)
        elif element.tag in _KEPT_WHOLE or _is_block(element):
            along.add(element)


def _is_block(element: Any) -> bool:
    return element.tag in _LEAVES or element.tag in ("ul", "ol", "dl", "table", "header", "figure", *_NEVER_KEPT)


def _belongs(element: Any, needed: set[Any]) -> bool:
    return _is_illustration(element, needed) or _is_list_between_texts(element, needed)


def _is_list_between_texts(element: Any, needed: set[Any]) -> bool:
    """A list without links in the middle of the article is a part of it; extractors drop short ones."""
    if element.tag not in ("ul", "ol") or next(element.iter("a"), None) is not None:
        return False
    before = element.getprevious()
    follows = before is not None and (before in needed or bool(squash(before.tail or "")))
    return follows and (element.getnext() in needed or bool(squash(element.tail or "")))


def _is_illustration(element: Any, needed: set[Any]) -> bool:
    if any(ancestor.tag in _KEPT_WHOLE and ancestor in needed for ancestor in element.iterancestors()):
        return True
    text = squash(element.text_content())
    shows = element.tag in _MEDIA or next(element.iter(*_MEDIA), None) is not None
    # A picture with its caption is short; a box of teasers with pictures is not.
    return shows and len(text) < 200 and next(element.iter("a"), None) is None
