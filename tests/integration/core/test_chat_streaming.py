"""A model that is read while it writes: over HTTP, slow, and broken off."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from pressbox.core.errors import AnswerLostError, RateLimitedError, TransientError
from pressbox.core.models.chat import ChatModel
from pressbox.core.models.client import Question
from pressbox.core.models.endpoints import Endpoint
from pressbox.core.spending.till import UnbilledError
from pressbox.demo.simulators.answer_script import AnswerScript, Slip, is_question_task
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.model import MODEL, Mistake, ModelRequest, ModelService

QUESTION = Question("answer", "1", "hash", "Answer.", "Is it closed?", 100)
TEXT = "The bridge is closed, and nobody knows when it opens again. 東京の橋も閉まっている。"


@pytest.fixture
async def service() -> AsyncIterator[ModelService]:
    async with ModelService(script=lambda asked: TEXT) as service:
        yield service


@pytest.fixture
async def model(service: ModelService) -> AsyncIterator[ChatModel]:
    endpoint = Endpoint(service.base_url, MODEL, None, "URL", "KEY", "NAME")
    model = ChatModel("model", endpoint, longest_call=timedelta(seconds=5), at_once=2)
    yield model
    await model.close()


async def test_the_text_is_heard_piece_by_piece_and_its_tokens_are_counted(
    service: ModelService, model: ChatModel
) -> None:
    heard: list[tuple[float, str]] = []

    async def hear(text: str) -> None:
        heard.append((time.monotonic(), text))

    service.pace = 0.02
    said = await model.converse(QUESTION, hear)
    assert said.text == TEXT
    assert len(heard) > 3
    assert all(TEXT.startswith(text) for _, text in heard)
    # They came one after the other, not all at the end.
    assert heard[-1][0] - heard[0][0] >= 0.02 * (len(heard) - 2)
    assert said.tokens_in > 0
    assert said.tokens_out > 0


async def test_a_stream_that_breaks_off_is_no_answer(service: ModelService, model: ChatModel) -> None:
    heard: list[str] = []

    async def hear(text: str) -> None:
        heard.append(text)

    service.err(Mistake.BROKEN)
    with pytest.raises(TransientError):
        await model.converse(QUESTION, hear)
    assert heard
    assert heard[-1] != TEXT
    assert (await model.converse(QUESTION, hear)).text == TEXT


@pytest.mark.parametrize(("mistake", "error"), [(Mistake.HTML, AnswerLostError), (Mistake.UNAVAILABLE, UnbilledError)])
async def test_something_else_than_a_stream_is_trouble_of_the_endpoint(
    service: ModelService, model: ChatModel, mistake: Mistake, error: type[Exception]
) -> None:
    async def hear(text: str) -> None:
        raise AssertionError(text)

    service.err(mistake)
    with pytest.raises(error):
        await model.converse(QUESTION, hear)


async def test_a_busy_endpoint_says_when_to_come_back(service: ModelService, model: ChatModel) -> None:
    async def hear(text: str) -> None:
        raise AssertionError(text)

    service.tell("v1/chat/completions", Kind.BUSY, seconds=30, times=1)
    with pytest.raises(UnbilledError) as unbilled:
        await model.converse(QUESTION, hear)
    assert isinstance(unbilled.value.error, RateLimitedError)
    assert unbilled.value.error.retry_after == timedelta(seconds=30)


def test_the_simulated_model_answers_with_sentences_of_the_passages_and_cites_them() -> None:
    mark = "0123456789abcdef"
    material = (
        f"BEGIN {mark} PASSAGE 1\nTitle (2026-01-01)\nThe bridge is closed. Cakes are sweet.\nEND {mark} PASSAGE 1\n\n"
        f"BEGIN {mark} QUESTION\nIs the bridge closed?\nEND {mark} QUESTION"
    )
    asked = ModelRequest(MODEL, ("Answer the question with the numbered passages below.", material), ())
    assert is_question_task(asked)
    assert AnswerScript()(asked).startswith("The bridge is closed [1].")
    slips = AnswerScript(Slip.UNKNOWN_PASSAGE, Slip.NO_CITATIONS, Slip.OBEYS)
    assert "[99]" in slips(asked)
    assert "[" not in slips(asked)
    assert "<script>" in slips(asked)
