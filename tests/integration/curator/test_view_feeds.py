"""Lists as feeds behind private addresses, and the page of people's own apps."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import feedparser  # type: ignore[import-untyped]
import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.feeds.parser import parse_feed
from pressbox.curator.reading.domain import ListKind, Selection
from tests.fakes.reader import NOW, Library
from tests.fakes.reader_apps import reader_site
from tests.site import ORIGIN, PASSWORD

APPS = "/reader/apps"


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def site(library: Library, settings: Settings) -> AsyncIterator[FastAPI]:
    async with reader_site(library, settings) as app:
        yield app


def client(site: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(site, raise_app_exceptions=False, client=("127.0.0.1", 5000))
    return httpx.AsyncClient(transport=transport, base_url=ORIGIN)


@pytest.fixture
async def stranger(site: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client(site) as made:
        yield made


async def test_any_list_can_be_read_as_a_feed_by_whoever_has_the_address(
    library: Library, stranger: httpx.AsyncClient
) -> None:
    anna = await library.person()
    feed = await library.feed(anna, title="A & B")
    first = await library.entry(feed, "First", at=NOW - timedelta(hours=1), body="<p>Whole &amp; long.</p>")
    await library.entry(feed, "Second", at=NOW, summary="")
    await library.service.states.star(anna, first)
    label = (await library.service.states.set_labels(anna, first, ["Later"]))[0].id
    library.index.hits = [first]
    expected = {
        Selection(ListKind.ALL): ["Second", "First"],
        Selection(ListKind.UNREAD): ["Second", "First"],
        Selection(ListKind.FEED, feed): ["Second", "First"],
        Selection(ListKind.STARRED): ["First"],
        Selection(ListKind.LABEL, label): ["First"],
        Selection(ListKind.ALL, query="fire"): ["First"],
    }
    for selection, titles in expected.items():
        view = await library.service.views.create(anna, selection, full_text=False)
        answer = await stranger.get(f"/reader/out/{view.token}.xml")
        assert answer.status_code == 200
        parsed = feedparser.parse(answer.content)
        assert not parsed.bozo
        assert parsed.version == "atom10"
        assert [entry.title for entry in parsed.entries] == titles, selection
        # Our own crawler reads it as well.
        read = parse_feed(answer.content, answer.headers["content-type"], str(answer.url))
        assert [entry.title for entry in read.entries] == titles


async def test_a_feed_has_summaries_or_whole_articles(library: Library, stranger: httpx.AsyncClient) -> None:
    anna = await library.person()
    await library.entry(await library.feed(anna), "First", body="<p>Whole &amp; long.</p>", summary="The gist.")
    contents = []
    for full in (False, True):
        view = await library.service.views.create(anna, Selection(ListKind.ALL), full_text=full)
        (entry,) = feedparser.parse((await stranger.get(f"/reader/out/{view.token}.xml")).content).entries
        assert entry.link.startswith("https://example.org/")
        assert entry.summary == "The gist."
        contents.append([content.value for content in entry.get("content", ())])
    assert contents == [[], ["<p>Whole &amp; long.</p>"]]


async def test_a_feed_that_did_not_change_is_not_sent_again(library: Library, stranger: httpx.AsyncClient) -> None:
    anna = await library.person()
    feed = await library.feed(anna)
    await library.entry(feed)
    view = await library.service.views.create(anna, Selection(ListKind.ALL), full_text=False)
    path = f"/reader/out/{view.token}.xml"
    headers = (await stranger.get(path)).headers
    assert headers["x-robots-tag"] == "noindex, nofollow"
    assert headers["referrer-policy"] == "no-referrer"
    tag, modified = {"If-None-Match": headers["etag"]}, {"If-Modified-Since": headers["last-modified"]}
    for known in (tag, modified):
        again = await stranger.get(path, headers=known)
        assert (again.status_code, again.content) == (304, b"")
    await library.entry(feed, at=NOW - timedelta(days=9), seen=NOW + timedelta(minutes=5))
    for known in (tag, modified, {"If-Modified-Since": "never"}):
        assert (await stranger.get(path, headers=known)).status_code == 200


async def test_a_revoked_address_leads_nowhere(library: Library, stranger: httpx.AsyncClient) -> None:
    anna, ben = await library.person(), await library.person()
    feed = await library.feed(anna)
    view = await library.service.views.create(anna, Selection(ListKind.FEED, feed), full_text=False)
    same = await library.service.views.create(anna, Selection(ListKind.FEED, feed), full_text=False)
    assert same.token == view.token
    assert len(view.token) == 43
    assert await library.service.views.all(ben) == []
    await library.service.views.revoke(anna, view.id)
    for token in (view.token, "x" * 43, "x"):
        assert (await stranger.get(f"/reader/out/{token}.xml")).status_code == 404


async def test_passwords_and_feeds_are_made_and_taken_back_on_one_page(
    site: FastAPI, library: Library, stranger: httpx.AsyncClient
) -> None:
    accounts: AccountService = site.state.accounts
    user = await accounts.add_user("anna@example.org", PASSWORD)
    feed = await library.feed(user.id, title="A paper")
    async with client(site) as browser:
        browser.headers["Origin"] = ORIGIN
        await browser.post("/sign-in", data={"email": "anna@example.org", "password": PASSWORD})
        assert (await browser.post(f"{APPS}/passwords", data={"name": "phone"})).status_code == 303
        page = (await browser.get(APPS)).text
        secret = re.findall(r"<code data-new-password>([a-z0-9-]+)</code>", page)[0]
        assert secret not in (await browser.get(APPS)).text
        wish = {"Email": "anna@example.org", "Passwd": secret.upper()}
        assert "Auth=" in (await stranger.post("/accounts/ClientLogin", data=wish)).text
        assert (await browser.post(f"{APPS}/passwords", data={"name": "phone"})).status_code == 409
        (password,) = await library.service.apps.passwords(user.id)
        assert (await browser.post(f"{APPS}/passwords/{password.id}/revoke")).status_code == 303
        assert (await stranger.post("/accounts/ClientLogin", data=wish)).status_code == 401
        assert "A paper" in (await browser.get(APPS, params={"list": "feed", "id": feed})).text
        made = await browser.post(f"{APPS}/views?list=feed&id={feed}", data={"full": "yes"})
        assert made.headers["location"].startswith(f"{APPS}#view-")
        address = re.findall(r"<code>(http[^<]+\.xml)</code>", (await browser.get(APPS)).text)[0]
        assert (await stranger.get(address)).status_code == 200
        (view,) = await library.service.views.all(user.id)
        assert view.full_text
        await browser.post(f"{APPS}/views/{view.id}/revoke")
        assert (await stranger.get(address)).status_code == 404


async def test_a_token_made_for_reader_apps_on_the_account_page_signs_in_too(
    site: FastAPI, stranger: httpx.AsyncClient
) -> None:
    accounts: AccountService = site.state.accounts
    user = await accounts.add_user("anna@example.org", PASSWORD)
    for scope, status in (("reader", 200), ("read", 401)):
        token = await accounts.add_token(user.id, scope, [scope])  # type: ignore[list-item]
        wish = {"Email": "anna@example.org", "Passwd": token.secret}
        assert (await stranger.post("/accounts/ClientLogin", data=wish)).status_code == status
        headers = {"Authorization": f"GoogleLogin auth={token.secret}"}
        assert (await stranger.get("/reader/api/0/user-info", headers=headers)).status_code == status
