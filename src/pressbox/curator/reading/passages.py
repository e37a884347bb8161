"""An article opened at a passage: `?passage=start-end`, and `cited=answer-number` for the words of an answer."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from html import unescape

from pressbox.core.app import Resources
from pressbox.curator.reading.panes import Asked, Panes

_TWO_NUMBERS = re.compile(r"(\d{1,15})-(\d{1,15})")


FindPassage = Callable[[Resources, int, int, tuple[int, int], tuple[int, int] | None], Awaitable[str]]

_find_passage: list[FindPassage] = []


def set_passage_finder(find: FindPassage) -> None:
    """Let `find` return the text of a passage: of this person and entry, from start to end, cited by an answer."""
    _find_passage[:] = [find]


async def with_passage(asked: Asked, page: Panes) -> Panes:
    """The passage marked in the article; quoted above it where its words are not found there."""
    place = _two_numbers(asked, "passage")
    if page.article is None or place is None:
        return page
    entry_id, cited = page.article.id, _two_numbers(asked, "cited")
    text = await _find_passage[0](asked.parts, asked.user_id, entry_id, place, cited) if _find_passage else ""
    if not text:
        return page
    body = marked(page.article.body_html, text)
    article = page.article if body is None else replace(page.article, body_html=body)
    words = {name: asked.request.query_params[name] for name in ("passage", "cited") if _two_numbers(asked, name)}
    return replace(page, article=article, quote=text if body is None else "", passage_words=words)


def _two_numbers(asked: Asked, name: str) -> tuple[int, int] | None:
    found = _TWO_NUMBERS.fullmatch(asked.request.query_params.get(name, ""))
    return (int(found[1]), int(found[2])) if found else None


ID = "passage"
# Enough letters to be sure, when the whole is not there as it was.
BEGINNING, ENDING = 48, 24
# A passage that lost or gained some words since is still found.
SLACK = 400

_TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_UNREAD = re.compile(r"<(/?)(?:rt|rp|script|style|template|svg|iframe|textarea)\b", re.IGNORECASE)
_CHARACTER = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|.", re.IGNORECASE | re.DOTALL)


def marked(html: str, passage: str) -> str | None:
    """The same HTML with the passage in `<mark>`, the first of them with an id; None when it is not in there."""
    texts = list(_texts(html))
    letters, places = _letters(html, texts)
    found = _found(letters, "".join(_folded(one) for one in passage))
    if found is None:
        return None
    begin, end = places[found[0]][0], places[found[1] - 1][1]
    pieces, at, first = [], 0, True
    for start, stop in texts:
        left, right = max(start, begin), min(stop, end)
        if left >= right or not html[left:right].strip():
            continue
        named = f' id="{ID}"' if first else ""
        pieces += [html[at:left], f"<mark{named}>", html[left:right], "</mark>"]
        at, first = right, False
    return "".join((*pieces, html[at:]))


def _texts(html: str) -> Iterator[tuple[int, int]]:
    """Where text stands that a reader sees."""
    at, unread = 0, 0
    for tag in _TAG.finditer(html):
        if tag.start() > at and not unread:
            yield at, tag.start()
        at = tag.end()
        if hidden := _UNREAD.match(tag[0]):
            unread = max(0, unread - 1) if hidden[1] else unread + (not tag[0].endswith("/>"))
    if at < len(html) and not unread:
        yield at, len(html)


def _letters(html: str, texts: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """All letters in a row, and for each where it stands."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for start, stop in texts:
        for found in _CHARACTER.finditer(html, start, stop):
            for letter in "".join(_folded(one) for one in unescape(found[0])):
                letters.append(letter)
                places.append(found.span())
    return "".join(letters), places


def _folded(character: str) -> str:
    return character.casefold() if character.isalnum() else ""


def _found(letters: str, wanted: str) -> tuple[int, int] | None:
    if not wanted:
        return None
    whole = letters.find(wanted)
    if whole >= 0:
        return whole, whole + len(wanted)
    begin = letters.find(wanted[:BEGINNING]) if len(wanted) > BEGINNING else -1
    if begin < 0:
        return None
    last = letters.find(wanted[-ENDING:], begin + BEGINNING, begin + len(wanted) + SLACK)
    return begin, (last + ENDING if last >= 0 else begin + BEGINNING)
