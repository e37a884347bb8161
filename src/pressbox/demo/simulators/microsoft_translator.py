"""Microsoft Translator on loopback, with its documented answers: `POST /translate`, its limits and error codes."""

import json
from http import HTTPStatus
from typing import Any

from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.translation_text import Mood, translate_text

KEY = "demo-microsoft-key"
REGION = "westeurope"
MAX_TEXTS = 1000
MAX_CHARACTERS = 50_000
_LANGUAGES = "ar bg cs da de el en es et fi fr he hu id it ja ko lt lv nb nl pl pt ro ru sk sl sv tr uk vi zh-Hans"


class MicrosoftSimulator(HttpService):
    """`characters_left` is the quota; None means unlimited. The key of behaviours is the path, `translate`."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.mood = Mood.GOOD
        self.characters_left: int | None = None
        self.received: list[list[str]] = []

    async def answer(self, request: Request) -> Answer:
        if request.method != "POST" or request.path != "/translate":
            return Answer(HTTPStatus.NOT_FOUND)
        headers = request.headers
        if (headers.get("ocp-apim-subscription-key"), headers.get("ocp-apim-subscription-region")) != (KEY, REGION):
            return _error(401000, "The request is not authorized because credentials are missing or invalid.")
        texts = [str(one.get("Text", "")) for one in json.loads(request.body)]
        refusal = _find_refusal(request, texts)
        if refusal is not None:
            return refusal
        characters = sum(len(text) for text in texts)
        if self.characters_left is not None and characters > self.characters_left:
            return _error(403001, "The operation is not allowed because the subscription has exceeded its free quota.")
        if self.characters_left is not None:
            self.characters_left -= characters
        self.received.append(texts)
        if self.mood is Mood.NO_JSON:
            return Answer(HTTPStatus.OK, b"<html>A page instead</html>")
        target = request.first("to") or ""
        answered = texts[1:] if self.mood is Mood.TOO_FEW else texts
        return Answer.of([_translation(translate_text(text, target, self.mood), target) for text in answered])

    async def inspect(self, request: Request) -> Answer:
        return Answer.of(self.received)

    def forget(self) -> None:
        self.received.clear()


def _find_refusal(request: Request, texts: list[str]) -> Answer | None:
    if request.first("api-version") != "3.0":
        return _error(400021, "The API version parameter is missing or isn't valid.")
    if (request.first("to") or "") not in _LANGUAGES.split():
        return _error(400036, "The target language isn't valid.")
    if len(texts) > MAX_TEXTS or sum(len(text) for text in texts) > MAX_CHARACTERS:
        return _error(400077, "The maximum request size has been exceeded.")
    return None


def _translation(text: str, target: str) -> dict[str, Any]:
    return {"detectedLanguage": {"language": "en", "score": 1.0}, "translations": [{"text": text, "to": target}]}


def _error(code: int, message: str) -> Answer:
    """The first three digits of the code are the HTTP status."""
    return Answer.of({"error": {"code": code, "message": message}}, code // 1000)
