"""An article opened at a passage: `?passage=start-end`, and `cited=answer-number` for the words of an answer."""

import re
from dataclasses import replace

from pressbox.core.errors import NotFoundError
from pressbox.curator.ask.domain.answers import AnswerView
from pressbox.curator.reading.access import PATH
from pressbox.curator.reading.marks import ID, marked
from pressbox.curator.reading.panes import Asked, Panes
from pressbox.curator.search.domain.passages import Passage

_TWO_NUMBERS = re.compile(r"(\d{1,15})-(\d{1,15})")


def passage_address(answer: AnswerView, number: int) -> str:
    """Where a citation leads, counted from one."""
    passage: Passage = answer.passages[number - 1]
    place = f"passage={passage.start}-{passage.end}&cited={answer.id}-{number}"
    return f"{PATH}/entries/{passage.entry_id}?{place}#{ID}"


async def with_passage(asked: Asked, page: Panes) -> Panes:
    """The passage marked in the article; quoted above it where its words are not found there."""
    place = _two_numbers(asked, "passage")
    if page.article is None or place is None:
        return page
    entry_id, cited = page.article.item.id, _two_numbers(asked, "cited")
    try:
        text = await asked.service.asking.passage(asked.user_id, entry_id, *place, cited)
    except NotFoundError:
        # The answer is gone; the article is still there to be read.
        text = await asked.service.asking.passage(asked.user_id, entry_id, *place)
    if not text:
        return page
    body = marked(page.article.body_html, text)
    article = page.article if body is None else replace(page.article, body_html=body)
    words = {name: asked.request.query_params[name] for name in ("passage", "cited") if _two_numbers(asked, name)}
    return replace(page, article=article, quote=text if body is None else "", passage_words=words)


def _two_numbers(asked: Asked, name: str) -> tuple[int, int] | None:
    found = _TWO_NUMBERS.fullmatch(asked.request.query_params.get(name, ""))
    return (int(found[1]), int(found[2])) if found else None
