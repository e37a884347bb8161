"""An article opened at a passage: `?passage=start-end`, and `cited=answer-number` for the words of an answer."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pressbox.core.app import Resources
from pressbox.curator.reading.marks import marked
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
    entry_id, cited = page.article.item.id, _two_numbers(asked, "cited")
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
