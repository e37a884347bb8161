"""Every route of every application, asked with numbers that nobody has: it says so, and never fails."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

import pressbox
from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.app import routers
from pressbox.entry.manifests import APPLICATIONS
from tests.integration.web.conftest import Browse
from tests.integration.web.test_protection import every_route
from tests.site import ADMIN, Browser, serving

# Beyond a long integer, beyond any, a range of them, and no number at all.
EXTREMES = ("9223372036854775808", "9" * 30, "999999999999990-999999999999999", "%00")
HUGE = 2**63
# Not 503, with which a page says that the address of somebody else does not answer.
FAILED = 500
# They wait for a worker, or never end by themselves.
SLOW = {"/api/stream", "/api/curator/preview"}
_READ_BY_HAND = re.compile(r'query_params(?:\.get\(|\[)"(\w+)"|_read_numbers\(\w+, "(\w+)"\)')


@pytest.fixture
async def browser(resources: Resources, settings: Settings, admin: User, browse: Browse) -> AsyncIterator[Browser]:
    async with serving(resources, settings) as app:
        browser = browse(app)
        browser.app = app  # type: ignore[attr-defined]
        await browser.sign_in(ADMIN)
        yield browser


def fill(path: str, value: str) -> str:
    return re.sub(r"\{[^}]+\}", value, path)


def names_read_by_hand() -> set[str]:
    """The parameters that pages read from the request themselves."""
    sources = Path(pressbox.__file__).parent.rglob("*.py")
    return {one or other for file in sources for one, other in _READ_BY_HAND.findall(file.read_text())}


def names_of(dependant: Dependant) -> Iterator[str]:
    for parameter in dependant.query_params:
        yield parameter.alias
    for inner in dependant.dependencies:
        yield from names_of(inner)


def query_names() -> dict[str, set[str]]:
    known: dict[str, set[str]] = {}
    for router in routers(APPLICATIONS):
        for path, route in _routes_of(router):
            known.setdefault(path, set()).update(names_of(route.dependant))
    return known


def _routes_of(router: APIRouter, before: str = "") -> Iterator[tuple[str, APIRoute]]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield before + route.path, route
        else:
            inside = before + route.include_context.prefix  # type: ignore[attr-defined]
            yield from _routes_of(route.original_router, inside)  # type: ignore[attr-defined]


async def test_no_page_fails_for_a_number_that_nobody_has(browser: Browser) -> None:
    known, by_hand = query_names(), names_read_by_hand()
    assert {"passage", "cited"} <= by_hand
    assert sum(map(len, known.values())) > 50
    failed = []
    for method, path in every_route():
        if method != "GET" or path in SLOW:
            continue
        names = sorted(known.get(path, set()) | by_hand)
        for value in EXTREMES if "{" in path or known.get(path) else ():
            query = "&".join(f"{name}={value}" for name in names)
            for address in {fill(path, value), f"{fill(path, '1')}?{query}"}:
                answer = await browser.get(address)
                if answer.status_code == FAILED:
                    failed.append((answer.status_code, address[:200]))
    assert not failed, "\n".join(map(str, failed))


async def test_no_action_fails_for_a_number_that_nobody_has(browser: Browser) -> None:
    described = browser.app.openapi()  # type: ignore[attr-defined]
    failed = []
    for method, path in every_route():
        if method in ("GET", "HEAD") or path in SLOW:
            continue
        schema = _body_schema(described, path, method)
        if schema is None and "{" not in path:
            continue
        for value in EXTREMES[:1] if "{" in path else ("",):
            body = None if schema is None else _example(described, schema)
            answer = await browser.request(method, fill(path, value), json=body)
            if answer.status_code == FAILED:
                failed.append((answer.status_code, method, fill(path, value), str(body)[:200]))
    assert not failed, "\n".join(map(str, failed))


def _body_schema(described: dict[str, Any], path: str, method: str) -> Any | None:
    operation = described["paths"].get(path, {}).get(method.lower(), {})
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")


def _example(described: dict[str, Any], schema: dict[str, Any]) -> Any:
    """A body with every field, and the largest number in every place for one."""
    if "$ref" in schema:
        return _example(described, described["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    if "anyOf" in schema:
        return _example(described, next((one for one in schema["anyOf"] if one.get("type") != "null"), {}))
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: _example(described, inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [_example(described, schema.get("items", {}))]
        case "integer" | "number":
            return HUGE
        case "boolean":
            return True
    return "2026-05-04T12:00:00Z" if schema.get("format") == "date-time" else "https://example.invalid/x"
