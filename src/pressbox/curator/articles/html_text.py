"""From HTML to its text, for models, search and counting: one line for each block."""

from typing import Any

from pressbox.curator.articles.html_tree import parsed

_BLOCK_NAMES = """
    address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_UNREAD = frozenset({"script", "style", "template", "noscript", "head", "svg", "rt", "rp", "iframe", "textarea"})
_CELLS = frozenset({"td", "th"})
_BETWEEN_CELLS = " | "


def text_of(html: str) -> str:
    """Without empty lines. Code keeps its lines, a row of a table is one; readings of characters are left out."""
    from lxml import etree  # type: ignore[import-untyped]

    root = parsed(html)
    if root is None:
        return ""
    lines = _Lines()
    # Walked, not recursed: depth is a stranger's choice.
    for event, element in etree.iterwalk(root, events=("start", "end")):
        lines.opened(element) if event == "start" else lines.closed(element)
    return lines.text()


class _Lines:
    def __init__(self) -> None:
        self._done: list[str] = []
        self._current: list[str] = []
        self._unread = 0
        self._preformatted = 0

    def opened(self, element: Any) -> None:
        if element.tag in _BLOCKS:
            self._end_line()
        if element.tag in _CELLS and self._current:
            self._current.append(_BETWEEN_CELLS)
        self._unread += element.tag in _UNREAD
        self._preformatted += element.tag == "pre"
        self._add(element.text)

    def closed(self, element: Any) -> None:
        self._unread -= element.tag in _UNREAD
        if element.tag in _BLOCKS:
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
