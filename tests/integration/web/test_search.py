"""The field in the top line finds everything that somebody may see, as they type, and says what it could not ask."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import Table

from pressbox.core.accounts.models import User
from pressbox.core.app import AppManifest, Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import TransientError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.spoilers.choice import SpoilerChoice, SpoilerMode
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.core.today.contracts import FoundThing, SearchGroup
from pressbox.footy.adapters.rows import DirectoryRow, FixtureRow, GoalRow, TeamRow
from pressbox.footy.ids import TEAM_SUBJECT
from pressbox.soonish.adapters.rows import EventRow
from tests.fakes.notices import GOAL, TEAM, tell
from tests.fakes.planted_rows import plant
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, Browser, serving


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


async def add(database: Database, row: type, /, **values: object) -> None:
    table = row.__table__  # type: ignore[attr-defined]
    assert isinstance(table, Table)
    async with database.unit_of_work() as work:
        await plant(work.session, table, values)


async def add_match(database: Database) -> None:
    names = {"home_id": 1, "home_name": "Germany", "away_id": 2, "away_name": "Brazil", "league_name": "World Cup"}
    stage = {"stage": "active", "status": "2H", "home_goals": 2, "away_goals": 1}
    await add(database, FixtureRow, id=7, kickoff=utc_now(), **names, **stage)
    await add(database, TeamRow, team_id=1, name="Germany")
    await add(database, DirectoryRow, kind="team", id=1, name="Germany", country="World", words="germany")


async def add_event(database: Database, organiser: User, name: str) -> None:
    values = {"slug": name.lower().replace(" ", "-"), "timezone": "UTC", "visibility": "private", "status": "active"}
    begin = utc_now() + timedelta(days=1)
    await add(database, EventRow, organiser_id=organiser.id, name=name, start_date=begin, **values)


async def test_a_match_and_an_own_event_are_found_and_those_of_others_are_not(
    app: FastAPI, browse: Browse, signed_in: Browser, database: Database, admin: User, member: User
) -> None:
    await add_match(database)
    await add_event(database, admin, "School play")
    found = (await signed_in.get("/search", params={"q": "germany"})).text
    assert "Germany 2–1 Brazil" in found
    assert "/footy/matches/7" in found
    assert "/events/school-play" in (await signed_in.get("/search", params={"q": "play SCHOOL"})).text
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    page = (await theirs.get("/search", params={"q": "school"})).text
    assert "/events/school-play" not in page
    assert "Nothing found." in page
    for words in ("", "   ", "%", "a" * 200, "\N{SNOWMAN}", '"'):
        assert (await signed_in.get("/search", params={"q": words})).status_code == 200


async def test_a_page_of_settings_is_found_by_what_it_is_for_and_only_by_who_may_open_it(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User
) -> None:
    assert 'href="/settings/mail"' in (await signed_in.get("/search/part", params={"q": "mail"})).text
    assert 'href="/reader/import"' in (await signed_in.get("/search/part", params={"q": "opm"})).text
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    found = (await theirs.get("/search/part", params={"q": "smtp"})).text
    assert "/settings" not in found
    assert "Nothing found." in found


async def test_what_is_typed_is_found_by_the_beginnings_of_words(
    signed_in: Browser, database: Database, admin: User
) -> None:
    await add_match(database)
    await add(database, TeamRow, team_id=2, name="Brazil", aliases=["Seleção", "Brasilien"])
    await add(
        database, GoalRow, event_id="7-1", fixture_id=7, player_name="J. Müller", elapsed=23, detail="Normal Goal"
    )
    await add_event(database, admin, "School play")
    for typed, path in {
        "ger": "/footy/matches/7",
        "bra ger": "/footy/matches/7",
        "selecao": "/footy/matches/7",
        "germ": "/footy/teams/1",
        "mull": "/footy/goals/7-1",
        "SCH pl": "/events/school-play",
    }.items():
        answer = await signed_in.get("/search/part", params={"q": typed})
        assert f'href="{path}"' in answer.text, typed
    assert "/footy/matches/7" not in (await signed_in.get("/search/part", params={"q": "ermany"})).text


async def test_notices_are_found_by_whoever_was_told(
    app: FastAPI, browse: Browse, signed_in: Browser, database: Database, admin: User, member: User
) -> None:
    await PersonalFollows(database).follow(admin.id, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    word = GOAL.title.split()[-1]
    assert "/inbox/notices/" in (await signed_in.get("/search/part", params={"q": word})).text
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    assert "/inbox/notices/" not in (await theirs.get("/search/part", params={"q": word})).text


async def test_a_hidden_score_is_neither_shown_nor_found(signed_in: Browser, database: Database, admin: User) -> None:
    await add_match(database)
    await add(
        database, GoalRow, event_id="7-1", fixture_id=7, player_name="J. Müller", elapsed=23, detail="Normal Goal"
    )
    for subject in (TEAM, f"{TEAM_SUBJECT}1"):
        await PersonalFollows(database).follow(admin.id, subject, "A team", "/footy")
    await tell(database, replace(GOAL, spoiler=True, covered_title="A goal in a match", title="Nine to nil"))
    await PersonalSpoilers(database).choose(admin.id, SpoilerChoice(SpoilerMode.HIDDEN))
    page = (await signed_in.get("/search/part", params={"q": "germany"})).text
    assert "Germany – Brazil" in page
    assert "2–1" not in page
    assert "/footy/goals/" not in (await signed_in.get("/search/part", params={"q": "müller"})).text
    assert "/inbox/notices/" not in (await signed_in.get("/search/part", params={"q": "nine"})).text
    first = (await signed_in.get("/")).text
    assert "Germany – Brazil" in first
    assert ("2–1" in first, "Nine to nil" in first) == (False, False)


async def test_a_group_that_fails_says_so_and_leaves_the_others_standing(
    resources: Resources, settings: Settings, database: Database, admin: User, browse: Browse
) -> None:
    async def fail(*_: object) -> Sequence[FoundThing]:
        raise TransientError("The index is away.")

    async def find(*_: object) -> Sequence[FoundThing]:
        return [FoundThing("Found", "/found")]

    groups = (SearchGroup("broken", "Broken things", fail), SearchGroup("whole", "Whole things", find))
    broken = AppManifest("searched", title="Broken", summary="", search=lambda: groups)
    async with serving(resources, settings, (broken,)) as app:
        browser = browse(app)
        await browser.sign_in(ADMIN)
        for path in ("/search", "/search/part"):
            page = (await browser.get(path, params={"q": "anything"})).text
            assert "This cannot be searched at the moment. The index is away." in " ".join(page.split())
            assert 'href="/found"' in page
