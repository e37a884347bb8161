"""A language model behind an OpenAI-compatible endpoint. Its answers come from a script, never from a model.

The script is a function from the request to the text of the answer; without one the model says of every picture that
it shows football and no clock. Beside what every simulator can do wrong it can answer as models do: see `Mistake`.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pressbox.demo.simulators.http_service import Answer, HttpService, Request

MODEL = "simulated-model"
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


class Mistake(StrEnum):
    """PROSE: words instead of JSON. CUT_SHORT: the text breaks off. BROKEN: the body itself breaks off.
    HTML: a page with status 200. NO_CHOICES: a completion without any. WRONG_KEY: 401. UNAVAILABLE: 503.
    """

    NONE = "none"
    PROSE = "prose"
    CUT_SHORT = "cut short"
    BROKEN = "broken"
    HTML = "html"
    NO_CHOICES = "no choices"
    WRONG_KEY = "wrong key"
    UNAVAILABLE = "unavailable"


_PLAIN: Mapping[Mistake, Answer] = {
    Mistake.HTML: Answer(200, HTML, {"Content-Type": "text/html"}),
    Mistake.NO_CHOICES: Answer.of({"object": "chat.completion", "choices": []}),
    Mistake.WRONG_KEY: Answer.of({"error": {"message": "Incorrect API key provided."}}, 401),
    Mistake.UNAVAILABLE: Answer.of({"error": {"message": "The model is loading."}}, 503),
}


@dataclass(frozen=True)
class Asked:
    """One call: the texts of all messages in order, and the pictures."""

    model: str
    texts: tuple[str, ...]
    pictures: tuple[bytes, ...]


Script = Callable[[Asked], str]


def football_without_clock(asked: Asked) -> str:
    frame = {"soccer": "yes", "screen": "no", "clock": "", "added": "", "stoppage_clock": ""}
    return json.dumps({"frames": [frame] * len(asked.pictures)})


class ModelService(HttpService):
    """`POST /v1/chat/completions` and `GET /v1/models`. With a `key`, others are refused."""

    def __init__(self, port: int = 0, *, script: Script = football_without_clock, key: str | None = None) -> None:
        super().__init__(port)
        self.script = script
        self.asked: list[Asked] = []
        self._key = key
        self._mistakes: list[Mistake] = []

    @property
    def base_url(self) -> str:
        return f"{self.url}/v1"

    def err(self, *mistakes: Mistake) -> None:
        """The next answers, one mistake each; those after them are good."""
        self._mistakes.extend(mistakes)

    async def answer(self, request: Request) -> Answer:
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return _PLAIN[Mistake.WRONG_KEY]
        match request.method, request.path:
            case "GET", "/v1/models":
                return Answer.of({"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            case "POST", "/v1/chat/completions":
                return self._completion(request)
            case _:
                return Answer.of({"error": {"message": "Not found"}}, 404)

    async def inspect(self, request: Request) -> Answer:
        return Answer.of(
            [{"model": one.model, "texts": one.texts, "pictures": len(one.pictures)} for one in self.asked]
        )

    def forget(self) -> None:
        self.asked.clear()

    def _completion(self, request: Request) -> Answer:
        try:
            asked = _read(json.loads(request.body))
        except (ValueError, TypeError, KeyError, AttributeError):
            return Answer.of({"error": {"message": "The request is not a chat completion."}}, 400)
        self.asked.append(asked)
        mistake = self._mistakes.pop(0) if self._mistakes else Mistake.NONE
        return _PLAIN.get(mistake) or _completed(asked, self.script(asked), mistake)


def _completed(asked: Asked, said: str, mistake: Mistake) -> Answer:
    usage = {"prompt_tokens": tokens(*asked.texts), "completion_tokens": tokens(said)}
    if mistake is Mistake.PROSE:
        said = "Certainly! The first picture shows a goal, and what a goal it is."
    if mistake is Mistake.CUT_SHORT:
        said = said[: len(said) // 2]
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": asked.model,
        "choices": [choice],
        "usage": usage,
    }
    whole = Answer.of(completion)
    return Answer(200, whole.body[: len(whole.body) // 2], whole.headers) if mistake is Mistake.BROKEN else whole


def tokens(*texts: str) -> int:
    """About as many as a model counts."""
    return sum(len(text) for text in texts) // 4


def _read(body: Mapping[str, object]) -> Asked:
    messages = body["messages"]
    if not isinstance(messages, list):
        raise TypeError("The messages are not a list.")
    parts = [part for message in messages for part in _parts(message["content"])]
    texts = tuple(str(part["text"]) for part in parts if part.get("type") == "text")
    pictures = tuple(_picture(part["image_url"]) for part in parts if part.get("type") == "image_url")
    return Asked(str(body["model"]), texts, pictures)


def _parts(content: object) -> Sequence[Mapping[str, object]]:
    return content if isinstance(content, list) else [{"type": "text", "text": str(content)}]


def _picture(image: object) -> bytes:
    url = image["url"] if isinstance(image, dict) else ""
    kind, _, data = str(url).partition(",")
    if kind != "data:image/jpeg;base64":
        raise ValueError("Only JPEG pictures inside the request are taken.")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("The picture is not base64.") from error
