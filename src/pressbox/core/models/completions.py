"""Reads what OpenAI-compatible endpoints answer: completions, streams of them, and troubles in all their forms. Pure.

Endpoints differ: content may be a list of parts or null, an error may be an object, a text or stand alone, and it may
come with status 200 or in the middle of a stream.
"""

import json
import re
from dataclasses import dataclass

from pydantic import BaseModel, Field, ValidationError

LONGEST_QUOTE = 200
DONE = "[DONE]"
_FENCED = re.compile(r"\s*```(?:json)?\s*(?P<inside>.*?)\s*```\s*", re.DOTALL | re.IGNORECASE)
FILTERED = "The endpoint's content filter refuses this text."
TOO_LONG = "The text is longer than the model accepts."
_LENGTH_CODES = frozenset({"context_length_exceeded", "too_many_prompt_tokens"})
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})


@dataclass(frozen=True)
class Said:
    """`tokens_in` and `tokens_out` are 0 when the endpoint does not count. `reason` says why the text is no answer."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Trouble:
    """What an endpoint says instead of an answer. With `refuses_text` it is about this one text, as `words` say."""

    words: str = ""
    refuses_text: bool = False
    wants_credit: bool = False


class _Part(BaseModel):
    type: str = "text"
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message = _Message()
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


class _Change(BaseModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: list[_Change] = []
    usage: _Usage | None = None
    error: object = None


class _InnerError(BaseModel):
    code: str | int | None = None


class _Error(BaseModel):
    message: str = ""
    code: str | int | None = None
    type: str | None = None
    innererror: _InnerError | None = None


class _Wrapped(BaseModel):
    error: _Error | str


def parse_completion(body: bytes) -> Said:
    """A ValueError says that it is something else."""
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError as error:
        words = parse_trouble(body).words
        said = f"the endpoint says: {words}" if words else "the endpoint answers something else than a completion."
        raise ValueError(said) from error
    choice, usage = completion.choices[0], completion.usage or _Usage()
    return _said(_text(choice.message), choice.message.refusal, choice.finish_reason, usage)


class StreamedAnswer:
    """An answer that arrives in lines of server-sent events."""

    def __init__(self) -> None:
        self.text = ""
        self.ended = False
        self._refusal = ""
        self._finish: str | None = None
        self._usage = _Usage()

    def add(self, line: str) -> str:
        """Take one line and return the text that it adds. A ValueError says that this is no completion any more."""
        if not line.startswith("data:"):
            return ""
        data = line.removeprefix("data:").strip()
        if data == DONE:
            self.ended = True
            return ""
        try:
            chunk = _Chunk.model_validate_json(data)
        except ValidationError as error:
            raise ValueError("the endpoint streams something else than a completion.") from error
        if chunk.error is not None:
            raise ValueError(f"the endpoint breaks off: {parse_trouble(data.encode()).words or 'an error'}")
        return self._take(chunk)

    def _take(self, chunk: _Chunk) -> str:
        self._usage = chunk.usage or self._usage
        added = ""
        for change in chunk.choices:
            added += _text(change.delta)
            self._refusal += change.delta.refusal or ""
            self._finish = change.finish_reason or self._finish
        self.text += added
        return added

    def said(self) -> Said:
        return _said(self.text, self._refusal, self._finish, self._usage)


def json_in(said: str) -> object:
    """The JSON of an answer, also in a fence; a ValueError when there is none."""
    fenced = _FENCED.fullmatch(said)
    try:
        found: object = json.loads(fenced["inside"] if fenced else said)
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply.") from error
    return found


def parse_trouble(body: bytes) -> Trouble:
    error = _parse_error(body)
    message = error.message[:LONGEST_QUOTE]
    inner = error.innererror.code if error.innererror else None
    codes = {str(code).lower() for code in (error.code, error.type, inner) if code is not None}
    plain = error.message.lower()
    if codes & _FILTER_CODES or "input was flagged" in plain:
        return Trouble(FILTERED, refuses_text=True)
    if codes & _LENGTH_CODES or "context length" in plain:
        return Trouble(TOO_LONG, refuses_text=True)
    return Trouble(message, wants_credit="insufficient_quota" in codes)


def _parse_error(body: bytes) -> _Error:
    try:
        found = _Wrapped.model_validate_json(body).error
        return _Error(message=found) if isinstance(found, str) else found
    except ValidationError:
        pass
    try:
        # Some endpoints do not wrap their errors.
        return _Error.model_validate_json(body)
    except ValidationError:
        return _Error()


def _text(message: _Message) -> str:
    if isinstance(message.content, list):
        return "".join(part.text or "" for part in message.content if part.type == "text")
    return message.content or ""


def _said(text: str, refusal: str | None, finish: str | None, usage: _Usage) -> Said:
    reason = ""
    if refusal:
        reason = f"The model refuses: {' '.join(refusal.split())[:LONGEST_QUOTE]}"
    elif finish == "content_filter":
        reason = "The endpoint's content filter withheld the answer."
    elif not text.strip():
        reason = "The answer is empty."
        if finish == "length":
            reason = "The model used up its tokens before it answered."
    return Said(text, usage.prompt_tokens, usage.completion_tokens, reason)
