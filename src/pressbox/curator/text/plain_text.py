"""From sanitised HTML to lines of text, quickly: for what a feed says, before or without a visit to the page."""

import re
from html import unescape

# A tag may have ">" inside the quotes of an attribute.
_REST = r"""(?:[^<>"']|"[^"]*"|'[^']*')*>"""
_TAG = re.compile(f"<{_REST}")
_UNREAD = re.compile(r"<(?:(script|style)\b|!--)", re.IGNORECASE)
_ENDS = {
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
    "": re.compile(r"-->"),
}
_BLOCK = re.compile(
    r"<(?:/?(?:p|div|section|article|blockquote|pre|ul|ol|li|dl|dt|dd|table|tr|h[1-6]|figure|figcaption|hr)|br)\b"
    + _REST,
    re.IGNORECASE,
)
_CELL = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
# Written without spaces: about two characters make a word.
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def _without_unread(html: str) -> str:
    """Scripts, styles and comments are no text. One that is never closed goes to the end, as in a browser."""
    kept, at = [], 0
    while begin := _UNREAD.search(html, at):
        kept.append(html[at : begin.start()])
        end = _ENDS[(begin[1] or "").lower()].search(html, begin.end())
        if end is None:
            return " ".join(kept)
        at = end.end()
    return " ".join((*kept, html[at:]))


def plain_text(html: str) -> str:
    """One line per block, without empty ones; the cells of a row stay words of their own."""
    bare = _CELL.sub(" ", _without_unread(html.replace("\r", " ").replace("\n", " ")))
    marked = _BLOCK.sub("\n", bare)
    lines = (" ".join(line.split()) for line in unescape(_TAG.sub("", marked)).split("\n"))
    return "\n".join(line for line in lines if line)


def count_words(text: str) -> int:
    ideographs = len(_IDEOGRAPHS.findall(text))
    return len(_IDEOGRAPHS.sub(" ", text).split()) + ideographs // 2
