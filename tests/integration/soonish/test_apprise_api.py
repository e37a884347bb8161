"""The second way: an Apprise API server on loopback, answering as the real one does."""

import json

import pytest

from pressbox.delivery.adapters.apprise_api import AppriseApi
from pressbox.delivery.domain.attempts import AttemptResult, Level
from pressbox.delivery.ports import Attempt
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.http_service import Answer, HttpService, Request

SECRET = "s3cr3t-token-of-a-person"


class AppriseServer(HttpService):
    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.given = answer
        self.asked: list[dict[str, str]] = []

    async def answer(self, request: Request) -> Answer:
        assert (request.method, request.path) == ("POST", "/notify")
        self.asked.append(json.loads(request.body))
        return self.given


def not_all(*levels: str) -> Answer:
    lines = [[level, "2026-11-15 20:00:00", f"json://user:{SECRET}@example.org"] for level in levels]
    return Answer.of({"error": "One or more notification could not be sent.", "details": lines}, 424)


async def sent(server: AppriseServer) -> Attempt:
    api = AppriseApi(server.url)
    try:
        return await api.send(f"json://example.org/{SECRET}", "Title", "Body", Level.CRITICAL)
    finally:
        await api.close()


async def test_the_message_is_posted_with_one_url() -> None:
    async with AppriseServer(Answer.of({"error": None})) as server:
        assert await sent(server) == Attempt(AttemptResult.ACCEPTED)
    assert server.asked == [
        {"urls": f"json://example.org/{SECRET}", "title": "Title", "body": "Body", "type": "failure", "format": "text"}
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (not_all("WARNING"), AttemptResult.UNAVAILABLE),
        (not_all("INFO", "WARNING"), AttemptResult.UNCONFIRMED),
        (Answer(424, b"<ul>not JSON</ul>"), AttemptResult.UNAVAILABLE),
        (Answer(424, b'["not", "an", "object"]'), AttemptResult.UNAVAILABLE),
        (Answer(400), AttemptResult.REFUSED),
        (Answer(204), AttemptResult.REFUSED),
        (Answer(503), AttemptResult.UNAVAILABLE),
    ],
)
async def test_failure_and_partial_failure_are_told_apart_by_structure(answer: Answer, expected: AttemptResult) -> None:
    async with AppriseServer(answer) as server:
        attempt = await sent(server)
    assert attempt.result is expected
    assert SECRET not in attempt.reason


async def test_a_busy_server_says_when_and_a_silent_one_may_have_sent() -> None:
    async with AppriseServer(Answer()) as server:
        server.tell("notify", Kind.BUSY, seconds=4)
        busy = await sent(server)
        server.tell("notify", Kind.RESET)
        silent = await sent(server)
    assert busy.retry_after is not None
    assert (busy.result, busy.retry_after.total_seconds()) == (AttemptResult.UNAVAILABLE, 4)
    assert silent.result is AttemptResult.UNCONFIRMED
    assert (await sent(server)).result is AttemptResult.UNAVAILABLE, "nobody listens any more"
