"""An HTTP client that gives prepared answers, such as recorded ones, without any network."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import httpx

from pressbox.core.http.client import GuardedClient, Response


@dataclass(frozen=True)
class Recorded:
    """One answer of a recording. `name` says which, for whoever reads a failure."""

    name: str
    uri: str
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def half(self) -> "Recorded":
        return Recorded(f"half of {self.name}", self.uri, self.status, self.body[: len(self.body) // 2], self.headers)

    def parse(self) -> Any:
        """The body as JSON; None when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def read_interactions(name: str, content: bytes) -> list[Recorded]:
    """The exchanges of a cassette, in which JSON bodies lie as JSON."""
    found = []
    for number, item in enumerate(json.loads(content)):
        answer = item["response"]
        body = answer["body"] if isinstance(answer["body"], str) else json.dumps(answer["body"])
        # The length is that of the original body, and nothing is compressed any more.
        headers = {
            key: values[0]
            for key, values in answer["headers"].items()
            if key.lower() not in ("content-length", "content-encoding", "transfer-encoding")
        }
        uri = item["request"]["uri"]
        found.append(Recorded(f"{name} {number}", uri, answer["status"]["code"], body.encode(), headers))
    return found


class RecordedHttp:
    def __init__(self, answer: Callable[[str], Recorded]) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def get(self, url: str, *, headers: Mapping[str, str], timeout: timedelta, max_bytes: int) -> Response:
        return self._give(url)

    async def post(
        self, url: str, content: bytes, *, headers: Mapping[str, str], timeout: timedelta, max_bytes: int
    ) -> Response:
        return self._give(url)

    def _give(self, url: str) -> Response:
        self.asked.append(url)
        given = self._answer(url)
        return Response(url, given.status, httpx.Headers(dict(given.headers)), given.body)


def client_of(answer: Callable[[str], Recorded]) -> GuardedClient:
    return cast(GuardedClient, RecordedHttp(answer))
