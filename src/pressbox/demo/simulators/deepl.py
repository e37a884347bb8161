"""DeepL on loopback, with its documented answers: `POST /v2/translate`, its limits, quota and errors."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pressbox.demo.simulators.http_service import Answer, HttpService, Request
from pressbox.demo.simulators.translation_text import Mood, translate_text

KEY = "demo-deepl-key:fx"
MAX_TEXTS = 50
MAX_REQUEST = 128 * 1024
OVER_QUOTA = 456
TARGETS = frozenset(
    {"AR", "BG", "CS", "DA", "DE", "EL", "EN-GB", "EN-US", "ES", "ET", "FI", "FR", "HE", "HU", "ID", "IT", "JA", "KO"}
    | {"LT", "LV", "NB", "NL", "PL", "PT-BR", "PT-PT", "RO", "RU", "SK", "SL", "SV", "TR", "UK", "VI", "ZH-HANS"}
)


class DeepLSimulator(HttpService):
    """`characters_left` is the quota; None means unlimited. The key of behaviours is the path, `v2/translate`."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.mood = Mood.GOOD
        self.characters_left: int | None = None
        self.received: list[Mapping[str, Any]] = []

    async def answer(self, request: Request) -> Answer:
        if request.method != "POST" or request.path != "/v2/translate":
            return Answer(HTTPStatus.NOT_FOUND)
        if request.headers.get("authorization") != f"DeepL-Auth-Key {KEY}":
            return Answer(HTTPStatus.FORBIDDEN)
        if len(request.body) > MAX_REQUEST:
            return Answer.of({"message": "Request Entity Too Large"}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body = json.loads(request.body)
        problem = _find_problem(body)
        if problem:
            return Answer.of({"message": problem}, HTTPStatus.BAD_REQUEST)
        characters = sum(len(text) for text in body["text"])
        if self.characters_left is not None and characters > self.characters_left:
            return Answer.of({"message": "Quota Exceeded"}, OVER_QUOTA)
        if self.characters_left is not None:
            self.characters_left -= characters
        self.received.append(body)
        if self.mood is Mood.NO_JSON:
            return Answer(HTTPStatus.OK, b"<html>A page instead</html>")
        texts = body["text"][1:] if self.mood is Mood.TOO_FEW else body["text"]
        source, target = body.get("source_lang", "EN"), body["target_lang"]
        return Answer.of(
            {
                "translations": [
                    {"detected_source_language": source, "text": translate_text(text, target[:2], self.mood)}
                    for text in texts
                ]
            }
        )

    async def inspect(self, request: Request) -> Answer:
        return Answer.of(self.received)

    def forget(self) -> None:
        self.received.clear()


def _find_problem(body: Mapping[str, Any]) -> str:
    if not body.get("text"):
        return "Parameter 'text' not specified."
    if len(body["text"]) > MAX_TEXTS:
        return "Too many texts in one request."
    if body.get("target_lang") not in TARGETS:
        return "Value for 'target_lang' not supported."
    return ""
