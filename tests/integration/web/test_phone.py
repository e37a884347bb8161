"""What makes Pressbox an application on a phone, as the server gives it: manifest, worker, what is kept, sharing."""

import json
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.spoilers.choice import SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.core.web.pages.phone import find_address
from pressbox.soonish.domain.events import Visibility
from pressbox.soonish.service.inputs import EventInput
from pressbox.soonish.wiring import service as soonish
from tests.fakes.footy_day import MatchDay
from tests.fakes.newsstand import Newsstand
from tests.site import Browser, browsing, serving


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def ada(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ada") as browser:
        yield browser


@pytest.fixture
async def ben(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ben") as browser:
        yield browser


async def test_the_manifest_has_all_that_browsers_ask_of_an_application(app: FastAPI) -> None:
    async with Browser(app) as nobody:
        answer = await nobody.get("/manifest.webmanifest")
        assert answer.headers["content-type"] == "application/manifest+json"
        manifest = answer.json()
        assert manifest["display"] == "standalone"
        assert (manifest["start_url"], manifest["scope"], manifest["id"]) == ("/", "/", "/")
        assert [shortcut["url"] for shortcut in manifest["shortcuts"]] == ["/footy", "/events", "/reader", "/inbox"]
        assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
        assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}
        for icon in manifest["icons"]:
            picture = await nobody.get(icon["src"])
            width, height = (int.from_bytes(picture.content[at : at + 4], "big") for at in (16, 20))
            assert picture.content.startswith(b"\x89PNG")
            assert f"{width}x{height}" == icon["sizes"]
        assert (await nobody.get("/apple-touch-icon.png")).content.startswith(b"\x89PNG")


async def test_the_manifest_speaks_german(app: FastAPI) -> None:
    async with Browser(app, **{"Accept-Language": "de"}) as nobody:
        manifest = (await nobody.get("/manifest.webmanifest")).json()
    assert manifest["lang"] == "de"
    assert "Posteingang" in [shortcut["name"] for shortcut in manifest["shortcuts"]]
    assert manifest["description"].startswith("Verfolgt")


async def test_the_worker_knows_its_version_and_where_its_files_are(app: FastAPI) -> None:
    async with Browser(app) as nobody:
        answer = await nobody.get("/service-worker.js")
        assert answer.headers["cache-control"] == "no-cache"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        shell = json.loads(re.findall(r"^const SHELL = (.*);$", answer.text, re.MULTILINE)[0])
        for address in shell:
            kept = await nobody.get(address)
            assert kept.status_code == 200, address
            assert "immutable" in kept.headers["cache-control"], address
        assert re.search(r'^const VERSION = "[0-9a-f]{16}";$', answer.text, re.MULTILINE)


async def test_a_phone_keeps_what_is_unread_todays_matches_and_own_events(
    ada: Browser, ben: Browser, resources: Resources
) -> None:
    stand = Newsstand(resources, ada.user_id)
    feed = await stand.feed("Harbour news")
    article = await stand.entry(feed, "The ferry to the outer islands", "<p>It leaves at <b>six</b>.</p>")
    read = await stand.entry(feed, "Read before")
    await ada.post("/api/curator/entries/read", json={"entry_ids": [read]})
    await MatchDay(resources).fixture(1, "Liverpool", "Arsenal")
    start = utc_now() + timedelta(days=2)
    event = await soonish(resources).events.create(
        ada.user_id,
        EventInput(
            name="Summer party",
            start_date=start,
            timezone="UTC",
            description="Bring <cake>.",
            visibility=Visibility.PRIVATE,
        ),
    )
    kept = (await ada.get("/api/offline")).json()
    assert kept["person"] == ada.user_id
    groups = {group["name"]: group["things"] for group in kept["groups"]}
    [line] = groups["curator"]
    assert (line["path"], line["entry"], line["read"]) == (f"/reader/entries/{article}", article, False)
    assert "<b>six</b>" in line["html"]
    assert [match["path"] for match in groups["footy"]] == ["/footy/matches/1"]
    [party] = groups["soonish"]
    assert (party["path"], party["html"]) == (f"/events/{event.slug}", "<p>Bring &lt;cake&gt;.</p>")
    others = {group["name"]: group["things"] for group in (await ben.get("/api/offline")).json()["groups"]}
    assert (others["curator"], others["soonish"]) == ([], [])


async def test_a_phone_keeps_two_hundred_articles_and_asks_the_database_the_same_few_times(
    ada: Browser, resources: Resources
) -> None:
    stand = Newsstand(resources, ada.user_id)
    feed = await stand.feed("Harbour news")
    for number in range(205):
        await stand.entry(feed, f"Lemons of the week, number {number}")
    groups = (await ada.get("/api/offline")).json()["groups"]
    [articles] = [group["things"] for group in groups if group["name"] == "curator"]
    assert len(articles) == 200
    assert [line["place"] for line in articles] == list(range(200))


async def test_no_hidden_score_is_kept_on_a_phone(ada: Browser, resources: Resources) -> None:
    day = MatchDay(resources)
    await day.fixture(1, "Liverpool", "Arsenal")
    await day.goal(1, "Salah", 23)
    open_ = (await ada.get("/api/offline")).text
    assert "Salah" in open_
    await PersonalSpoilers(resources.database).choose(ada.user_id, SpoilerChoice(SpoilerMode.HIDDEN))
    hidden = (await ada.get("/api/offline")).json()
    [match] = next(group["things"] for group in hidden["groups"] if group["name"] == "footy")
    assert (match["title"], match["html"]) == ("Liverpool – Arsenal", "")


async def test_a_mark_counts_once_however_often_it_is_sent(ada: Browser, resources: Resources) -> None:
    stand = Newsstand(resources, ada.user_id)
    entry = await stand.entry(await stand.feed("Harbour news"), "The ferry")
    mark = {"key": str(uuid4()), "entry_id": entry, "read": True, "starred": True}
    body = {"marks": [mark]}
    assert (await ada.post("/api/curator/entries/marks", json=body)).status_code == 204
    shown = (await ada.get(f"/api/curator/entries/{entry}")).json()
    assert (shown["read"], shown["starred"]) == (True, True)
    # On another device they think otherwise; the answer to the first one was lost, and the phone sends it again.
    await ada.patch(f"/api/curator/entries/{entry}", json={"read": False, "starred": False})
    assert (await ada.post("/api/curator/entries/marks", json=body)).status_code == 204
    shown = (await ada.get(f"/api/curator/entries/{entry}")).json()
    assert (shown["read"], shown["starred"]) == (False, False)


async def test_marks_count_in_the_order_in_which_they_were_made(ada: Browser, resources: Resources) -> None:
    stand = Newsstand(resources, ada.user_id)
    entry = await stand.entry(await stand.feed("Harbour news"), "The ferry")
    marks = [{"key": str(uuid4()), "entry_id": entry, "starred": value} for value in (True, False, True)]
    await ada.post("/api/curator/entries/marks", json={"marks": marks})
    assert (await ada.get(f"/api/curator/entries/{entry}")).json()["starred"] is True


async def test_marks_touch_nothing_of_others_and_nothing_that_is_gone(
    ada: Browser, ben: Browser, resources: Resources
) -> None:
    stand = Newsstand(resources, ada.user_id)
    entry = await stand.entry(await stand.feed("Harbour news"), "The ferry")
    mark = {"key": str(uuid4()), "read": True, "starred": True}
    for number in (entry, 999_999):
        mark["key"] = str(uuid4())
        sent = await ben.post("/api/curator/entries/marks", json={"marks": [{**mark, "entry_id": number}]})
        assert sent.status_code == 204
    assert (await ada.get(f"/api/curator/entries/{entry}")).json()["starred"] is False
    # The same key of somebody else is another mark.
    own = await ada.post("/api/curator/entries/marks", json={"marks": [{**mark, "entry_id": entry}]})
    assert own.status_code == 204
    assert (await ada.get(f"/api/curator/entries/{entry}")).json()["starred"] is True


async def test_an_address_goes_to_the_reader_and_a_text_to_a_new_event(ada: Browser) -> None:
    shared = await ada.get("/share", params={"text": "Look: https://example.org/a?b=1&c=2 (nice)"})
    assert shared.headers["location"] == "/reader/add?address=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1%26c%3D2"
    shared = await ada.get("/share", params={"title": "Summer party", "text": "On the roof\nBring cake"})
    form = (await ada.get(shared.headers["location"])).text
    assert 'value="Summer party"' in form
    assert "On the roof\nBring cake" in form
    nothing = await ada.get("/share", headers={"Accept": "text/html"})
    assert nothing.status_code == 422
    assert "Nothing was shared." in nothing.text


async def test_what_is_shared_is_not_trusted(app: FastAPI, ada: Browser) -> None:
    shared = await ada.get("/share", params={"title": '"><script>alert(1)</script>'})
    assert "<script>alert" not in (await ada.get(shared.headers["location"])).text
    async with Browser(app) as nobody:
        asked = await nobody.get("/share", params={"url": "https://example.org"}, headers={"Accept": "text/html"})
        assert asked.headers["location"].startswith("/sign-in")
        assert "example.org" in asked.headers["location"], "after signing in it goes on"


def test_addresses_are_found_between_words() -> None:
    assert find_address("", "Read https://example.org/a, please.") == "https://example.org/a"
    assert find_address("https://example.org/b", "https://example.org/c") == "https://example.org/b"
    assert find_address("", "javascript:alert(1)") is None
    assert find_address("", "no address") is None


async def test_the_offline_page_says_nothing_about_anybody(ada: Browser, app: FastAPI) -> None:
    page = (await ada.get("/offline")).text
    assert "ada@example.org" not in page
    async with Browser(app) as nobody:
        assert (await nobody.get("/offline")).status_code == 200
