"""The field in the top line finds matches, events and articles; the first page begins with what is next and new."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from fastapi import FastAPI
from sqlalchemy import Table

from pressbox.core.accounts.models import User
from pressbox.core.app import Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.footy.adapters.rows import FixtureRow, TeamRow
from pressbox.soonish.adapters.rows import EventRow
from tests.fakes.curator_rows import Rows, entry, read
from tests.fakes.planted_rows import plant
from tests.integration.web.conftest import Browse
from tests.site import MEMBER, Browser, serving


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


async def add(database: Database, kind: type, **values: object) -> None:
    table = kind.__table__  # type: ignore[attr-defined]
    assert isinstance(table, Table)
    async with database.unit_of_work() as work:
        await plant(work.session, table, values)


async def add_match(database: Database) -> None:
    names = {"home_id": 1, "home_name": "Germany", "away_id": 2, "away_name": "Brazil", "league_name": "World Cup"}
    stage = {"stage": "active", "status": "2H", "home_goals": 2, "away_goals": 1}
    await add(database, FixtureRow, id=7, kickoff=utc_now(), **names, **stage)
    await add(database, TeamRow, team_id=1, name="Germany")


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


async def test_the_first_page_begins_with_what_is_next_and_new(
    signed_in: Browser, database: Database, admin: User
) -> None:
    empty = (await signed_in.get("/")).text
    assert "once you follow something" in empty
    rows = Rows(database)
    feed = await rows.feed(admin.id)
    await rows.crawl(feed, read(entry(1, title="The ferry sails again")))
    await add_match(database)
    await add_event(database, admin, "School play")
    page = (await signed_in.get("/")).text
    machinery = page.index("Running now")
    for words in ("Germany 2–1 Brazil", "School play", "The ferry sails again"):
        assert page.index(words) < machinery
