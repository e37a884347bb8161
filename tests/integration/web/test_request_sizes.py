"""A request is refused by its size and its number of parts, before the work that those would make."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.api_models import MOST_MISTAKES, RequestBody
from pressbox.core.web.app import LARGER_BODIES, routers
from pressbox.core.web.security import (
    MOST_BODY_BYTES,
    MOST_COOKIES,
    MOST_HEADERS,
    MOST_QUERY_FIELDS,
    BodyLimits,
)
from pressbox.entry.manifests import APPLICATIONS
from tests.integration.web.conftest import Browse
from tests.integration.web.test_protection import every_route
from tests.site import ADMIN, Browser, serving

JSON = {"Content-Type": "application/json"}
LIMITS = (*LARGER_BODIES, *(limit for one in APPLICATIONS for limit in one.body_limits))


@pytest.fixture
async def reader(resources: Resources, settings: Settings, admin: User, browse: Browse) -> AsyncIterator[Browser]:
    async with serving(resources, settings) as app:
        browser = browse(app, **{"Accept": "application/json"})
        await browser.sign_in(ADMIN)
        yield browser


class Inner(RequestBody):
    number: int


class Outer(RequestBody):
    name: str
    inner: tuple[Inner, ...] = ()


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", **{f"k{number}": 0 for number in range(10_000)}},
        {"name": "x", "inner": [0] * 10_000},
        {"name": "x", "inner": [{"number": "?"}] * 10_000},
        {"name": "x", "inner": [{"number": 1, **{f"k{number}": 0 for number in range(100)}}]},
    ],
)
def test_thousands_of_mistakes_are_told_as_one(body: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Outer).validate_python(body)
    assert refused.value.error_count() == 1


def test_a_few_mistakes_are_named_each() -> None:
    with pytest.raises(ValidationError) as refused:
        Outer.model_validate({"inner": [{"number": "?"}], **{f"k{number}": 0 for number in range(MOST_MISTAKES - 2)}})
    assert refused.value.error_count() == MOST_MISTAKES


def test_every_body_of_the_api_is_of_the_kind_that_counts_mistakes() -> None:
    bodies = {
        str(field.field_info.annotation): field for route in _api_routes() for field in route.dependant.body_params
    }
    named = {name: field.field_info for name, field in bodies.items() if type(field.field_info).__name__ == "Body"}
    assert len(named) > 15
    for name, info in named.items():
        assert isinstance(info.annotation, type), name
        assert issubclass(info.annotation, RequestBody), name


def _api_routes() -> Iterator[APIRoute]:
    for router in routers(APPLICATIONS):
        yield from _routes_of(router)


def _routes_of(router: APIRouter) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from _routes_of(route.original_router)  # type: ignore[attr-defined]


async def test_a_body_of_many_unknown_fields_is_one_short_answer(reader: Browser) -> None:
    body = json.dumps({f"k{number}": 0 for number in range(10_000)})
    answer = await reader.post("/api/account/tokens", content=body, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == "body: The body has too many mistakes to name one."


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain", ""])
async def test_a_body_larger_than_a_form_is_not_read(reader: Browser, kind: str) -> None:
    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 1
            yield b"a" * 64_000

    answer = await reader.post("/api/account/tokens", content=pieces(), headers={"Content-Type": kind} if kind else {})
    assert answer.status_code == 413
    assert sent * 64_000 < MOST_BODY_BYTES + 2 * 64_000
    declared = await reader.post("/api/account/tokens", content=b"", headers={"Content-Length": "9" * 5000})
    assert declared.status_code == 413


@pytest.mark.parametrize("opening", ["[", '{"a":'])
async def test_a_deep_body_is_refused(reader: Browser, opening: str) -> None:
    answer = await reader.post("/api/account/tokens", content=opening * 30_000, headers=JSON)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "This request cannot be understood."


async def test_a_form_of_many_fields_is_refused(reader: Browser) -> None:
    answer = await reader.post("/account/profile", data={f"f{number}": "" for number in range(1001)})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("/sign-in?" + "&".join("a" for _ in range(MOST_QUERY_FIELDS)), {}, 200),
        ("/sign-in?" + "&".join("a" for _ in range(MOST_QUERY_FIELDS + 1)), {}, 414),
        ("/sign-in", {f"x-{number}": "" for number in range(MOST_HEADERS)}, 431),
        ("/sign-in", {"Cookie": ";".join("a" for _ in range(MOST_COOKIES))}, 200),
        ("/sign-in", {"Cookie": ";".join("a" for _ in range(MOST_COOKIES + 1))}, 431),
    ],
)
async def test_a_request_of_many_small_parts_is_refused(
    app: FastAPI, admin: User, browse: Browse, address: str, headers: dict[str, str], status: int
) -> None:
    assert (await browse(app).get(address, headers=headers)).status_code == status


def test_what_may_be_larger_is_an_address_of_ours() -> None:
    changing = [re.sub(r"\{[^}]+\}", "1", path) for method, path in every_route() if method in ("POST", "PATCH", "PUT")]
    for pattern, _ in LIMITS:
        assert any(re.fullmatch(pattern, path) for path in changing), pattern


@pytest.mark.parametrize(
    ("path", "kind", "most"),
    [
        ("/api/account", "application/json", MOST_BODY_BYTES),
        ("/api/account", "Application/vnd.x+JSON; charset=utf-8", MOST_BODY_BYTES),
        ("/sign-in", "application/x-www-form-urlencoded", MOST_BODY_BYTES),
        ("/sign-in", "", MOST_BODY_BYTES),
        ("/sign-in", "x; multipart/form-data", MOST_BODY_BYTES),
        ("/events/new/file", "multipart/form-data; boundary=b", 8_000_000),
        ("/api/curator/opml", "text/x-opml", 8_000_000),
        ("/greader/reader/api/0/edit-tag", "application/x-www-form-urlencoded", 1_000_000),
        ("/accounts/ClientLogin", "application/x-www-form-urlencoded", MOST_BODY_BYTES),
        ("/temporal/api/v1/x", "application/json", 4_000_000),
    ],
)
def test_how_large_a_body_may_be(path: str, kind: str, most: int) -> None:
    assert BodyLimits(8_000_000, LIMITS).of(path, kind) == most
    assert BodyLimits(1000, LIMITS).of(path, kind) == 1000
