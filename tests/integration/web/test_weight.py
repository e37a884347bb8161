"""Pages are small and few requests, HEAD is answered, and nothing secret is compressed."""

import re
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web.assets import FRAME, bundle
from pressbox.core.web.compression import choose_encoding
from tests.site import Browser, serving

LARGEST_BYTES = 50_000
MOST_REQUESTS = 8
PAGES = (
    "/", "/activity", "/status", "/search?q=a", "/account", "/users", "/settings", "/audit",
    "/footy", "/events", "/events/new", "/events/channels", "/reader", "/reader/sources", "/reader/add",
    "/reader/ask", "/reader/research", "/reader/graph", "/reader/costs",
)  # fmt: skip


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


async def weigh(browser: Browser, path: str) -> dict[str, int]:
    """What a first visit transfers, by address: the page, its files, and what those import."""
    found: dict[str, int] = {}
    wanted = [path]
    while wanted:
        address = wanted.pop()
        if address in found:
            continue
        async with browser.stream("GET", address, headers={"Accept-Encoding": "gzip, br"}) as answer:
            assert answer.status_code == 200, address
            found[address] = len(b"".join([piece async for piece in answer.aiter_raw()]))
        text = (await browser.get(address)).text
        wanted += re.findall(r'(?:href|src)="(/static/[^"]+)"', text) if address == path else []
        wanted += re.findall(r'from "(/static/[^"]+)"', text)
        assert not re.findall(r'^import [^;]*from "\.', text, re.MULTILINE), f"{address} imports without a hash"
    return found


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_small_and_few_requests(signed_in: Browser, path: str) -> None:
    found = await weigh(signed_in, path)
    assert sum(found.values()) <= LARGEST_BYTES, found
    # The rules for prefetching come in a header.
    assert len(found) + 1 <= MOST_REQUESTS, found


async def test_head_answers_as_get_does_without_a_body(signed_in: Browser) -> None:
    for path in (*PAGES, "/static/pressbox.css", "/healthz", "/sign-in", "/nothing/here"):
        got, head = await signed_in.get(path), await signed_in.head(path)
        assert (head.status_code, head.content) == (got.status_code, b""), path
        assert head.headers.get("content-type") == got.headers.get("content-type")
    assert (await signed_in.head("/api/stream?topics=activity")).status_code == 405
    assert (await signed_in.head("/sign-out")).status_code == 405


async def test_text_is_compressed_and_what_is_secret_is_not(signed_in: Browser) -> None:
    for encoding in ("br", "gzip"):
        answer = await signed_in.get("/status", headers={"Accept-Encoding": encoding})
        assert (answer.headers["content-encoding"], "accept-encoding" in answer.headers["vary"].lower()) == (
            encoding,
            True,
        )
        assert "<h1>" in answer.text
    assert "content-encoding" not in (await signed_in.get("/status", headers={"Accept-Encoding": "identity"})).headers
    for path in (
        "/account",
        "/users",
        "/settings",
        "/sign-in",
        "/api/account",
        "/reader/apps",
        "/events/subscriptions",
    ):
        answer = await signed_in.get(path, headers={"Accept-Encoding": "gzip, br"})
        assert "content-encoding" not in answer.headers, path


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [("", None), ("gzip", "gzip"), ("gzip, br;q=0.5", "br"), ("br;q=0, gzip", "gzip"), ("deflate", None), ("*", None)],
)
def test_an_encoding_is_used_that_the_browser_takes(accepted: str, chosen: str | None) -> None:
    assert choose_encoding(accepted) == chosen


def test_modules_become_one_with_scopes_of_their_own() -> None:
    one = "const own = 1;\nexport function first() {}\nexport const second = own;\n"
    two = 'import { first, second } from "./one.js";\nconst own = first(second);\n'
    text = bundle({"one.js": one, "two.js": two})
    assert "const { first, second } = oneModule;" in text
    assert "export const { first, second } = oneModule;" in text
    assert "import" not in text
    assert len(FRAME) == len(set(FRAME))
