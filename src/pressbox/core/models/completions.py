"""Reads what OpenAI-compatible endpoints answer: completions, streams of them, and troubles in all their forms. Pure.

Endpoints differ: content may be a list of parts or null, an error may be an object, a text or stand alone, and it may
come with status 200 or in the middle of a stream. What a model thinks before it answers comes in a field of its own, in
parts of the content or between marks in the text; it is never part of the answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, Field, ValidationError

LONGEST_QUOTE = 200
DONE = "[DONE]"
_FENCED = re.compile(r"```(?:json\w?)?[ \t]*+\n(?P<inside>.*?)```", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_THINKING = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_END_OF_THOUGHT = "</think>"
# Places in an answer at which a JSON object may begin that are tried.
_MOST_PLACES = 50
_OLLAMA = "fp_ollama"
_LEAST_CUT = 2_048
FILTERED = "The endpoint's content filter refuses this text."
TOO_LONG = "The text is longer than the model accepts."
_LENGTH_CODES = frozenset(
    {"context_length_exceeded", "too_many_prompt_tokens", "exceed_context_size_error", "string_above_max_length"}
)
_LENGTH_WORDS = ("context length", "context size", "context window", "prompt is too long", "request too large")
_CONTEXT = re.compile(
    r"(?:context (?:length|size|window)(?: of| is)?(?: only)?|available context size|\btpm\)?: limit) \(?(\d[\d,]*)"
)
_CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_CREDIT_WORDS = ("insufficient balance", "insufficient credits", "credit balance is too low")
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})


@dataclass(frozen=True)
class Said:
    """`tokens_in` and `tokens_out` are 0 when the endpoint does not count. `reason` says why the text is no answer.

    `reasoned` when the model thought before it answered; `cut_at` is the context at which Ollama cut the question.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    reason: str = ""
    reasoned: bool = False
    cut_at: int | None = None


@dataclass(frozen=True)
class Trouble:
    """What an endpoint says instead of an answer. With `refuses_text` it is about this one text, as `words` say.

    `parameter` is what it does not take, if it says so; `context_tokens` how much the model reads at once.
    """

    words: str = ""
    refuses_text: bool = False
    wants_credit: bool = False
    parameter: str = ""
    is_too_long: bool = False
    context_tokens: int | None = None


class _Part(BaseModel):
    type: str = "text"
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content if part.type == "text")
        return self.content or ""

    @property
    def is_reasoned(self) -> bool:
        thinks = isinstance(self.content, list) and any(part.type == "thinking" for part in self.content)
        return thinks or bool(self.reasoning or self.reasoning_content)


class _Choice(BaseModel):
    message: _Message = _Message()
    finish_reason: str | None = None


class _Details(BaseModel):
    reasoning_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = Field(0, ge=0)
    completion_tokens: int = Field(0, ge=0)
    completion_tokens_details: _Details | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: str | None = None


class _Change(BaseModel):
    delta: _Message = _Message()
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: list[_Change] = []
    usage: _Usage | None = None
    system_fingerprint: str | None = None
    error: object = None


@dataclass
class _Heard:
    """All that an answer said, whole or piece by piece."""

    text: str = ""
    refusal: str = ""
    finish: str | None = None
    usage: _Usage | None = None
    reasoned: bool = False
    fingerprint: str | None = None

    def add(self, message: _Message, finish: str | None) -> None:
        self.text += message.text
        self.refusal += message.refusal or ""
        self.finish = finish or self.finish
        self.reasoned = self.reasoned or message.is_reasoned

    def said(self) -> Said:
        usage = self.usage or _Usage()
        text, cut_at = without_reasoning(self.text), self._cut_at(usage.prompt_tokens)
        details = usage.completion_tokens_details
        reasoned = self.reasoned or text != self.text or bool(details and details.reasoning_tokens)
        reason = self._reason(text)
        if cut_at is not None and not reason:
            reason = f"The model was given only {cut_at:,} tokens of the text: its context is not larger."
        return Said(text, usage.prompt_tokens, usage.completion_tokens, reason, reasoned, cut_at)

    def _reason(self, text: str) -> str:
        if self.refusal:
            return f"The model refuses: {' '.join(self.refusal.split())[:LONGEST_QUOTE]}"
        if self.finish == "content_filter":
            return "The endpoint's content filter withheld the answer."
        if text.strip():
            return ""
        if self.finish == "length":
            return "The model used up its tokens before it answered."
        return "The answer is empty."

    def _cut_at(self, tokens: int) -> int | None:
        """Ollama cuts a question to its context without a word; such a context is a power of two."""
        is_power = tokens >= _LEAST_CUT and tokens & (tokens - 1) == 0
        return tokens if is_power and self.fingerprint == _OLLAMA else None


def parse_completion(body: bytes) -> Said:
    """A ValueError says that it is something else."""
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError as error:
        words = parse_trouble(body).words
        said = f"the endpoint says: {words}" if words else "the endpoint answers something else than a completion."
        raise ValueError(said) from error
    choice = completion.choices[0]
    heard = _Heard(usage=completion.usage, fingerprint=completion.system_fingerprint)
    heard.add(choice.message, choice.finish_reason)
    return heard.said()


class StreamedAnswer:
    """An answer that arrives in lines of server-sent events. `text` is what may be shown of it."""

    def __init__(self) -> None:
        self.ended = False
        self._heard = _Heard()

    @property
    def text(self) -> str:
        return without_reasoning(self._heard.text)

    def add(self, line: str) -> bool:
        """Take one line and say whether it adds text. A ValueError says that this is no completion any more."""
        if not line.startswith("data:"):
            return False
        data = line.removeprefix("data:").strip()
        if data == DONE:
            self.ended = True
            return False
        try:
            chunk = _Chunk.model_validate_json(data)
        except ValidationError as error:
            raise ValueError("the endpoint streams something else than a completion.") from error
        if chunk.error is not None:
            raise ValueError(f"the endpoint breaks off: {parse_trouble(data.encode()).words or 'an error'}")
        return self._take(chunk)

    def _take(self, chunk: _Chunk) -> bool:
        heard, length = self._heard, len(self._heard.text)
        heard.usage = chunk.usage or heard.usage
        heard.fingerprint = chunk.system_fingerprint or heard.fingerprint
        for change in chunk.choices:
            heard.add(change.delta, change.finish_reason)
        return len(heard.text) > length

    def said(self) -> Said:
        return self._heard.said()


def without_reasoning(text: str) -> str:
    """The answer without what the model thought before it; empty while it still thinks."""
    while (thought := _THOUGHT.match(text)) is not None:
        text = text[thought.end() :]
    start = text.lstrip().lower()
    if _THINKING.match(text) or (start and "<think>".startswith(start)):
        return ""
    before, end, rest = text.partition(_END_OF_THOUGHT)
    # Some templates begin the thought themselves, so that only its end is in the text.
    return rest.lstrip() if end and not before.lstrip().startswith("{") else text


def json_in(said: str) -> object:
    """The JSON of an answer, also in a fence or between words; a ValueError when there is none."""
    with suppress(RecursionError):
        for candidate in (said, *(found["inside"] for found in _FENCED.finditer(said))):
            with suppress(ValueError):
                found: object = json.loads(candidate)
                return found
        objects = list(_objects(said))
        if objects:
            return max(objects, key=len)
    raise ValueError("There is no JSON in the answer.")


def _objects(said: str) -> Iterator[Mapping[str, object]]:
    """JSON objects between words."""
    decoder, place = json.JSONDecoder(), -1
    for _ in range(_MOST_PLACES):
        place = said.find("{", place + 1)
        if place < 0:
            return
        with suppress(ValueError):
            found, end = decoder.raw_decode(said, place)
            place = end - 1
            yield found


def parse_trouble(body: bytes) -> Trouble:
    error = _parse_error(body)
    plain = error.message.lower()
    if error.codes & _FILTER_CODES or "input was flagged" in plain:
        return Trouble(FILTERED, refuses_text=True)
    if error.codes & _LENGTH_CODES or any(words in plain for words in _LENGTH_WORDS):
        limit = error.context or (found[1].replace(",", "") if (found := _CONTEXT.search(plain)) else None)
        return Trouble(TOO_LONG, refuses_text=True, is_too_long=True, context_tokens=int(limit) if limit else None)
    wants_credit = bool(error.codes & _CREDIT_CODES) or any(words in plain for words in _CREDIT_WORDS)
    return Trouble(error.message[:LONGEST_QUOTE], wants_credit=wants_credit, parameter=error.parameter)


@dataclass(frozen=True)
class _Error:
    message: str = ""
    codes: frozenset[str] = frozenset()
    parameter: str = ""
    context: int | None = None


def _parse_error(body: bytes) -> _Error:
    """From an object, wrapped or not, or a text; endpoints agree on nothing but JSON."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return _Error()
    if not isinstance(found, dict):
        return _Error()
    error = found.get("error") or found
    if not isinstance(error, dict):
        return _Error(_words(error))
    inner = error.get("innererror")
    codes = (error.get("code"), error.get("type"), inner.get("code") if isinstance(inner, dict) else None)
    context = error.get("n_ctx")
    return _Error(
        _words(error.get("message") or error.get("detail")),
        frozenset(str(code).lower() for code in codes if code is not None),
        _words(error.get("param")),
        context if isinstance(context, int) else None,
    )


def _words(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
