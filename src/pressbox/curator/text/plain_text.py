"""Turns HTML into plain text quickly, counts words and shortens texts. Pure."""

import re
from html import unescape

# Histories keep every message, so what travels in one is short.
TITLE_BYTES = 80
SUMMARY_BYTES = 1_500

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


def to_plain_text(html: str) -> str:
    """Write one line per block, without empty lines; the cells of a row stay words of their own."""
    bare = _CELL.sub(" ", _drop_unread(html.replace("\r", " ").replace("\n", " ")))
    marked = _BLOCK.sub("\n", bare)
    lines = (" ".join(line.split()) for line in unescape(_TAG.sub("", marked)).split("\n"))
    return "\n".join(line for line in lines if line)


def count_words(text: str) -> int:
    ideographs = len(_IDEOGRAPHS.findall(text))
    return len(_IDEOGRAPHS.sub(" ", text).split()) + ideographs // 2


def shorten(text: str, limit: int = TITLE_BYTES) -> str:
    """Cut to at most `limit` bytes of UTF-8, between words where there are words."""
    if len(text.encode()) <= limit:
        return text
    cut = text.encode()[: limit - 3].decode(errors="ignore")
    words = cut.rsplit(" ", 1)[0]
    return (words if len(words) > len(cut) // 2 else cut).rstrip() + "…"


def make_storable(text: str) -> str:
    """Remove NUL characters and replace halves of characters, which PostgreSQL cannot store."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def _drop_unread(html: str) -> str:
    """Drop scripts, styles and comments. One that is never closed reaches to the end, as in a browser."""
    kept, at = [], 0
    while begin := _UNREAD.search(html, at):
        kept.append(html[at : begin.start()])
        end = _ENDS[(begin[1] or "").lower()].search(html, begin.end())
        if end is None:
            return " ".join(kept)
        at = end.end()
    return " ".join((*kept, html[at:]))
