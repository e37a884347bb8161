"""What slices above reading add to an article: tabs, and passages that an answer cites."""

import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from html import unescape

from pressbox.core.app import Resources
from pressbox.curator.reading.domain import ArticleView
from pressbox.curator.reading.panes import ARTICLE, ArticleTab, Panes, ReaderRequest

# The longest word of an address.
LONGEST_WORD = 40


@dataclass(frozen=True, kw_only=True)
class LoadedTab(ArticleTab):
    """A tab of another slice. `load` returns what its template finds in `page.tab_content`.

    The `topics` of that content, if it has any, are followed too. The `words` of an address belong to the tab: the
    part that is drawn again carries them on.
    """

    load: Callable[[ReaderRequest, ArticleView], Awaitable[object]]
    words: tuple[str, ...] = ()


_offered: dict[str, LoadedTab] = {}


def offer_tab(tab: LoadedTab) -> None:
    """Show this tab beside the article, after those that were offered before."""
    _offered[tab.name] = tab


async def add_tab(reader: ReaderRequest, page: Panes, article: ArticleView) -> Panes:
    """Return the page with its article, and with the tab that the address asks for."""
    shown = replace(page, article=article)
    if not article.body_html:
        # There is nothing to translate or to look into.
        return shown
    shown = replace(shown, tabs=(ARTICLE, *_offered.values()) if _offered else ())
    given = reader.request.query_params
    # An unknown tab is the article.
    tab = _offered.get(given.get("tab", ""))
    if tab is None:
        return shown
    words = {name: given[name][:LONGEST_WORD] for name in tab.words if given.get(name)}
    return replace(shown, tab=tab, tab_content=await tab.load(reader, article), tab_words=words)


_TWO_NUMBERS = re.compile(r"(\d{1,15})-(\d{1,15})")


FindPassage = Callable[[Resources, int, int, tuple[int, int], tuple[int, int] | None], Awaitable[str]]

_find_passage: list[FindPassage] = []


def set_passage_finder(find: FindPassage) -> None:
    """Use `find` to load the text of a passage: of a person and entry, from start to end, cited by an answer."""
    _find_passage[:] = [find]


async def add_passage(reader: ReaderRequest, page: Panes) -> Panes:
    """Mark the passage in the article, or quote it above when it is not found there."""
    place = _read_numbers(reader, "passage")
    if page.article is None or place is None:
        return page
    entry_id, cited = page.article.id, _read_numbers(reader, "cited")
    text = await _find_passage[0](reader.parts, reader.user_id, entry_id, place, cited) if _find_passage else ""
    if not text:
        return page
    body = mark_passage(page.article.body_html, text)
    article = page.article if body is None else replace(page.article, body_html=body)
    words = {name: reader.request.query_params[name] for name in ("passage", "cited") if _read_numbers(reader, name)}
    return replace(page, article=article, quote=text if body is None else "", passage_words=words)


def _read_numbers(reader: ReaderRequest, name: str) -> tuple[int, int] | None:
    found = _TWO_NUMBERS.fullmatch(reader.request.query_params.get(name, ""))
    return (int(found[1]), int(found[2])) if found else None


ID = "passage"
# Enough letters to recognise a passage whose middle has changed.
BEGINNING, ENDING = 48, 24
# How many letters a passage may have gained since.
SLACK = 400

_TAG = re.compile(r"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_UNREAD = re.compile(r"<(/?)(?:rt|rp|script|style|template|svg|iframe|textarea)\b", re.IGNORECASE)
_CHARACTER = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});|.", re.IGNORECASE | re.DOTALL)


def mark_passage(html: str, passage: str) -> str | None:
    """Put the passage in `<mark>`, the first one with an id; None when it is not in the HTML."""
    texts = list(_texts(html))
    letters, places = _letters(html, texts)
    found = _find(letters, "".join(_fold(one) for one in passage))
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
    """Find the stretches of visible text."""
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
    """Return all letters in a row, and the place of each."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    for start, stop in texts:
        for found in _CHARACTER.finditer(html, start, stop):
            for letter in "".join(_fold(one) for one in unescape(found[0])):
                letters.append(letter)
                places.append(found.span())
    return "".join(letters), places


def _fold(character: str) -> str:
    return character.casefold() if character.isalnum() else ""


def _find(letters: str, wanted: str) -> tuple[int, int] | None:
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
