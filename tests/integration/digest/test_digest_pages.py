"""The digest in a browser without scripts and for programs: what the applications tell, and only to whom it belongs."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

from pressbox.core.accounts.rows import UserRow
from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.rows import NoticeRow
from pressbox.core.spoilers.choice import SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.curator.library.rows import EntryRow
from pressbox.footy.adapters.rows import FixtureRow
from tests.fakes.curator_rows import Rows
from tests.fakes.footy_day import MatchDay
from tests.site import Browser, browsing, serving

NOW = datetime.now(UTC)


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


async def play(resources: Resources, user_id: int, *, followed: str = "footy.team.91") -> None:
    """Liverpool – Man City ended 2–1 an hour ago, and this person follows Liverpool."""
    day = MatchDay(resources)
    await day.fixture(9, home_goals=2, away_goals=1, status="FT", stage="completed", kickoff=NOW - timedelta(hours=4))
    async with resources.database.unit_of_work() as work:
        await work.session.execute(update(FixtureRow).values(completed_at=NOW - timedelta(hours=1)))
    await PersonalFollows(resources.database).follow(user_id, followed, "Liverpool", "/footy")


def story(feed_id: int, title: str, summary: str, **values: Any) -> EntryRow:
    """An entry that was seen two hours ago."""
    seen = NOW - timedelta(hours=2)
    made: dict[str, Any] = {"guid": title, "published_at": seen, "first_seen_at": seen, "updated_at": seen}
    made |= {"fetch_state": "fetched", "distil_state": "distilled", "url": "https://news.example.org/a"}
    return EntryRow(feed_id=feed_id, title=title, summary=summary, **(made | values))


async def test_who_never_chose_is_told_what_it_is_and_gets_none(ada: Browser) -> None:
    page = (await ada.get("/digest")).text
    assert "You get none." in page
    assert "No digest yet." in page
    assert 'href="/digest"' in (await ada.get("/inbox")).text
    assert "Nothing to say." in (await ada.get("/digest/preview")).text
    sent = await ada.post("/digest/send")
    assert "nothing happened since your last digest" in (await ada.get(sent.headers["location"])).text
    assert (await ada.get("/api/inbox")).json()["notices"] == []


async def test_a_choice_is_kept_and_says_when_the_next_comes(ada: Browser, ben: Browser) -> None:
    chosen = {"rhythm": "weekly", "at": "07:30", "zone": "Australia/Lord_Howe", "weekday": "2"}
    assert (await ada.post("/digest", data=chosen)).headers["location"] == "/digest?saved=true"
    page = (await ada.get("/digest")).text
    assert "The next one comes on" in page
    assert "Wed" in page
    known = (await ada.get("/api/digest")).json()
    assert {name: str(known[name]) for name in chosen} == chosen
    assert (await ben.get("/api/digest")).json()["due_at"] is None
    answer = await ada.put("/api/digest", json={"rhythm": "daily", "at": "06:00", "zone": "Asia/Kathmandu"})
    assert answer.json()["due_at"].endswith("00:15:00Z")
    assert (await ada.put("/api/digest", json={"rhythm": "off"})).json()["due_at"] is None


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("zone", "Mars/Olympus", "is not a time zone"),
        ("zone", "../../etc/passwd", "is not a time zone"),
        ("at", "half past seven", "Write the time as 07:30."),
        ("at", "07:30+02:00", "Write the time as 07:30."),
        ("rhythm", "hourly", "Choose off, daily or weekly."),
        ("weekday", "7", "Choose a day of the week."),
    ],
)
async def test_what_cannot_be_is_refused_beside_its_field(ada: Browser, field: str, value: str, words: str) -> None:
    chosen = {"rhythm": "daily", "at": "07:30", "zone": "UTC", "weekday": "0"}
    answer = await ada.post("/digest", data=chosen | {field: value})
    assert answer.status_code == 422
    assert words in answer.text.replace("&#39;", "'")
    assert (await ada.get("/api/digest")).json()["rhythm"] == "off"


async def test_a_digest_has_what_the_applications_tell_and_belongs_to_one_person(
    resources: Resources, database: Database, ada: Browser, ben: Browser
) -> None:
    await play(resources, ada.user_id)
    rows = Rows(database)
    feed = await rows.feed(ada.user_id, title="The News")
    await rows.add(story(feed, "Glaciers are growing", "They do. Nobody knows why."))
    event = {"name": "Chess evening", "timezone": "UTC", "start_date": (NOW + timedelta(hours=5)).isoformat()}
    assert (await ada.post("/api/soonish/events", json=event)).is_success
    preview = (await ada.get("/digest/preview")).text
    for text in (
        "Liverpool 2–1 Man City",
        "You follow Liverpool.",
        "Chess evening",
        "Glaciers are growing",
        "They do.",
    ):
        assert text in preview, text
    sent = await ada.post("/digest/send")
    path = sent.headers["location"]
    page = (await ada.get(path)).text
    assert "Liverpool 2–1 Man City" in page
    assert "Glaciers are growing" in page
    german = (await ada.get(path, headers={"Accept-Language": "de"})).text
    for text in ("Ergebnisse", "Du folgst Liverpool.", "Demnächst", "Was wichtig war", "Neu in deinen Quellen."):
        assert text in german, text
    [notice] = (await ada.get("/api/inbox")).json()["notices"]
    assert notice["path"] == path
    assert notice["detail"] == "One result of what you follow. One event to come. One story that mattered."
    inbox = (await ada.get("/inbox", headers={"Accept-Language": "de"})).text
    assert "Ein Ergebnis von allem, dem du folgst. Ein Termin steht an. Eine wichtige Geschichte." in inbox
    assert (await ben.get(path)).status_code == 404
    name = path.rsplit("/", 1)[1]
    assert (await ben.get(f"/api/digest/issues/{name}")).status_code == 404
    assert [one["name"] for one in (await ada.get("/api/digest/issues")).json()] == [name]
    again = await ada.post("/digest/send")
    assert again.headers["location"] != path, "only the event is still to come"


async def test_a_hidden_score_is_covered_until_the_person_looks(
    resources: Resources, database: Database, ada: Browser
) -> None:
    await play(resources, ada.user_id)
    spoilers = PersonalSpoilers(database)
    await spoilers.choose(ada.user_id, SpoilerChoice(SpoilerMode.HIDDEN))
    assert "Liverpool – Man City has ended." in (await ada.get("/digest/preview")).text
    path = (await ada.post("/digest/send")).headers["location"]
    name = path.rsplit("/", 1)[1]
    for place in ("/digest/preview", path, f"/api/digest/issues/{name}", "/inbox", "/digest"):
        assert "2–1" not in (await ada.get(place)).text, place
    await spoilers.reveal(ada.user_id, ["footy.fixture.9"])
    assert "Liverpool 2–1 Man City" in (await ada.get(path)).text
    await spoilers.choose(ada.user_id, SpoilerChoice(SpoilerMode.DELAY, 30))
    assert "Liverpool 2–1 Man City" in (await ada.get(path)).text


async def test_what_is_muted_is_in_no_digest(resources: Resources, database: Database, ada: Browser) -> None:
    await play(resources, ada.user_id)
    follows = PersonalFollows(database)
    await follows.follow(ada.user_id, "footy.league.39", "Premier League", "/footy")
    assert "Liverpool 2–1 Man City" in (await ada.get("/digest/preview")).text
    await follows.mute(ada.user_id, "footy.team.91", True)
    assert "Man City" not in (await ada.get("/digest/preview")).text


async def test_what_mail_and_chat_say_is_in_the_language_of_the_person(
    resources: Resources, database: Database, ada: Browser
) -> None:
    await play(resources, ada.user_id)
    async with database.unit_of_work() as work:
        await work.session.execute(update(UserRow).where(UserRow.id == ada.user_id).values(language="de"))
    await ada.post("/digest/send")
    async with database.unit_of_work() as work:
        [notice] = await work.session.scalars(select(NoticeRow).where(NoticeRow.kind == "digest"))
    assert notice.title == "Dein Digest ist da."
    assert notice.detail == "Ein Ergebnis von allem, dem du folgst."
    assert notice.body == (
        "Ergebnisse\n==========\n\nLiverpool 2–1 Man City\nPremier League · Du folgst Liverpool.\n"
        "http://127.0.0.1:8030/footy/matches/9"
    )
