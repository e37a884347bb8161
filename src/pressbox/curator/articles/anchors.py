"""Finds the place of an extracted text on its page, so that its tables, code, pictures and footnotes come along.

An extractor answers text with a little markup. The page itself has all of it: the elements whose words were found
are kept with everything around them that is not somebody else's text.
"""

import re
from typing import Any

from pressbox.curator.articles.html_tree import removed

# Less of the found text than this in its place means that it was put together otherwise; then it is used as it is.
LEAST_COVERED = 0.8
_NOT_WORDS = re.compile(r"[\W_]+")
_LEAF_NAMES = "p li dd dt blockquote pre td th h1 h2 h3 h4 h5 h6 figcaption caption summary div section article"
_LEAVES = frozenset(_LEAF_NAMES.split())
_MEDIA = ("img", "video", "audio", "iframe", "object", "embed", "picture")
_WHOLE = frozenset({"table", "pre", "figure", "dl", "math"})
_NEVER = ("nav", "aside", "footer", "form", "script", "style", "template", "button", "select")
# A leaf of a word or two is found in any text; it says nothing about the place.
_TELLING = 20
# Refrains are shorter.
_NEVER_TWICE = 120


def anchored(root: Any, text: str) -> Any | None:
    """The part of the tree that holds `text`, without what is not in it; None when it cannot be told."""
    words = squeezed(text)
    kept, found = _kept_leaves(root, words)
    for element, length in _bare_texts(root, words):
        kept.add(element)
        found.append((element, length))
    if not found or sum(length for _, length in found) < LEAST_COVERED * len(words):
        return None
    place = _common(found, root)
    _prune(place, kept)
    return place


def _kept_leaves(root: Any, words: str) -> tuple[set[Any], list[tuple[Any, int]]]:
    """Leaves whose words were found; and the parents of those that tell the place, with the length of their words."""
    kept: set[Any] = set()
    found: list[tuple[Any, int]] = []
    seen: dict[str, Any] = {}
    for leaf in _leaves(root):
        own = squeezed(leaf.text_content())
        parent = leaf.getparent()
        # A page may hold its article twice, once for small screens; what stands twice in one place is meant so.
        if not own or seen.get(own, parent) is not parent or own not in words:
            continue
        kept.add(leaf)
        if len(own) >= _TELLING:
            found.append((parent, len(own)))
        if len(own) >= _NEVER_TWICE:
            seen.setdefault(own, parent)
    return kept, found


def _bare_texts(root: Any, words: str) -> list[tuple[Any, int]]:
    """Text that stands beside blocks instead of inside one of its own, as in old pages."""
    found = []
    for element in root.iter("body", *_LEAVES):
        if len(element) == 0:
            continue
        texts = [squeezed(text) for text in (element.text, *(child.tail for child in element)) if text]
        length = sum(len(text) for text in texts if len(text) >= _TELLING and text in words)
        if length and next(element.iterdescendants(*_LEAVES), None) is not None:
            found.append((element, length))
    return found


def squeezed(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()


def _leaves(root: Any) -> list[Any]:
    """Blocks that have no blocks of text inside."""
    return [
        element
        for element in root.iter(*_LEAVES)
        if next((inner for inner in element.iterdescendants(*_LEAVES)), None) is None
    ]


def _common(found: list[tuple[Any, int]], root: Any) -> Any:
    """The smallest element that holds nearly all of it: a title far above must not bring the menu along."""
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
        if parent in along and element.tag not in _NEVER:
            along.add(element)
        elif element.tag in _NEVER or (_is_block(element) and not _comes_along(element, needed)):
            removed(element)
        elif element.tag in _WHOLE or _is_block(element):
            along.add(element)


def _is_block(element: Any) -> bool:
    return element.tag in _LEAVES or element.tag in ("ul", "ol", "dl", "table", "header", "figure", *_NEVER)


def _comes_along(element: Any, needed: set[Any]) -> bool:
    if any(ancestor.tag in _WHOLE and ancestor in needed for ancestor in element.iterancestors()):
        return True
    text = squeezed(element.text_content())
    shows = element.tag in _MEDIA or next(element.iter(*_MEDIA), None) is not None
    # A picture with its caption; a box of teasers with pictures has more to say.
    return shows and len(text) < 200 and next(element.iter("a"), None) is None
