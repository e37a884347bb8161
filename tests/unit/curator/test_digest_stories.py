"""Which stories a digest tells and why, and the paragraph of a model above them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pressbox.core.errors import (
    ConfigurationError,
    PressboxError,
    RateLimitedError,
    TransientError,
    UnusableAnswerError,
)
from pressbox.core.models.client import OnText, Question, Reply
from pressbox.curator.reading.digest import MOST_STORIES, Story, choose, first_sentence
from pressbox.curator.reading.digest_model import write_paragraph

NOW = datetime(2026, 11, 17, 6, 30, tzinfo=UTC)


def story(number: int, **values: object) -> Story:
    made = Story(number, f"Story {number}", "It is so. More of it.", f"Source {number}", NOW - timedelta(hours=number))
    return replace(made, **values)  # type: ignore[arg-type]


class FakeModel:
    """Answers the same to every question, or fails."""

    name = "small"

    def __init__(self, answer: str = "", error: PressboxError | None = None) -> None:
        self._answer, self._error = answer, error
        self.asked: list[Question] = []

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        self.asked.append(question)
        if self._error is not None:
            raise self._error
        if not usable(self._answer):
            raise UnusableAnswerError("Not usable.")
        return Reply(self._answer, self.name)


def test_what_more_sources_have_comes_first_and_says_so() -> None:
    told = choose([story(1, kept=3), story(2, sources=3), story(3, recommended=True), story(4, sources=2, kept=5)])
    assert [one.entry_id for one in told] == [2, 4, 3, 1]
    assert [one.why for one in told] == [
        "In 3 of your sources.",
        "In 2 of your sources. From a source that you often keep.",
        "Close to what you marked up.",
        "From a source that you often keep.",
    ]


def test_at_most_seven_are_told() -> None:
    assert len(choose([story(number, sources=2) for number in range(20)])) == MOST_STORIES


def test_without_anything_that_tells_them_apart_the_newest_of_three_sources_are_told() -> None:
    told = choose([story(number, source=f"Source {number // 2}") for number in range(10)])
    assert [one.entry_id for one in told] == [0, 2, 4]
    assert {one.why for one in told} == {"New in your sources."}
    assert choose([]) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("It rains. It pours.", "It rains."),
        ("第一句。第二句。", "第一句。"),
        ("No end", "No end"),
        ("", ""),
    ],
)
def test_one_line_is_the_first_sentence(text: str, line: str) -> None:
    assert first_sentence(text) == line


def test_a_long_sentence_is_cut() -> None:
    assert len(first_sentence("word " * 200).encode()) <= 220


async def test_a_model_writes_one_paragraph() -> None:
    model = FakeModel("It rains in the north,\nand the glaciers are growing again.")
    text = await write_paragraph(model, [story(1), story(2)], "de")
    assert text == "It rains in the north, and the glaciers are growing again."
    assert "in German" in model.asked[0].instructions


async def test_the_same_stories_are_the_same_work_in_any_order_and_whatever_marks_surround_them() -> None:
    model = FakeModel("It rains in the north, and in the south.")
    for stories in ([story(1), story(2)], [story(2), story(1)], [story(1), story(3)]):
        await write_paragraph(model, stories, None)
    first, second, other = [question.content_hash for question in model.asked]
    assert first == second
    assert first != other


@pytest.mark.parametrize(
    "error",
    [
        RateLimitedError("The budget is used up."),
        TransientError("The model is away."),
        ConfigurationError("The key is wrong."),
        UnusableAnswerError("Nonsense."),
    ],
)
async def test_without_the_model_the_lines_stand_alone(error: PressboxError) -> None:
    assert await write_paragraph(FakeModel(error=error), [story(1)], None) == ""


@pytest.mark.parametrize("answer", ["", "Short.", "Far too long. " * 200])
async def test_an_answer_of_no_use_is_left_out(answer: str) -> None:
    assert await write_paragraph(FakeModel(answer), [story(1)], None) == ""


async def test_without_a_model_nobody_is_asked() -> None:
    assert await write_paragraph(None, [story(1)], None) == ""
    model = FakeModel("It rains in the north, and in the south.")
    assert await write_paragraph(model, [], None) == ""
    assert not model.asked
