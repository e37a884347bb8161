"""The first page: what is next and new, in the order that somebody likes; for a newcomer three fields."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from fastapi import FastAPI

from pressbox.core.accounts.models import User
from pressbox.core.app import AppManifest, Resources
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database, UnitOfWork
from pressbox.core.errors import TransientError
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.progress.rows import ProgressRow
from pressbox.core.today.contracts import FoundThing, PageReader, SectionView, TodaySection
from pressbox.footy.adapters.rows import FixtureRow, SourceHealthRow
from pressbox.footy.ids import TEAM_SUBJECT
from tests.fakes.curator_rows import Rows, entry, read
from tests.integration.web.conftest import Browse
from tests.integration.web.test_search import add, add_event, add_match
from tests.site import ADMIN, MEMBER, Browser, serving
from tests.statements import count_statements

MOST_STATEMENTS = 11


@pytest.fixture
async def app(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    async with serving(resources, settings) as app:
        yield app


async def add_fixture(database: Database, number: int, hours: float, **values: object) -> None:
    names = {"home_id": number, "home_name": f"Home {number}", "away_id": 900 + number, "away_name": f"Away {number}"}
    stage = {"stage": "staging", "status": "NS", "league_name": "League"}
    await add(
        database, FixtureRow, id=number, kickoff=utc_now() + timedelta(hours=hours), **{**names, **stage, **values}
    )


async def test_a_newcomer_sees_three_fields_and_the_first_results_take_their_place(
    signed_in: Browser, database: Database, admin: User
) -> None:
    new = (await signed_in.get("/")).text
    assert [f'id="first-{name}"' in new for name in ("team", "site", "event")] == [True] * 3
    assert "Begin with one of these." in new
    await add_fixture(database, 5, 30)
    await PersonalFollows(database).follow(admin.id, f"{TEAM_SUBJECT}5", "Home 5", "/footy")
    page = (await signed_in.get("/today/live")).text
    assert "Home 5 – Away 5" in page
    assert [f'id="first-{name}"' in page for name in ("team", "site", "event")] == [False, True, True]
    await add_event(database, admin, "School play")
    await Rows(database).feed(admin.id)
    full = (await signed_in.get("/")).text
    assert 'id="first-' not in full.replace('id="first-step', "")
    assert "is being read for the first time." in full


async def test_matches_of_what_somebody_follows_stand_there_live_ones_first(
    app: FastAPI, browse: Browse, signed_in: Browser, database: Database, admin: User, member: User
) -> None:
    await add_fixture(database, 1, 2)
    await add_fixture(database, 2, -1, stage="active", status="2H", elapsed=63, home_goals=2, away_goals=1)
    await add_fixture(database, 3, -5, stage="completed", status="FT", home_goals=0, away_goals=0)
    await add_fixture(database, 4, 3)
    for number in (1, 2, 3):
        await PersonalFollows(database).follow(admin.id, f"{TEAM_SUBJECT}{number}", f"Home {number}", "/footy")
    page = (await signed_in.get("/")).text
    places = [page.index(words) for words in ("Home 2 2–1 Away 2", "Home 1 – Away 1", "Home 3 0–0 Away 3")]
    assert places == sorted(places)
    assert "63′" in page
    assert "Home 4" not in page
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    # Whoever follows nothing sees what is played, and how to begin.
    other = (await theirs.get("/")).text
    assert ("Home 4 – Away 4" in other, 'id="first-team"' in other) == (True, True)


async def test_a_story_that_several_feeds_tell_stands_first_and_once(
    signed_in: Browser, database: Database, admin: User
) -> None:
    rows = Rows(database)
    one, two = await rows.feed(admin.id), await rows.feed(admin.id)
    await rows.crawl(one, read(entry(1, title="Told by two"), entry(2, title="Told by one")))
    await rows.crawl(two, read(entry(1, title="Told by two")))
    page = (await signed_in.get("/")).text
    assert page.index("Told by two") < page.index("Told by one")
    assert page.count("Told by two") == 1


async def test_the_order_is_kept_for_each_person_and_a_hidden_section_is_gone(
    app: FastAPI, browse: Browse, signed_in: Browser, database: Database, admin: User, member: User
) -> None:
    await add_match(database)
    await add_event(database, admin, "School play")
    page = (await signed_in.get("/")).text
    assert page.index("today-matches") < page.index("today-events")
    assert (await signed_in.post("/today/arrange", data={"key": "events", "step": "up"})).status_code == 303
    page = (await signed_in.get("/")).text
    assert page.index("today-events") < page.index("today-matches")
    answer = await signed_in.post("/today/arrange", data={"key": "matches", "step": "hide"})
    arranged = (await signed_in.get(answer.headers["location"])).text
    assert "Show: Matches" in arranged
    assert "today-matches" not in (await signed_in.get("/")).text
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    other = (await theirs.get("/")).text
    assert other.index("today-matches") < other.index("today-events")
    await signed_in.post("/today/arrange/reset")
    page = (await signed_in.get("/")).text
    assert page.index("today-matches") < page.index("today-events")
    # What is not a section or a step changes nothing.
    assert (await signed_in.post("/today/arrange", data={"key": "nothing", "step": "up"})).status_code == 303
    assert (await signed_in.post("/today/arrange", data={"key": "events", "step": "away"})).status_code == 422


async def test_the_order_is_part_of_what_somebody_takes_along(signed_in: Browser, database: Database) -> None:
    await signed_in.post("/today/arrange", data={"key": "events", "step": "hide"})
    async with database.engine.connect() as connection:
        found = await connection.exec_driver_sql("SELECT hidden FROM core.front_pages")
        assert found.scalar_one() == ["events"]


async def test_what_needs_a_look_is_said_quietly_and_to_whom_it_concerns(
    app: FastAPI, browse: Browse, signed_in: Browser, database: Database, member: User
) -> None:
    assert "attention-title" not in (await signed_in.get("/")).text
    await add(database, SourceHealthRow, source="bluesky", checked_at=utc_now(), failure="It asked for a key.")
    assert "The clip source bluesky does not answer." in (await signed_in.get("/")).text
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    assert "bluesky" not in (await theirs.get("/")).text


async def test_the_first_page_tells_of_work_in_one_line(signed_in: Browser, database: Database) -> None:
    assert "data-work" not in (await signed_in.get("/")).text
    for number, state in enumerate(("failed", "failed", "running")):
        await add(database, ProgressRow, workflow_id=f"w-{number}", state=state, audience="everyone", title="Ingesting")
    page = (await signed_in.get("/")).text
    line = page[page.index("data-work") :].partition("</li>")[0]
    assert ("2 tasks have failed" in line, "1 task is running" in line) == (True, True)
    assert "Ingesting" not in page


async def test_a_section_that_fails_says_so_and_leaves_the_others_standing(
    resources: Resources, settings: Settings, admin: User, browse: Browse
) -> None:
    async def fail(work: UnitOfWork, *_: object) -> SectionView:
        await work.session.execute(FixtureRow.__table__.select())
        raise TransientError("The press is closed.")

    async def load(_: UnitOfWork, __: Resources, reader: PageReader, ___: int) -> SectionView:
        return SectionView([FoundThing(f"Seen by {reader.user_id}", "/seen")])

    sections = (TodaySection("broken", "Broken", "/", fail), TodaySection("whole", "Whole", "/", load))
    manifest = AppManifest("broken", title="Broken", summary="", today=lambda: sections)
    async with serving(resources, settings, (manifest,)) as app:
        browser = browse(app)
        await browser.sign_in(ADMIN)
        page = " ".join((await browser.get("/")).text.split())
    assert "This cannot be shown at the moment. The press is closed." in page
    assert f"Seen by {admin.id}" in page


async def test_a_sentence_opens_the_filled_form_of_an_event(signed_in: Browser) -> None:
    page = (await signed_in.get("/events/new", params={"say": "Dinner with Anna on 2031-03-04 at 19:30"})).text
    assert ('value="Dinner with Anna"' in page, 'value="2031-03-04T19:30"' in page) == (True, True)


async def test_a_site_without_a_feed_is_answered_with_a_sentence(signed_in: Browser) -> None:
    answer = await signed_in.post("/reader/add/first", data={"address": "not an address"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text


async def test_the_first_page_takes_few_statements(signed_in: Browser, database: Database, admin: User) -> None:
    await add_match(database)
    await add_event(database, admin, "School play")
    rows = Rows(database)
    await rows.crawl(await rows.feed(admin.id), read(entry(1), entry(2)))
    await PersonalFollows(database).follow(admin.id, f"{TEAM_SUBJECT}1", "Germany", "/footy")
    await signed_in.get("/")
    with count_statements(database) as statements:
        await signed_in.get("/")
    assert 0 < len(statements) <= MOST_STATEMENTS, statements


async def test_the_first_page_is_german_for_germans(
    app: FastAPI, browse: Browse, admin: User, database: Database
) -> None:
    browser = browse(app, **{"Accept-Language": "de"})
    await browser.sign_in(ADMIN)
    page = (await browser.get("/")).text
    for words in ("Heute", "Spiele", "Deine Mannschaft", "Eine Seite, die du gern liest", "Anordnen"):
        assert words in page, words
    assert "Begin with" not in page
