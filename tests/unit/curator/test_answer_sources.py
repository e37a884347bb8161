"""Which passages stand beside an answer, and which are folded."""

from dataclasses import replace
from datetime import UTC, datetime

from pressbox.curator.ask.domain import AnswerMethod, AnswerState, AnswerView
from pressbox.curator.ask.pages import ShownAnswer
from pressbox.curator.search.domain.passages import Passage

NOW = datetime(2026, 5, 4, tzinfo=UTC)
PASSAGE = Passage(1, 1, "Title", "Feed", "https://example.org/a", NOW, 0, 4, "Text", 1.0, ())
ANSWER = AnswerView(
    1, 1, "When?", AnswerState.DONE, AnswerMethod.MODEL, "m", "At 22:40 [3][1].", [PASSAGE] * 4, "", NOW, NOW
)


def test_cited_passages_are_shown_and_the_others_folded() -> None:
    shown = ShownAnswer(ANSWER)
    assert (list(shown.shown_numbers), list(shown.other_numbers)) == ([1, 3], [2, 4])


def test_all_are_shown_while_it_is_written_and_when_it_cites_none() -> None:
    for answer in (replace(ANSWER, state=AnswerState.WRITING), replace(ANSWER, text="Late [9].")):
        shown = ShownAnswer(answer)
        assert (list(shown.shown_numbers), list(shown.other_numbers)) == ([1, 2, 3, 4], [])
