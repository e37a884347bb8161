"""Every recorded answer of OpenAI-compatible endpoints, and the shapes that are documented but were never recorded."""

import json
from collections.abc import Mapping

import pytest
from pydantic import BaseModel

from pressbox.core.models.client import Question
from pressbox.core.models.completions import (
    Said,
    StreamedAnswer,
    Trouble,
    json_in,
    parse_completion,
    parse_trouble,
    without_reasoning,
)
from pressbox.core.models.dialect import Dialect, fit_material, learn
from pressbox.core.models.endpoints import Endpoint, state_of
from tests.fakes.paid_services import Recorded, recorded_completions

QUESTION = Question("answer", "1", "hash", "Say it.", "A text.", 50)


class _Form(BaseModel):
    articles: list[str]


# What our parser makes of the few that are no completions: errors in a stream of status 200, and tests of others.
NO_COMPLETIONS = {
    "test_groq-test_tool_use_failed_error_streaming-0",
    "test_groq-test_tool_use_failed_error_streaming_with_text-0",
    "test_openai-test_invalid_response-0",
    "test_openai-test_text_response-0",
    "test_openrouter-test_openrouter_stream_error-0",
}


def read(recorded: Recorded) -> Said:
    if not recorded.streamed:
        return parse_completion(recorded.answer.body)
    answer = StreamedAnswer()
    for line in recorded.answer.body.decode().splitlines():
        answer.add(line)
    assert answer.ended
    return answer.said()


def reasoning_in(recorded: Recorded) -> str:
    """What the model thought, as far as the answer is one object."""
    if recorded.streamed:
        return ""
    message = json.loads(recorded.answer.body)["choices"][0]["message"]
    return str(message.get("reasoning") or message.get("reasoning_content") or "")


def test_every_recorded_answer_is_text_without_thoughts_or_says_why_there_is_none() -> None:
    for recorded in recorded_completions():
        if recorded.answer.status != 200:
            continue
        if recorded.name in NO_COMPLETIONS:
            with pytest.raises(ValueError, match="endpoint"):
                read(recorded)
            continue
        said = read(recorded)
        assert "think>" not in said.text, recorded.name
        assert bool(said.text.strip()) != bool(said.reason), recorded.name
        thoughts = reasoning_in(recorded)
        assert not thoughts or (said.reasoned and thoughts not in said.text), recorded.name


def test_every_recorded_refusal_is_understood() -> None:
    learnt: list[str] = []
    for recorded in recorded_completions():
        status, trouble = recorded.answer.status, parse_trouble(recorded.answer.body)
        if status == 200:
            continue
        assert trouble.words, recorded.name
        assert trouble.is_too_long == ("context_length" in recorded.name and status == 400), recorded.name
        if learn(Dialect(), trouble, QUESTION, "") is not None:
            learnt.append(recorded.name)
    assert set(learnt) <= {"test_openai-test_openai_o1_mini_system_role_system-0"}


def openai(message: str, code: str, param: str | None = None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (
            openai(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
                "instead.",
                "unsupported_parameter",
                "max_tokens",
            ),
            "max_tokens",
        ),
        (
            openai(
                "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is "
                "supported.",
                "unsupported_value",
                "temperature",
            ),
            "temperature",
        ),
        (openai("Unsupported value: 'messages[0].role' does not support 'system' with this model.", "x"), "system"),
        (b"{\"error\":\"'response_format.type' must be 'json_object' or 'text'\"}", "json_schema"),
        (openai("This response_format type is unavailable now", "invalid_request_error"), "json_schema"),
        (
            b'{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs"}]}',
            "stream_options",
        ),
        (b'{"object":"error","message":{"detail":[{"loc":["body","temperature"]}]},"code":422}', "temperature"),
    ],
)
def test_documented_refusals_teach_what_to_leave_out(body: bytes, refused: str) -> None:
    question = Question("answer", "1", "hash", "Say it.", "A text.", 50, form=_Form)
    learnt = learn(Dialect(), parse_trouble(body), question, "A text.")
    assert learnt is not None
    assert learnt.refused == {refused}


def test_an_unknown_complaint_teaches_nothing() -> None:
    assert learn(Dialect(), parse_trouble(openai("The model is not known.", "model_not_found")), QUESTION, "") is None
    assert learn(Dialect(), parse_trouble(b"<html>502</html>"), QUESTION, "") is None


@pytest.mark.parametrize(
    ("error", "tokens"),
    [
        ({"message": "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."}, 8192),
        ({"message": "prompt too long; exceeded max context length by 1119046 tokens (ref: 9)"}, None),
        ({"message": "the request exceeds the available context size", "n_ctx": 4096}, 4096),
        ({"message": "The total length of all messages is too long.", "type": "too_many_prompt_tokens"}, None),
        ({"message": "However, the model is loaded with context length of only 4096 tokens"}, 4096),
        ({"message": "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000"}, 6000),
    ],
)
def test_the_context_is_read_from_the_refusal(error: Mapping[str, object], tokens: int | None) -> None:
    trouble = parse_trouble(json.dumps({"error": error}).encode())
    assert (trouble.is_too_long, trouble.context_tokens) == (True, tokens)


def test_a_text_that_cannot_be_shortened_teaches_nothing_and_each_lesson_makes_the_next_text_shorter() -> None:
    trouble = Trouble(is_too_long=True, context_tokens=50_000)
    text = "word " * 4_000
    assert learn(Dialect(), trouble, QUESTION, text) is None
    question = Question("answer", "1", "hash", "Say it.", text, 50, fit=lambda longest: text[:longest])
    dialect, sizes = Dialect(), [len(text)]
    while (learnt := learn(dialect, trouble, question, text[: sizes[-1]])) is not None:
        dialect = dialect.joined(learnt)
        fitted = fit_material(question, dialect)
        assert fitted is not None
        sizes.append(len(fitted))
        assert len(sizes) < 20
    assert sizes == sorted(set(sizes), reverse=True)
    assert len(sizes) > 2


def test_ollama_reads_4096_tokens_unless_somebody_set_more() -> None:
    def context(url: str, set_to: int | None = None) -> int | None:
        return state_of(Endpoint(url, "m", None, "U", "K", "N", set_to)).dialect.context_tokens

    assert context("http://localhost:11434/v1") == 4_096
    assert context("http://localhost:11434/v1", 32_768) == 32_768
    assert context("https://api.example.org/v1") is None


def test_a_question_that_ollama_cut_is_no_answer_and_teaches_its_context() -> None:
    body = {
        "system_fingerprint": "fp_ollama",
        "choices": [{"message": {"role": "assistant", "content": "In short."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 4096, "completion_tokens": 3},
    }
    said = parse_completion(json.dumps(body).encode())
    assert said.cut_at == 4_096
    assert "only 4,096 tokens" in said.reason


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "Yes."),
        ("<thinking>Hm.</thinking><think>More.</think> Yes.", "Yes."),
        ("Hm, so it is.\n</think>\nYes.", "Yes."),
        ("<think>Still thinking", ""),
        ("<thi", ""),
        ("1 < 2, I think.", "1 < 2, I think."),
        ('{"summary": "It ends by </think>."}', '{"summary": "It ends by </think>."}'),
    ],
)
def test_thoughts_are_not_shown(text: str, shown: str) -> None:
    assert without_reasoning(text) == shown


@pytest.mark.parametrize(
    "said",
    [
        '{"a": [1]}',
        '```json\n{"a": [1]}\n```',
        'Here is the JSON:\n\n```\n{"a": [1]}\n```\nAnything else?',
        'Sure! {"a": [1]} I hope that helps {you}.',
    ],
)
def test_the_object_is_found_in_fences_and_between_words(said: str) -> None:
    assert json_in(said) == {"a": [1]}


@pytest.mark.parametrize("said", ["", "Certainly!", '{"a": [1', "[" * 100_000, "{" * 100_000])
def test_what_holds_no_object_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        json_in(said)
