"""Whether scores are shown at once, on demand or later is chosen on the account page and by programs."""

import json
from collections.abc import AsyncIterator
from io import BytesIO
from zipfile import ZipFile

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.store import PersonalSpoilers
from tests.site import Browser, browsing, serving


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


@pytest.fixture
async def ada(app: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(app, "ada") as browser:
        yield browser


async def test_a_choice_is_kept_and_shown_and_is_each_persons_own(app: FastAPI, ada: Browser) -> None:
    saved = await ada.post("/account/spoilers", data={"spoiler_mode": "delay", "spoiler_minutes": "25"})
    assert saved.status_code == 303
    page = (await ada.get(saved.headers["location"])).text
    assert "It counts everywhere from now on." in page
    assert 'value="25"' in page
    async with browsing(app, "ben") as ben:
        assert (await ben.get("/api/spoilers")).json() == {"mode": "off", "minutes": None}
    assert (await ada.get("/api/spoilers")).json() == {"mode": "delay", "minutes": 25}
    await ada.post("/account/spoilers", data={"spoiler_mode": "off", "spoiler_minutes": "25"})
    assert (await ada.get("/api/spoilers")).json() == {"mode": "off", "minutes": None}


@pytest.mark.parametrize("minutes", ["", "0", "181", "ten", "²", "9" * 400])
async def test_a_delay_that_makes_no_sense_is_refused_with_what_to_do(ada: Browser, minutes: str) -> None:
    page = await ada.post("/account/spoilers", data={"spoiler_mode": "delay", "spoiler_minutes": minutes})
    assert page.status_code == 422
    assert "between 1 and 180" in page.text
    assert (await ada.get("/api/spoilers")).json()["mode"] == "off"


async def test_programs_choose_look_and_hide_again(ada: Browser, resources: Resources) -> None:
    assert (await ada.put("/api/spoilers", json={"mode": "hidden"})).status_code == 204
    assert (await ada.put("/api/spoilers", json={"mode": "delay"})).status_code == 422
    spoilers = PersonalSpoilers(resources.database)
    for _ in range(2):
        assert (await ada.put("/api/spoilers/revealed/footy.fixture.9")).status_code == 204
    assert not (await spoilers.load_sight(ada.user_id)).hides("footy.fixture.9")
    for _ in range(2):
        assert (await ada.delete("/api/spoilers/revealed/footy.fixture.9")).status_code == 204
    assert (await spoilers.load_sight(ada.user_id)).hides("footy.fixture.9")


async def test_the_button_leads_back_and_never_to_another_site(ada: Browser) -> None:
    async def press(target: str) -> str:
        answer = await ada.post("/spoilers/reveal", data={"subject": "footy.fixture.9", "next": target})
        assert answer.status_code == 303
        return answer.headers["location"]

    assert await press("/footy/matches/9") == "/footy/matches/9"
    assert await press("//evil.example") == "/"
    assert (await ada.post("/spoilers/conceal", data={"subject": "x", "next": "/inbox"})).headers[
        "location"
    ] == "/inbox"
    assert (await ada.post("/spoilers/reveal", data={"subject": "x" * 201})).status_code == 422


async def test_what_was_chosen_and_looked_at_is_in_the_export(ada: Browser, resources: Resources) -> None:
    spoilers = PersonalSpoilers(resources.database)
    await spoilers.choose(ada.user_id, choose("hidden"))
    await spoilers.reveal(ada.user_id, ["footy.fixture.9"])
    answer = await ada.post("/account/data/export")
    with ZipFile(BytesIO(answer.content)) as archive:
        chosen, looked = [json.loads(archive.read(f"{name}.json")) for name in ("spoilers", "looked-at")]
    assert chosen == [{"mode": "hidden", "minutes": None}]
    assert [row["subject"] for row in looked] == ["footy.fixture.9"]
