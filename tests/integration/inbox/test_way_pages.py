"""Everybody chooses their own ways, on the page and by the API, and sees where a notice went."""

from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.ways import account_way, channel_way, load_ways
from pressbox.delivery.adapters.notice_ledger import SqlNoticeLedger
from pressbox.delivery.adapters.notice_wording import NoticeWords
from pressbox.delivery.ports import Claim
from pressbox.delivery.wiring import way_links
from tests.fakes.notice_sending import Post
from tests.fakes.notices import GOAL, TEAM, tell
from tests.site import ORIGIN, Browser, browsing, serving

_CHANNEL = text("""
    INSERT INTO soonish.channels (user_id, name, encrypted_url, key_id, kind, target)
    VALUES (:user_id, 'Phone', 'sealed', 'k', 'ntfy', 'target') RETURNING id
""")


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def ada(app: FastAPI, database: Database) -> AsyncIterator[Browser]:
    async with browsing(app, "ada") as browser:
        await PersonalFollows(database).follow(browser.user_id, TEAM, "Liverpool", "/footy")
        yield browser


@pytest.fixture
async def ben(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ben") as browser:
        yield browser


async def add_channel(database: Database, user_id: int) -> str:
    async with database.unit_of_work() as work:
        return channel_way(await work.session.scalar(_CHANNEL, {"user_id": user_id}) or 0)


async def ways_of(database: Database, user_id: int) -> frozenset[str]:
    async with database.unit_of_work() as work:
        return await load_ways(work.session, user_id)


async def test_a_channel_is_ticked_and_left_on_the_page(ada: Browser, database: Database) -> None:
    assert "Add a chat or another channel" in (await ada.get("/follows")).text
    phone = await add_channel(database, ada.user_id)
    assert f'value="{phone}" checked' not in (await ada.get("/follows")).text
    await ada.post("/follows/ways", data={"way": phone})
    assert await ways_of(database, ada.user_id) == {phone}
    assert f'value="{phone}" checked' in (await ada.get("/follows")).text
    await ada.post("/follows/ways", data={})
    assert await ways_of(database, ada.user_id) == frozenset()


async def test_nobody_sends_to_a_channel_or_mailbox_of_somebody_else(
    ada: Browser, ben: Browser, database: Database
) -> None:
    phone = await add_channel(database, ada.user_id)
    for foreign in (phone, f"account:{ada.user_id}", "push:1", "contact:1", "nonsense"):
        answer = await ben.put("/api/follows/ways", json={"keys": [foreign]})
        assert answer.status_code == 404, foreign
    assert await ways_of(database, ben.user_id) == frozenset()


async def test_where_a_notice_went_stands_on_its_line_in_both_languages(
    ada: Browser, ben: Browser, database: Database
) -> None:
    phone = await add_channel(database, ada.user_id)
    chosen = (await ada.put("/api/follows/ways", json={"keys": [phone]})).json()
    assert [(way["key"], way["chosen"]) for way in chosen] == [(phone, True)]
    await tell(database, GOAL)
    assert "Phone: waits" in words(await ada.get("/inbox"))
    await Post(database).send()
    assert "Phone: sent" in words(await ada.get("/inbox"))
    assert "Phone: gesendet" in words(await ada.get("/inbox", headers={"Accept-Language": "de"}))
    [notice] = (await ada.get("/api/inbox")).json()["notices"]
    assert [(send["name"], send["state"]) for send in notice["sends"]] == [("Phone", "sent")]
    assert "Phone" not in words(await ben.get("/inbox"))


def words(answer: object) -> str:
    """The text of a page with one space between words."""
    return " ".join(str(getattr(answer, "text", "")).split())


async def test_a_mail_is_ended_by_one_click_without_signing_in(
    app: FastAPI, resources: Resources, ada: Browser, database: Database
) -> None:
    mail = account_way(ada.user_id)
    await Post(database).choose(ada.user_id, mail)
    await tell(database, GOAL)
    [planned] = await SqlNoticeLedger(database).claim_due(Claim("test", timedelta(seconds=30)), 10)
    links = way_links(resources.settings)
    message = NoticeWords("https://example.org", links).write(planned, not_after=0)
    path = urlsplit(message.unsubscribe_url).path
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=ORIGIN) as nobody:
        assert "Unsubscribe?" in (await nobody.get(path)).text
        assert await ways_of(database, ada.user_id) == {mail}, "a program that opens links ends nothing"
        for wrong in (path[:-1], path.replace("account-", "channel-")):
            assert (await nobody.post(wrong)).status_code == 404, wrong
        answer = await nobody.post(path, data={"List-Unsubscribe": "One-Click"})
    assert (answer.status_code, "You are unsubscribed" in answer.text) == (200, True)
    assert await ways_of(database, ada.user_id) == frozenset()
    assert await Post(database).send() == 0


async def test_quiet_hours_are_chosen_on_the_page_kept_and_left(ada: Browser) -> None:
    chosen = {"begins": "22:00", "ends": "07:00", "zone": "Europe/Berlin"}
    assert (await ada.post("/follows/quiet", data=chosen)).status_code == 303
    page = (await ada.get("/follows", headers={"Accept-Language": "de"})).text
    assert [f'value="{value}"' in page for value in chosen.values()] == [True] * 3
    assert "Ruhezeiten" in page
    refused = await ada.post("/follows/quiet", data={**chosen, "ends": "22:00"})
    assert refused.status_code == 422
    assert "another time than they begin" in refused.text
    await ada.post("/follows/quiet", data={"begins": "", "ends": "", "zone": "UTC"})
    assert 'value="22:00"' not in (await ada.get("/follows")).text
