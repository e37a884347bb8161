"""Turns HTML into plain text quickly, shortens it, and tells the lines of an article from those of its site. Pure."""

import re
from collections.abc import Sequence
from html import unescape

# Histories keep every message, so what travels in one is short.
TITLE_BYTES = 80
SUMMARY_BYTES = 1_500
# Of a text as long as this, at least this share must be left for its article.
SHORTEST_GUTTED = 300
LEAST_SHARE = 1 / 3

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
    if text.isascii():
        return text.replace("\x00", "")
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


# Whole lines only: "share this" inside a sentence is what the article says.
_BUTTONS = re.compile(
    r"""(?:
      share(?:\ (?:this|on|via)\b.*)? | tweet(?:\ this)? | pin\ it | print(?:\ this(?:\ page)?)? | e?-?mail(?:\ this)?
    | (?:read|see|learn)\ more\b.* | continue\ reading\b.* | related(?:\ (?:articles?|stories|posts?|links?|topics?))?
    | recommended(?:\ for\ you)? | more\ (?:from|on|stories|news)\b.* | newsletters? | follow\ us\b.*
    | you\ (?:may|might)\ (?:also\ )?(?:like|enjoy)\b.* | advertise?ments? | sponsored(?:\ content)?
    | comments?(?:\ \(\d+\))? | \d+\ comments? | leave\ a\ (?:comment|reply) | skip\ to\ (?:main\ )?content | menu
    | search | log\ ?in | sign\ in | register | home | back\ to\ (?:the\ )?top | tags?:.*
    | (?:filed|posted)\ (?:under|in)\b.* | (?:accept|reject)(?:\ all)?(?:\ cookies)? | privacy\ policy
    | cookie\ (?:settings|policy|preferences) | terms\ of\ (?:use|service) | (?:image|photo|photograph):.*
    | listen\ to\ this\ article\b.* | \d+\ min(?:ute)?s?(?:\ read)?
    | (?:artikel\ )?(?:teilen|drucken|merken|versenden|vorlesen) | auf\ \w+\ teilen | weiterlesen | anzeige | werbung
    | mehr\ (?:lesen|zum\ thema|dazu)\b.* | lesen\ sie\ (?:auch|mehr)\b.* | kommentare?(?:\ \(\d+\))? | zur\ startseite
    | das\ könnte\ sie\ auch\ interessieren\b.* | (?:quelle|foto|bild|schlagwörter):.* | anmelden
    | zum\ inhalt\ springen
    | partager | lire\ (?:aussi|la\ suite)\b.* | publicité | compartir | leer\ más\b.* | publicidad
    | シェア(?:する)? | ツイート | 関連記事.* | 続きを読む | この記事をシェア.* | 広告
    | 分享 | 相关阅读.* | 延伸阅读.* | 广告 | 공유하기
    )\s*[:.…»>→]*""",
    re.IGNORECASE | re.VERBOSE,
)
# These are whole sentences.
_NOTICES = re.compile(
    r"""(?:
      (?:©|\(c\)|copyright)\s.* | .*\ball\ rights\ reserved\b.* | .*\balle\ rechte\ vorbehalten\b.*
    | (?:we|this\ (?:site|website))\ uses?\ cookies\b.*
    | (?:wir|diese\ (?:seite|website))\ (?:verwenden|nutzt)\ cookies\b.*
    | (?:sign\ up|subscribe)\ (?:to|for|now|today|here)\b.* | .*\bnewsletter\ abonnieren\b.* | follow\ us\ on\b.*
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE = re.compile(r".{60,}[.!?]", re.DOTALL)
_LONGEST_NOTICE = 250


def split_lines(text: str) -> list[str]:
    return text.split("\n")


def is_boilerplate(line: str) -> bool:
    """Whether a line stands around every article: a button, a banner, a notice."""
    stripped = line.strip(" \t·|•-–—")
    if not stripped:
        return True
    if len(stripped) > _LONGEST_NOTICE:
        return False
    if _NOTICES.fullmatch(stripped):
        return True
    return _BUTTONS.fullmatch(stripped) is not None and _SENTENCE.fullmatch(stripped) is None


def find_main_lines(lines: Sequence[str]) -> tuple[int, int]:
    """Return the first and the last line of the article itself, both included, or those of the whole text."""
    kept = [number for number, line in enumerate(lines) if not is_boilerplate(line)]
    return (kept[0], kept[-1]) if kept else (0, max(0, len(lines) - 1))


def clamp_range(start: int, end: int, count: int) -> tuple[int, int] | None:
    """Clamp a range of lines to a text of `count` lines; None when it does not fit at all."""
    if start < 0 or start > end or start >= count:
        return None
    return start, min(end, count - 1)


def is_gutted(part: str, whole: str) -> bool:
    """Whether what was chosen of a text is too little to be its article: what stands around one is not that much."""
    return len(whole) >= SHORTEST_GUTTED and len(part) < len(whole) * LEAST_SHARE


def number_lines(lines: Sequence[str], longest: int) -> str:
    """Put its number before each line, for a model; as many whole lines as fit."""
    shown: list[str] = []
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 8
        if size > longest and shown:
            break
        shown.append(f"{number}: {line[:longest]}")
    return "\n".join(shown)
