"""A language model behind an OpenAI-compatible endpoint. Its answers come from a script, never from a model.

The script is a function from the request to the text of the answer; without one the model says of every picture that
it shows football and no clock. Besides what every simulator can do wrong it can make the mistakes of models: see
`Mistake`. As a stream it sends a few words at a time, `pace` seconds apart.

It can be as choosy as real endpoints: it refuses the parameters of `refuses` and questions of more than
`context_tokens` in the words of those that were recorded.
"""

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import cast

from pressbox.demo.simulators.http_service import Answer, HttpService, Request

MODEL = "simulated-model"
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


_FEW_WORDS = re.compile(r"(?:\S+\s*){1,3}|\s+")


class Mistake(StrEnum):
    """PROSE: words instead of JSON. CUT_SHORT: the text breaks off. BROKEN: the body, or the stream, breaks off.
    HTML: a page with status 200. NO_CHOICES: a completion without any. WRONG_KEY: 401. UNAVAILABLE: 503.
    THINKING and REASONING: it thinks first, in the text or in a field beside it. FENCED: JSON between words.
    REFUSAL and FILTERED: it does not answer this. NO_CREDIT: 429 for ever. LIMITED: 429 for a minute.
    """

    NONE = "none"
    PROSE = "prose"
    CUT_SHORT = "cut short"
    BROKEN = "broken"
    HTML = "html"
    NO_CHOICES = "no choices"
    WRONG_KEY = "wrong key"
    UNAVAILABLE = "unavailable"
    THINKING = "thinking"
    REASONING = "reasoning"
    FENCED = "fenced"
    REFUSAL = "refusal"
    FILTERED = "filtered"
    NO_CREDIT = "no credit"
    LIMITED = "limited"


def _refuse(message: str, code: str, parameter: str | None = None, status: int = 400) -> Answer:
    kind = code if code == "insufficient_quota" else "invalid_request_error"
    return Answer.of({"error": {"message": message, "type": kind, "param": parameter, "code": code}}, status)


_PLAIN: Mapping[Mistake, Answer] = {
    Mistake.HTML: Answer(200, HTML, {"Content-Type": "text/html"}),
    Mistake.NO_CHOICES: Answer.of({"object": "chat.completion", "choices": []}),
    Mistake.WRONG_KEY: Answer.of({"error": {"message": "Incorrect API key provided."}}, 401),
    Mistake.UNAVAILABLE: Answer.of({"error": {"message": "The model is loading."}}, 503),
    Mistake.NO_CREDIT: _refuse(
        "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", status=429
    ),
    Mistake.LIMITED: replace(
        _refuse("Rate limit reached.", "rate_limit_exceeded", status=429), headers={"Retry-After": "60"}
    ),
}
THOUGHT = 'The reader wants JSON. {"articles": []} would be too short.'


@dataclass(frozen=True)
class ModelRequest:
    """One request: the texts of all messages in order, and the pictures."""

    model: str
    texts: tuple[str, ...]
    pictures: tuple[bytes, ...]
    streamed: bool = False


Script = Callable[[ModelRequest], str]


def describe_football(asked: ModelRequest) -> str:
    frame = {"soccer": "yes", "screen": "no", "clock": "", "added": "", "stoppage_clock": ""}
    return json.dumps({"frames": [frame] * len(asked.pictures)})


class ModelService(HttpService):
    """`POST /v1/chat/completions` and `GET /v1/models`. With a `key`, others are refused."""

    def __init__(self, port: int = 0, *, script: Script = describe_football, key: str | None = None) -> None:
        super().__init__(port)
        self.script = script
        self.asked: list[ModelRequest] = []
        # Seconds between two pieces of a stream.
        self.pace = 0.0
        # Names of parameters, kinds of response_format, or `system` for that role.
        self.refuses: set[str] = set()
        self.context_tokens: int | None = None
        # The parameters of each request.
        self.parameters: list[Mapping[str, object]] = []
        self._key = key
        self._mistakes: list[Mistake] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def err(self, *mistakes: Mistake) -> None:
        """Make one of these mistakes in each of the next answers."""
        self._mistakes.extend(mistakes)

    async def answer(self, request: Request) -> Answer:
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return _PLAIN[Mistake.WRONG_KEY]
        match request.method, request.path:
            case "GET", "/v1/models":
                return Answer.of({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            case "POST", "/v1/chat/completions":
                return self._complete(request)
            case _:
                return Answer.of({"error": {"message": "Not found"}}, 404)

    async def inspect(self, request: Request) -> Answer:
        return Answer.of(
            [{"model": one.model, "texts": one.texts, "pictures": len(one.pictures)} for one in self.asked]
        )

    def forget(self) -> None:
        self.asked.clear()

    def _complete(self, request: Request) -> Answer:
        try:
            body = json.loads(request.body)
            asked = _parse_request(body)
        except (ValueError, TypeError, KeyError, AttributeError):
            return Answer.of({"error": {"message": "The request is not a chat completion."}}, 400)
        refusal = self._refusal(body, asked)
        if refusal is not None:
            return refusal
        self.asked.append(asked)
        self.parameters.append({name: value for name, value in body.items() if name != "messages"})
        mistake = self._mistakes.pop(0) if self._mistakes else Mistake.NONE
        if mistake in _PLAIN:
            return _PLAIN[mistake]
        said = _apply_mistake(self.script(asked), mistake)
        if asked.streamed:
            pieces = self._stream(asked, said, broken=mistake is Mistake.BROKEN)
            return Answer(200, b"", {"Content-Type": "text/event-stream"}, pieces)
        return _build_completion(asked, said, mistake)

    def _refusal(self, body: Mapping[str, object], asked: ModelRequest) -> Answer | None:
        """As OpenAI refuses; LM Studio and DeepSeek do so for kinds of response_format."""
        kind = body.get("response_format")
        formats = {str(kind["type"])} if isinstance(kind, dict) else set()
        roles = {str(message["role"]) for message in cast("list[Mapping[str, object]]", body["messages"])}
        for name in sorted(self.refuses & {*body, *formats, *roles}):
            if name in formats:
                return _refuse("This response_format type is unavailable now", "invalid_request_error")
            if name in roles:
                words = f"Unsupported value: 'messages[0].role' does not support '{name}' with this model."
                return _refuse(words, "unsupported_value", "messages[0].role")
            words = f"Unsupported parameter: '{name}' is not supported with this model."
            return _refuse(words, "unsupported_parameter", name)
        tokens = count_tokens(*asked.texts)
        if self.context_tokens is not None and tokens > self.context_tokens:
            words = (
                f"This model's maximum context length is {self.context_tokens} tokens. However, you requested "
                f"{tokens} tokens. Please reduce the length of the messages."
            )
            return _refuse(words, "context_length_exceeded", "messages")
        return None

    async def _stream(self, asked: ModelRequest, said: str, *, broken: bool) -> AsyncIterator[bytes]:
        """Server-sent events as documented: pieces, the number of tokens, and the end."""
        pieces = _FEW_WORDS.findall(said)
        for number, piece in enumerate(pieces):
            if broken and number >= len(pieces) // 2:
                return
            choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
            yield _encode_event({"object": "chat.completion.chunk", "model": asked.model, "choices": [choice]})
            await asyncio.sleep(self.pace)
        usage = {"prompt_tokens": count_tokens(*asked.texts), "completion_tokens": count_tokens(said)}
        yield _encode_event({"object": "chat.completion.chunk", "model": asked.model, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"


def _apply_mistake(said: str, mistake: Mistake) -> str:
    if mistake is Mistake.PROSE:
        return "Certainly! The first picture shows a goal, and what a goal it is."
    if mistake is Mistake.FENCED:
        return f"Here is the JSON:\n\n```json\n{said}\n```\n\nI hope this helps."
    if mistake is Mistake.THINKING:
        return f"<think>\n{THOUGHT}\n</think>\n\n{said}"
    return said[: len(said) // 2] if mistake is Mistake.CUT_SHORT else said


def _encode_event(value: object) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _build_completion(asked: ModelRequest, said: str, mistake: Mistake) -> Answer:
    usage = {"prompt_tokens": count_tokens(*asked.texts), "completion_tokens": count_tokens(said)}
    message: dict[str, object] = {"role": "assistant", "content": said}
    if mistake is Mistake.REASONING:
        message["reasoning_content"] = THOUGHT
    if mistake in (Mistake.REFUSAL, Mistake.FILTERED):
        message |= {"content": None, "refusal": "I can't help with that." if mistake is Mistake.REFUSAL else None}
    finish = "content_filter" if mistake is Mistake.FILTERED else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": asked.model,
        "choices": [choice],
        "usage": usage,
    }
    whole = Answer.of(completion)
    return Answer(200, whole.body[: len(whole.body) // 2], whole.headers) if mistake is Mistake.BROKEN else whole


def count_tokens(*texts: str) -> int:
    """About as many as a model counts."""
    return sum(len(text) for text in texts) // 4


def _parse_request(body: Mapping[str, object]) -> ModelRequest:
    messages = body["messages"]
    if not isinstance(messages, list):
        raise TypeError("The messages are not a list.")
    parts = [part for message in messages for part in _list_parts(message["content"])]
    texts = tuple(str(part["text"]) for part in parts if part.get("type") == "text")
    pictures = tuple(_decode_picture(part["image_url"]) for part in parts if part.get("type") == "image_url")
    return ModelRequest(str(body["model"]), texts, pictures, bool(body.get("stream")))


def _list_parts(content: object) -> Sequence[Mapping[str, object]]:
    return content if isinstance(content, list) else [{"type": "text", "text": str(content)}]


def _decode_picture(image: object) -> bytes:
    url = image["url"] if isinstance(image, dict) else ""
    kind, _, data = str(url).partition(",")
    if kind != "data:image/jpeg;base64":
        raise ValueError("Only JPEG pictures inside the request are accepted.")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("The picture is not base64.") from error
