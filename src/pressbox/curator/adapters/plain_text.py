"""From sanitised HTML to lines of text, quickly: for what a feed says, before or without a visit to the page."""

import re
from html import unescape

_TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_UNREAD = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_BLOCK = re.compile(
    r"<(?:/?(?:p|div|section|article|blockquote|pre|ul|ol|li|dl|dt|dd|table|tr|h[1-6]|figure|figcaption|hr)|br)\b[^>]*>",
    re.IGNORECASE,
)
# Written without spaces: about two characters make a word.
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def plain_text(html: str) -> str:
    """One line per block, without empty ones."""
    marked = _BLOCK.sub("\n", _UNREAD.sub(" ", html.replace("\r", " ").replace("\n", " ")))
    lines = (" ".join(line.split()) for line in unescape(_TAG.sub("", marked)).split("\n"))
    return "\n".join(line for line in lines if line)


def count_words(text: str) -> int:
    ideographs = len(_IDEOGRAPHS.findall(text))
    return len(_IDEOGRAPHS.sub(" ", text).split()) + ideographs // 2
