"""The page of a team, what its follower hears of it, and articles on the page of a match; also in German."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources, WrittenAbout
from pressbox.core.audiences.members import Viewer
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.today.contracts import FoundThing
from pressbox.footy.domain.fixtures import FixtureStatus, Team
from tests.integration.footy.footy_world import World, goal, match, with_goals
from tests.site import Browser, browsing, serving

NOW = datetime.now(UTC).replace(microsecond=0)
LIVERPOOL = "footy.team.40"


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


@pytest.fixture
async def season(database: Database) -> World:
    """One match that is over, and two to come."""
    world = World(database, now=NOW)
    over = with_goals(1, goal(23), status=FixtureStatus.FULL_TIME, kickoff=NOW - timedelta(days=2))
    coming: dict[str, Any] = {
        "status": FixtureStatus.NOT_STARTED,
        "elapsed": None,
        "home_goals": None,
        "away_goals": None,
    }
    soon = match(2, kickoff=NOW + timedelta(days=1), home=Team(50, "Man City"), away=Team(40, "Liverpool"), **coming)
    later = match(3, kickoff=NOW + timedelta(days=5), **coming)
    await world.ingest(over, soon, later)
    return world


async def follow(browser: Browser) -> None:
    answer = await browser.post("/footy/follow", data={"kind": "team", "id": "40", "origin": "team"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/footy/teams/40?late=1")


def written_by(app: FastAPI, answer: list[FoundThing] | TransientError) -> list[WrittenAbout]:
    """Have one application answer this, as the curator would; returns what it is asked."""
    asked: list[WrittenAbout] = []

    async def written(_: Resources, __: Viewer, about: WrittenAbout) -> list[FoundThing]:
        asked.append(about)
        if isinstance(answer, TransientError):
            raise answer
        return answer

    app.state.manifests = tuple(
        replace(manifest, written=written if manifest.name == "curator" else None) for manifest in app.state.manifests
    )
    return asked


async def test_the_next_match_comes_first_then_fixtures_and_results(ada: Browser, season: World) -> None:
    page = (await ada.get("/footy/teams/40")).text
    places = [page.index(f'href="/footy/matches/{number}"') for number in (2, 3, 1)]
    assert places == sorted(places)
    assert page.index("Next match") < page.index("Fixtures") < page.index("Results and clips")
    assert (await ada.get("/footy/teams/40/live")).status_code == 200
    assert (await ada.get("/footy/teams/99")).status_code == 404


async def test_a_team_without_matches_says_what_to_do(ada: Browser, season: World) -> None:
    await season.ingest(match(9, home=Team(77, "Angers"), away=Team(78, "Lens"), kickoff=NOW - timedelta(days=9)))
    page = (await ada.get("/footy/teams/77", headers={"Accept-Language": "de"})).text
    assert "Kein Spiel in den nächsten Tagen." in page


async def test_a_follower_chooses_what_they_hear_and_when_they_are_reminded(
    ada: Browser, ben: Browser, season: World, database: Database
) -> None:
    assert 'action="/follows/choose"' not in (await ada.get("/footy/teams/40")).text
    await follow(ada)
    page = (await ada.get("/footy/teams/40")).text
    assert page.count("checked") == 3, "goals, full-time, 15 minutes before"
    chosen = {"subject": LIVERPOOL, "kinds": ["goal", "red-card"], "reminders": ["3600", "300"], "origin": "subject"}
    answer = await ada.post("/follows/choose", data=chosen)
    assert answer.headers["location"] == "/footy/teams/40?saved=1"
    assert "Saved." in (await ada.get(answer.headers["location"])).text
    [kept] = (await ada.get("/api/follows")).json()
    assert (kept["kinds"], kept["reminders"]) == (["goal", "red-card"], [3600, 300])
    assert (await ada.get("/follows")).text.count("checked") == 4
    assert (await ben.post("/follows/choose", data=chosen)).status_code == 404
    await ada.post("/footy/follow/remove", data={"kind": "team", "id": "40", "origin": "team"})
    assert await PersonalFollows(database).list(ada.user_id) == []


async def test_programs_choose_too_and_wrong_choices_are_refused(ada: Browser, season: World) -> None:
    await follow(ada)
    path = f"/api/follows/{LIVERPOOL}"
    assert (await ada.patch(path, json={"kinds": ["kick-off"], "reminders": []})).status_code == 204
    assert (await ada.patch(path, json={"muted": True})).status_code == 204
    [kept] = (await ada.get("/api/follows")).json()
    assert (kept["kinds"], kept["reminders"], kept["muted"]) == (["kick-off"], [], True)
    assert (await ada.patch(path, json={"kinds": None, "reminders": None})).status_code == 204
    [kept] = (await ada.get("/api/follows")).json()
    assert (kept["kinds"], kept["reminders"], kept["muted"]) == (None, None, True)
    for wrong in ({"kinds": ["weather"]}, {"reminders": [1]}):
        assert (await ada.patch(path, json=wrong)).status_code == 422, wrong
    assert (await ada.patch("/api/follows/footy.team.7", json={"muted": True})).status_code == 404


async def test_a_match_shows_what_is_written_about_both_sides_around_its_date(
    app: FastAPI, ada: Browser, season: World
) -> None:
    asked = written_by(app, [FoundThing("Salah rests", "/reader/entries/1", "The Daily Ball", NOW)])
    page = (await ada.get("/footy/matches/1")).text
    assert 'href="/reader/entries/1"' in page
    assert 'href="/footy/teams/40"' in page
    [about] = asked
    assert [names[0] for names in about.names] == ["Liverpool", "Arsenal"]
    assert about.since < NOW - timedelta(days=2) < about.until


async def test_nothing_written_and_nobody_to_ask_are_told_apart(app: FastAPI, ada: Browser, season: World) -> None:
    written_by(app, [])
    assert "Nothing in your feeds" in (await ada.get("/footy/matches/1")).text
    written_by(app, TransientError("The index is away."))
    for path in ("/footy/matches/1", "/footy/teams/40"):
        page = (await ada.get(path)).text
        assert "Articles cannot be searched right now." in page, path
