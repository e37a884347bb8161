"""The inbox in a browser without scripts, and for programs: everybody sees their own, and nothing of others."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.audiences.members import Viewer, find_members
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import withdraw
from pressbox.core.notices.reader import TOLD, find_told
from pressbox.inbox.personal_data import export
from tests.fakes.notices import GOAL, TEAM, tell
from tests.site import Browser, browsing, serving


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


async def test_an_empty_inbox_says_what_it_is_for(ben: Browser) -> None:
    page = (await ben.get("/inbox")).text
    assert "Nothing here yet." in page
    assert 'href="/footy/follow"' in page
    assert "not following anything yet" in (await ben.get("/follows")).text


async def test_a_notice_is_on_the_first_page_in_the_inbox_and_counted_until_it_is_opened(
    ada: Browser, ben: Browser, database: Database
) -> None:
    await tell(database, GOAL)
    for path in ("/", "/today/live", "/inbox", "/inbox/live"):
        assert "Goal for Liverpool by Salah, 23′" in (await ada.get(path)).text, path
        assert "Salah" not in (await ben.get(path)).text, path
    assert (await ada.get("/api/activity/summary")).json()["unread"] == 1
    [notice] = (await ada.get("/api/inbox")).json()["notices"]
    opened = await ada.get(f"/inbox/notices/{notice['id']}")
    assert (opened.status_code, opened.headers["location"]) == (303, "/footy/matches/9")
    assert (await ada.get("/api/activity/summary")).json()["unread"] == 0
    assert "Salah" not in (await ada.get("/today/live")).text
    assert (await ben.get(f"/inbox/notices/{notice['id']}")).status_code == 404


async def test_a_notice_is_read_in_german(app: FastAPI, ada: Browser, database: Database) -> None:
    await tell(database, replace(GOAL, detail="Liverpool 1–0 Arsenal. The clip is there."))
    page = (await ada.get("/inbox", headers={"Accept-Language": "de"})).text
    assert "Tor für Liverpool: Salah, 23′" in page
    assert "Liverpool 1–0 Arsenal. Der Clip ist da." in page
    assert "weil du Liverpool folgst" in page


async def test_what_is_taken_back_is_struck_out(ada: Browser, database: Database) -> None:
    await tell(database, GOAL)
    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    for path in ("/inbox", "/"):
        assert "<del>Goal for Liverpool by Salah, 23′</del>" in (await ada.get(path)).text, path
    assert "Taken back" in (await ada.get("/inbox")).text


async def test_marking_works_twice_in_a_row_and_in_both_directions(ada: Browser, database: Database) -> None:
    await tell(database, GOAL, replace(GOAL, key="footy.goal.2"))
    newest, older = (await ada.get("/api/inbox")).json()["notices"]
    for _ in range(2):
        assert (await ada.post("/inbox/read", data={"id": older["id"]})).status_code == 303
    assert (await ada.get("/api/inbox")).json()["unread"] == 1
    await ada.post("/inbox/read", data={"id": older["id"], "read": "false"})
    assert (await ada.get("/api/inbox")).json()["unread"] == 2
    await ada.post("/inbox/read-all", data={"up_to": newest["id"]})
    assert (await ada.get("/api/inbox")).json()["unread"] == 0
    answer = await ada.post("/api/inbox/read", json={"ids": [newest["id"], older["id"]], "read": False})
    assert answer.json() == {"changed": 2}
    assert (await ada.post("/api/inbox/read", json={"ids": []})).status_code == 422
    assert (await ada.get("/inbox?before=0")).status_code == 422


async def test_mute_in_the_inbox_can_be_undone_at_once(ada: Browser, database: Database) -> None:
    await tell(database, GOAL)
    answer = await ada.post("/follows/mute", data={"subject": TEAM, "origin": "inbox"})
    page = (await ada.get(answer.headers["location"])).text
    assert "Liverpool is muted" in page
    assert "Undo" in page
    await tell(database, replace(GOAL, key="footy.goal.2"))
    assert len((await ada.get("/api/inbox")).json()["notices"]) == 1
    undone = await ada.post("/follows/mute", data={"subject": TEAM, "muted": "false", "origin": "inbox"})
    assert undone.headers["location"] == "/inbox"
    await tell(database, replace(GOAL, key="footy.goal.3"))
    assert len((await ada.get("/api/inbox")).json()["notices"]) == 2


async def test_follows_are_one_list_to_mute_and_to_leave(ada: Browser, ben: Browser) -> None:
    assert "Liverpool" in (await ada.get("/follows")).text
    assert "Liverpool" not in (await ben.get("/follows")).text
    assert (await ben.post("/follows/mute", data={"subject": TEAM})).status_code == 404
    assert (await ben.patch(f"/api/follows/{TEAM}", json={"muted": True})).status_code == 404
    assert (await ada.patch(f"/api/follows/{TEAM}", json={"muted": True})).status_code == 204
    assert [follow["muted"] for follow in (await ada.get("/api/follows")).json()] == [True]
    assert (await ada.post("/follows/leave", data={"subject": TEAM})).status_code == 303
    assert (await ada.get("/api/follows")).json() == []
    assert (await ada.delete(f"/api/follows/{TEAM}")).status_code == 204


async def test_a_delay_is_chosen_per_follow_on_the_page_and_by_programs(ada: Browser, ben: Browser) -> None:
    for _ in range(2):
        answer = await ada.post(
            "/follows/choose", data={"subject": TEAM, "kinds": ["goal", "full-time"], "delay": "10"}
        )
        assert answer.status_code == 303
    assert "10 minutes later" in (await ada.get("/follows")).text
    assert [one["delay_minutes"] for one in (await ada.get("/api/follows")).json()] == [10]
    assert 'data-again="30"' in (await ada.get("/inbox")).text
    assert (await ada.patch(f"/api/follows/{TEAM}", json={"muted": False})).status_code == 204
    assert [one["delay_minutes"] for one in (await ada.get("/api/follows")).json()] == [10]
    assert (await ada.patch(f"/api/follows/{TEAM}", json={"delay_minutes": 0})).status_code == 204
    assert [one["delay_minutes"] for one in (await ada.get("/api/follows")).json()] == [0]
    assert (await ada.patch(f"/api/follows/{TEAM}", json={"delay_minutes": 9999})).status_code == 422
    assert (await ada.post("/follows/choose", data={"subject": TEAM, "delay": "-1"})).status_code == 422
    assert (await ben.post("/follows/choose", data={"subject": TEAM, "delay": "10"})).status_code == 404


async def test_marking_a_line_leads_back_to_it(ada: Browser, database: Database) -> None:
    await tell(database, GOAL)
    [notice] = (await ada.get("/api/inbox")).json()["notices"]
    number = notice["id"]
    answer = await ada.post("/inbox/read", data={"id": number})
    assert answer.headers["location"] == f"/inbox#notice-{number}"
    older = await ada.post("/inbox/read", data={"id": number, "read": "false", "before": number + 1})
    assert older.headers["location"] == f"/inbox?before={number + 1}#notice-{number}"


async def test_a_line_of_what_is_muted_offers_to_unmute_and_of_what_was_left_says_so(
    ada: Browser, database: Database
) -> None:
    await tell(database, GOAL)
    await ada.post("/follows/mute", data={"subject": TEAM})
    assert "Unmute Liverpool" in (await ada.get("/inbox")).text
    await ada.post("/follows/leave", data={"subject": TEAM})
    page = (await ada.get("/inbox")).text
    assert "you followed it then" in page
    assert "Mute Liverpool" not in page


async def test_only_who_was_told_hears_that_a_notice_changed(ada: Browser, ben: Browser, database: Database) -> None:
    await tell(database, GOAL)
    [notice] = (await ada.get("/api/inbox")).json()["notices"]
    async with database.unit_of_work() as work:
        audiences = await find_told(work, [str(notice["id"])])
        members = await find_members(work.session, [TOLD], audiences.values(), [ada.user_id, ben.user_id])
    told = [members.include(audiences[str(notice["id"])], Viewer(browser.user_id)) for browser in (ada, ben)]
    assert told == [True, False]


async def test_the_data_of_a_person_has_their_follows_and_their_inbox(
    resources: Resources, ada: Browser, database: Database
) -> None:
    await tell(database, GOAL)
    data = await export(resources, ada.user_id)
    assert [row["name"] for row in data["follows"]] == ["Liverpool"]
    assert [row["title"] for row in data["inbox"]] == [GOAL.title]
