"""Pages are small and few requests, HEAD is answered, and nothing secret is compressed."""

import re
from collections.abc import AsyncIterator

import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.web import assets
from pressbox.core.web.assets import FRAME, bundle
from pressbox.core.web.compression import choose_encoding
from tests.fakes.footy_day import MatchDay
from tests.fakes.newsstand import RICH, Newsstand
from tests.planted import plant
from tests.site import Browser, serving

LARGEST_BYTES = 50_000
MOST_REQUESTS = 8
PAGES = (
    "/", "/activity", "/status", "/search?q=a", "/account", "/users", "/settings", "/audit",
    "/footy", "/footy/follow",
    "/events", "/events/new", "/events/channels", "/reader", "/reader/sources", "/reader/add",
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


async def test_a_page_with_much_on_it_is_as_small(signed_in: Browser, resources: Resources, admin: User) -> None:
    planted = await plant(resources, admin.id)
    goal = await fill_match(MatchDay(resources))
    article = await fill_reader(Newsstand(resources, admin.id))
    pages = (
        "/", "/activity", "/status", "/search?q=lemons", "/footy", "/footy/matches/1", f"/footy/goals/{goal}/why",
        "/footy/follow?q=a", "/events", f"/events/{planted.slug}", f"/events/{planted.slug}/board",
        "/reader?list=all&all=1", f"/reader/entries/{article}", f"/reader/feeds/{planted.feed_id}", "/reader/sources",
        f"/reader/ask/{planted.conversation_id}", f"/reader/research/{planted.run_id}",
    )  # fmt: skip
    found = {path: await weigh(signed_in, path) for path in pages}
    assert {path: one for path, one in found.items() if sum(one.values()) > LARGEST_BYTES} == {}
    assert {path: one for path, one in found.items() if len(one) + 1 > MOST_REQUESTS} == {}


async def fill_match(day: MatchDay) -> str:
    """A match with many goals and clips, among others on the same day."""
    for number in range(1, 31):
        await day.fixture(number, f"Home {number}", f"Away {number}")
    goals = [await day.goal(1, f"Scorer {minute}", minute) for minute in range(10, 90, 10)]
    for number in range(12):
        await day.clip(goals[0], f"clip-{number}", b"film")
        await day.search(goals[0], number + 1, found=number)
    for number in range(40):
        await day.candidate(goals[0], outcome="wrong minute", reason=f"its clock shows minute {number}, not 10")
    changes = [(60 + number, "subst", "Substitution 1", f"Player {number}", f"Other {number}") for number in range(18)]
    await day.happen(1, *changes, half_time="3-2")
    return goals[0]


async def fill_reader(stand: Newsstand) -> int:
    feeds = [await stand.feed(f"Harbour news {number}") for number in range(40)]
    for number in range(120):
        await stand.entry(feeds[number % 40], f"Lemons of the week, number {number}")
    return await stand.entry(feeds[0], "The ferry to the outer islands", RICH * 4)


async def test_files_are_compressed_once_and_kept_for_ever(signed_in: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    address = re.findall(r'href="(/static/pressbox.css[^"]+)"', (await signed_in.get("/")).text)[0]
    for encoding in ("br", "gzip"):
        headers = {"Accept-Encoding": encoding}
        first = await signed_in.get(address, headers=headers)
        with monkeypatch.context() as patch:
            patch.setattr(assets, "compress", None)
            again = await signed_in.get(address, headers=headers)
        assert (again.content, again.headers["content-encoding"]) == (first.content, encoding)
        assert "immutable" in again.headers["cache-control"]
        same = await signed_in.get(address, headers={**headers, "If-None-Match": first.headers["etag"]})
        assert same.status_code == 304
    plain = await signed_in.get(address, headers={"Accept-Encoding": "identity"})
    assert ("content-encoding" in plain.headers, plain.content) == (False, first.content)


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
