"""The part of Langfuse that takes scores: its batch endpoint, with the documented answers.

Traces and scores are kept by their ids, and an event is accepted only once.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pressbox.demo.simulators.http_service import Answer, HttpService, Request

PUBLIC_KEY = "pk-lf-simulated"
SECRET_KEY = "sk-lf-simulated"  # noqa: S105 (opens nothing but this simulator)
INGESTION = "/api/public/ingestion"
_NEEDED = {"trace-create": ("id",), "score-create": ("id", "traceId", "name", "value")}


class LangfuseService(HttpService):
    """Answers 207 with a result for each event; `refuse` names scores that it does not accept."""

    def __init__(self, port: int = 0, *, public_key: str = PUBLIC_KEY, secret_key: str = SECRET_KEY) -> None:
        super().__init__(port)
        self.refuse: set[str] = set()
        self.traces: dict[str, Mapping[str, Any]] = {}
        self.scores: dict[str, Mapping[str, Any]] = {}
        self.bodies: list[bytes] = []
        self._events: set[str] = set()
        self._keys = f"{public_key}:{secret_key}"

    async def answer(self, request: Request) -> Answer:
        if not self._is_known(request.headers.get("authorization", "")):
            return Answer.of({"message": "Invalid credentials. Confirm that you've configured the correct host."}, 401)
        if (request.method, request.path) != ("POST", INGESTION):
            return Answer.of({"message": "Not found"}, HTTPStatus.NOT_FOUND)
        self.bodies.append(request.body)
        try:
            batch = json.loads(request.body)["batch"]
            outcomes = [self._accept(event) for event in batch]
        except (ValueError, TypeError, KeyError):
            return Answer.of({"message": "Invalid request data", "error": "The batch is not valid."}, 400)
        return Answer.of(
            {
                "successes": [{"id": one, "status": 201} for one, wrong in outcomes if not wrong],
                "errors": [
                    {"id": one, "status": 400, "message": "Invalid request data", "error": wrong}
                    for one, wrong in outcomes
                    if wrong
                ],
            },
            HTTPStatus.MULTI_STATUS,
        )

    async def inspect(self, request: Request) -> Answer:
        return Answer.of({"traces": list(self.traces.values()), "scores": list(self.scores.values())})

    def forget(self) -> None:
        self.traces.clear()
        self.scores.clear()
        self.bodies.clear()
        self._events.clear()

    def _accept(self, event: Mapping[str, Any]) -> tuple[str, str]:
        """Accept an event; returns its id and what is wrong with it."""
        kind, body, event_id = str(event["type"]), event["body"], str(event["id"])
        missing = [name for name in _NEEDED.get(kind, ()) if body.get(name) is None]
        if kind not in _NEEDED or missing:
            return event_id, f"{kind}: missing {', '.join(missing) or 'a known type'}"
        if kind == "score-create" and body["name"] in self.refuse:
            return event_id, "The score does not fit its configuration."
        if event_id not in self._events:
            self._events.add(event_id)
            kept = self.traces if kind == "trace-create" else self.scores
            kept[str(body["id"])] = {**kept.get(str(body["id"]), {}), **body}
        return event_id, ""

    def _is_known(self, authorization: str) -> bool:
        kind, _, given = authorization.partition(" ")
        try:
            return kind == "Basic" and base64.b64decode(given, validate=True).decode() == self._keys
        except (binascii.Error, UnicodeDecodeError):
            return False
