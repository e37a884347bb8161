"""Finds an extracted text on its page again, so that its tables, code, pictures and footnotes are kept.

An extractor returns text with a little markup. The page has all of it: the elements whose words were extracted are
kept, with everything around them that is not other text.
"""

import re
from typing import Any

from pressbox.curator.articles.html_tree import remove

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
        elif element.tag in _NEVER_KEPT or (_is_block(element) and not _is_illustration(element, needed)):
            remove(element)
        elif element.tag in _KEPT_WHOLE or _is_block(element):
            along.add(element)


def _is_block(element: Any) -> bool:
    return element.tag in _LEAVES or element.tag in ("ul", "ol", "dl", "table", "header", "figure", *_NEVER_KEPT)


def _is_illustration(element: Any, needed: set[Any]) -> bool:
    if any(ancestor.tag in _KEPT_WHOLE and ancestor in needed for ancestor in element.iterancestors()):
        return True
    text = squash(element.text_content())
    shows = element.tag in _MEDIA or next(element.iter(*_MEDIA), None) is not None
    # A picture with its caption is short; a box of teasers with pictures is not.
    return shows and len(text) < 200 and next(element.iter("a"), None) is None
