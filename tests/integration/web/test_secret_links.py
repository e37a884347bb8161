"""Links that open something by themselves: whatever becomes of a request, they are in no line of the log."""

import logging
import re
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI
from starlette.requests import Request
from structlog.testing import capture_logs

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.errors import answer_unexpected, describe_path
from tests.integration.web.conftest import Browse
from tests.integration.web.test_protection import every_route
from tests.site import ADMIN, serving

SECRET = "Mz3q-9fKd_planted-7QxW2"


@pytest.fixture
async def whole_app(resources: Resources, settings: Settings, admin: User) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.mark.parametrize("signed_in", [False, True])
async def test_no_part_of_an_address_that_could_open_something_is_logged(
    whole_app: FastAPI, browse: Browse, caplog: pytest.LogCaptureFixture, signed_in: bool
) -> None:
    browser = browse(whole_app)
    if signed_in:
        await browser.sign_in(ADMIN)
    # The test's own client says what it asks for.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    caplog.set_level(logging.DEBUG)
    refused = 0
    with capture_logs() as lines:
        for method, template in sorted(every_route()):
            filled = re.sub(r"\{[^}]+\}", SECRET, template)
            if filled != template:
                refused += (await browser.request(method, f"{filled}?token={SECRET}")).status_code >= 400
            elif method == "GET":
                refused += (await browser.get(f"{filled}/{SECRET}")).status_code >= 400
        for path in (f"/{SECRET}", f"/events/{SECRET}/{SECRET}", f"/{SECRET}/events"):
            refused += (await browser.get(path)).status_code >= 400
            refused += (await browser.post(path, headers={"Origin": "https://evil.example"})).status_code >= 400
            refused += (await browser.get(path, headers={"Host": "evil.example"})).status_code >= 400
    told = [line for line in lines if line["event"] == "request_refused"]
    assert len(told) == refused > 100
    assert any("{token}" in line["path"] for line in told)
    assert [line for line in lines if SECRET in str(line)] == []
    assert SECRET not in caplog.text


async def test_nor_is_it_when_the_request_fails_by_a_mistake_of_ours() -> None:
    scope = {"type": "http", "method": "GET", "path": f"/events/manage/{SECRET}", "headers": [], "query_string": b""}
    with capture_logs() as lines:
        await answer_unexpected(Request(scope | {"headers": [(b"accept", b"application/json")]}), ValueError("odd"))
    assert [(line["event"], line["path"]) for line in lines] == [("unexpected_error", "/events/…")]


@pytest.mark.parametrize(
    ("path", "described"),
    [
        ("/", "/"),
        ("/events", "/events"),
        ("/events/", "/events/…"),
        (f"/events/manage/{SECRET}", "/events/…"),
        (f"/{SECRET}", "/…"),
        (f"/{SECRET}/manage", "/…"),
        ("/abcdefghijklmnopqrstuvwxyz", "/…"),
        ("/events%2Fmanage", "/…"),
        ("//evil", "/…"),
        ("", "/…"),
    ],
)
def test_an_address_without_a_route_is_named_by_its_first_word(path: str, described: str) -> None:
    assert describe_path({"path": path}) == described
