"""Pictures of publishers reach readers through us: guarded, within limits, and without a trace of who reads."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import HttpSettings, Settings
from pressbox.core.errors import NotFoundError
from pressbox.core.http.client import GuardedClient
from pressbox.curator.manifest import APP
from pressbox.curator.reading.pictures import (
    FAILURE_SECONDS,
    FOLDER,
    LARGEST_PICTURE,
    PictureService,
    picture_addresses,
)
from pressbox.curator.settings import CuratorSettings
from tests.fakes.reader import Library
from tests.integration.http.loopback import LoopbackServer, running
from tests.site import browsing, serving

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
AddressOf = Callable[[str], str]


@pytest.fixture
async def publisher() -> AsyncIterator[LoopbackServer]:
    async with running() as server:
        server.answers("/one.png", body=PNG, Content_Type="text/html")
        server.answers("/evil.svg", body=b"<svg onload='alert(1)'/>", Content_Type="image/svg+xml")
        server.answers("/page", body=b"<html>Sign in</html>", Content_Type="image/png")
        server.answers("/gone.png", "404 Not Found", body=PNG)
        server.answers("/huge.png", body=PNG + bytes(LARGEST_PICTURE))
        server.redirects("/inside.png", "http://169.254.169.254/one.png")
        yield server


@pytest.fixture
async def http(publisher: LoopbackServer) -> AsyncIterator[GuardedClient]:
    async with GuardedClient(HttpSettings(allow=(f"127.0.0.1:{publisher.port}",))) as client:
        yield client


@pytest.fixture
async def app(resources: Resources, settings: Settings, http: GuardedClient) -> AsyncIterator[FastAPI]:
    reached = replace(resources, http=http)
    async with serving(reached, settings, [APP], Library(reached).overrides()) as app:
        yield app


@pytest.fixture
async def anna(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with browsing(app, "anna", Role.ADMIN) as client:
        yield client


@pytest.fixture
def address_of(settings: Settings, publisher: LoopbackServer) -> AddressOf:
    return lambda path: picture_addresses(settings).make(publisher.url(path))


async def opened(library: Library, client: httpx.AsyncClient, picture: str) -> httpx.Response:
    feed = await client.post("/api/curator/feeds", json={"url": "https://example.org/feed.xml"})
    entry_id = await library.entry(feed.json()["id"], body=f'<p><img src="{picture}" alt="One"></p>')
    return await client.get(f"/reader/entries/{entry_id}")


async def test_an_article_shows_pictures_that_come_through_us(
    resources: Resources, anna: httpx.AsyncClient, publisher: LoopbackServer, address_of: AddressOf
) -> None:
    page = await opened(Library(resources), anna, publisher.url("/one.png"))
    assert address_of("/one.png") in page.text
    assert publisher.url("/one.png") not in page.text
    assert "img-src 'self' data:;" in page.headers["content-security-policy"], "browsers may ask nobody else"
    answer = await anna.get(address_of("/one.png"), headers={"Referer": "http://localhost/reader/entries/1"})
    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["content-type"] == "image/png", "by the bytes, not by the publisher's word"
    assert answer.headers["content-disposition"] == 'inline; filename="picture.png"'
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "immutable" in answer.headers["cache-control"]
    (asked,) = publisher.requests
    assert {"referer", "cookie", "x-forwarded-for"}.isdisjoint(asked.headers)
    assert (await anna.get(address_of("/one.png"))).content == PNG
    assert len(publisher.requests) == 1, "kept for the next reader"


async def test_what_is_no_picture_is_not_sent_on(anna: httpx.AsyncClient, address_of: AddressOf) -> None:
    for path in ("/evil.svg", "/page", "/gone.png", "/huge.png", "/inside.png"):
        answer = await anna.get(address_of(path))
        assert (answer.status_code, answer.content) == (404, b""), path


async def test_nobody_has_us_fetch_what_we_did_not_sign(
    app: FastAPI, anna: httpx.AsyncClient, publisher: LoopbackServer, address_of: AddressOf
) -> None:
    signature, encoded = address_of("/one.png").split("/")[-2:]
    for parts in (("x" * len(signature), encoded), (signature, encoded[:-1]), ("é", encoded)):
        assert (await anna.get("/reader/pictures/" + "/".join(parts))).status_code == 404
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as stranger:
        assert (await stranger.get(address_of("/one.png"))).status_code in (303, 401)
    assert publisher.requests == []


async def test_one_picture_is_fetched_once_at_a_time_and_a_failure_is_remembered(
    resources: Resources, http: GuardedClient, publisher: LoopbackServer
) -> None:
    now = 0.0
    pictures = PictureService(http, resources.objects, 10_000, now=lambda: now)
    await asyncio.gather(*(pictures.load(publisher.url("/one.png")) for _ in range(5)))
    assert len(publisher.requests) == 1
    for _ in range(2):
        with pytest.raises(NotFoundError):
            await pictures.load(publisher.url("/gone.png"))
    assert len(publisher.requests) == 2
    now = FAILURE_SECONDS + 1
    publisher.answers("/gone.png", body=PNG)
    assert (await pictures.load(publisher.url("/gone.png"))).body == PNG


async def test_the_oldest_make_way_when_there_is_no_room(
    resources: Resources, http: GuardedClient, publisher: LoopbackServer
) -> None:
    pictures = PictureService(http, resources.objects, 5 * len(PNG))
    for number in range(12):
        publisher.answers(f"/{number}.png", body=PNG)
        await pictures.load(publisher.url(f"/{number}.png"))
    kept = [info.size async for info in resources.objects.list(FOLDER)]
    assert 0 < sum(kept) <= 5 * len(PNG)
    later = PictureService(http, resources.objects, 5 * len(PNG), clock=lambda: datetime.now(UTC) + timedelta(days=31))
    assert await later.clean() == len(kept)


async def test_without_the_proxy_browsers_ask_the_publishers(resources: Resources, settings: Settings) -> None:
    direct = settings.with_group(CuratorSettings(picture_proxy=False))
    library = Library(replace(resources, settings=direct))
    async with (
        serving(library.resources, direct, [APP], library.overrides()) as app,
        browsing(app, "anna", Role.ADMIN) as anna,
    ):
        page = await opened(library, anna, "https://example.org/one.png")
    assert 'src="https://example.org/one.png"' in page.text
    assert "img-src 'self' data: https:" in page.headers["content-security-policy"]
