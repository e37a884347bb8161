"""What an OpenAI-compatible endpoint accepts of a request, learnt from what it refuses. Pure.

Endpoints and models differ in the parameters that they take: a refused one is left out, or replaced by the next of its
kind, and the request is built again. A refusal is not billed.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import BaseModel

from pressbox.core.models.client import Question
from pressbox.core.models.completions import Trouble

MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
TEMPERATURE, STREAM_OPTIONS = "temperature", "stream_options"
SCHEMA, OBJECT = "json_schema", "json_object"
SYSTEM = "system"
# The first of a kind that is not refused is sent; without any the parameter is left out.
_LIMITS, _FORMATS = (MAX_TOKENS, MAX_COMPLETION_TOKENS), (SCHEMA, OBJECT)
_FORMAT_WORDS = ("response_format", "response format", "json_schema", "json_object", "json mode", "grammar")
_ROLE_WORDS = ("role", "system message", "system prompt", "developer instruction")
# Models that think before they answer spend tokens of the same limit on it.
REASONING_TOKENS = 4_000
# Below this nothing useful can be said about an article.
LEAST_CONTEXT = 1_000
_CHARACTERS_PER_TOKEN = 3.5
# Grammars that endpoints build from a schema become huge with these, and fail.
_CONSTRAINTS = frozenset({"title", "default", "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"})


@dataclass(frozen=True)
class Dialect:
    """`context_tokens` is None when nothing is known of it. With `reasons` the model thinks before it answers."""

    refused: frozenset[str] = frozenset()
    context_tokens: int | None = None
    reasons: bool = False

    def first(self, names: tuple[str, ...]) -> str | None:
        return next((name for name in names if name not in self.refused), None)

    def joined(self, other: "Dialect") -> "Dialect":
        """What both have learnt."""
        known = [tokens for tokens in (self.context_tokens, other.context_tokens) if tokens is not None]
        return Dialect(self.refused | other.refused, min(known, default=None), self.reasons or other.reasons)


def build_request(
    model: str, question: Question, material: str, dialect: Dialect, *, streamed: bool
) -> dict[str, object]:
    body: dict[str, object] = {"model": model, "messages": _messages(question, material, dialect)}
    if TEMPERATURE not in dialect.refused:
        body[TEMPERATURE] = 0
    if (limit := dialect.first(_LIMITS)) is not None:
        body[limit] = most_tokens(question, dialect)
    if question.form is not None and (kind := dialect.first(_FORMATS)) is not None:
        body["response_format"] = _response_format(kind, question.form)
    if streamed:
        body["stream"] = True
        if STREAM_OPTIONS not in dialect.refused:
            body[STREAM_OPTIONS] = {"include_usage": True}
    return body


def most_tokens(question: Question, dialect: Dialect) -> int:
    reasons = dialect.reasons or MAX_TOKENS in dialect.refused
    return question.most_tokens + (REASONING_TOKENS if reasons else 0)


def estimate_tokens(*texts: str) -> int:
    """More rather than less than a model counts: scripts other than Latin take about a token for each character."""
    wide = sum(sum(character > "\u024f" for character in text) for text in texts)
    return int((sum(map(len, texts)) - wide) / _CHARACTERS_PER_TOKEN) + wide


def fit_material(question: Question, dialect: Dialect) -> str | None:
    """The material as far as the model's context has room for it; None when it cannot be made to fit."""
    if dialect.context_tokens is None:
        return question.material
    wanted = min(most_tokens(question, dialect), dialect.context_tokens // 3)
    room = dialect.context_tokens - wanted - estimate_tokens(question.instructions)
    needed = estimate_tokens(question.material)
    if needed <= room:
        return question.material
    if question.fit is None or room <= 0:
        return None
    return question.fit(int(len(question.material) * room / needed))


def learn(dialect: Dialect, trouble: Trouble, question: Question, material: str) -> Dialect | None:
    """What the refusal of a request in this dialect teaches; None when nothing."""
    if trouble.is_too_long:
        return _learn_context(dialect, trouble, question, material)
    said = f"{trouble.parameter} {trouble.words}".lower()
    formats = dialect.first(_FORMATS)
    if question.form is not None and formats is not None and any(word in said for word in _FORMAT_WORDS):
        return replace(dialect, refused=dialect.refused | {formats})
    limit = dialect.first(_LIMITS)
    for name in (limit, TEMPERATURE, STREAM_OPTIONS):
        if name is not None and name not in dialect.refused and name in said:
            return replace(dialect, refused=dialect.refused | {name})
    if SYSTEM not in dialect.refused and SYSTEM in said and any(word in said for word in _ROLE_WORDS):
        return replace(dialect, refused=dialect.refused | {SYSTEM})
    return None


def _learn_context(dialect: Dialect, trouble: Trouble, question: Question, material: str) -> Dialect | None:
    """Less than was sent, whatever the endpoint says: our estimate of tokens may be wrong."""
    sent = estimate_tokens(question.instructions, material) + most_tokens(question, dialect)
    less = sent * 3 // 4
    tokens = less if trouble.context_tokens is None else min(trouble.context_tokens, less)
    if question.fit is None or tokens < LEAST_CONTEXT:
        return None
    return replace(dialect, context_tokens=tokens)


def _messages(question: Question, material: str, dialect: Dialect) -> list[dict[str, object]]:
    if SYSTEM in dialect.refused:
        return [{"role": "user", "content": _content(f"{question.instructions}\n\n{material}", question.pictures)}]
    return [
        {"role": "system", "content": question.instructions},
        {"role": "user", "content": _content(material, question.pictures)},
    ]


def _content(text: str, pictures: tuple[bytes, ...]) -> object:
    return text if not pictures else [{"type": "text", "text": text}, *map(_picture, pictures)]


def _picture(jpeg: bytes) -> dict[str, object]:
    url = f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _response_format(kind: str, form: type[BaseModel]) -> dict[str, object]:
    if kind == OBJECT:
        return {"type": OBJECT}
    return {"type": SCHEMA, "json_schema": {"name": "answer", "schema": _plain(form.model_json_schema())}}


def _plain(schema: object) -> object:
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    # Below `properties` these are names of fields.
    return {
        name: {field: _plain(one) for field, one in value.items()} if name == "properties" else _plain(value)
        for name, value in schema.items()
        if name not in _CONSTRAINTS
    }
