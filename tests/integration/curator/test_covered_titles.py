"""Titles of articles that tell the score of a hidden match are not in lists until somebody looks."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.rows import GuardedSubjectRow
from pressbox.core.spoilers.store import PersonalSpoilers
from pressbox.curator.context.domain import EntityKind
from pressbox.curator.library.rows import EntryRow
from pressbox.curator.reading.domain import ListKind, Selection
from pressbox.curator.search.index.reader import TantivyReader
from pressbox.curator.search.index.writer import TantivyIndex
from pressbox.curator.search.retriever import HybridRetriever, SqlArticles
from tests.fakes.asking import SubjectEmbedder, written
from tests.fakes.graph import Stacks, named
from tests.fakes.reader import Library
from tests.fakes.reader_apps import reader_site
from tests.site import Browser, browsing

SUBJECT = "footy.fixture.9"
TOLD, PLAIN = "Liverpool 3-2 Arsenal: Salah with a late winner", "Liverpool and Arsenal share a station"
PLACES = (
    "/reader?list=all",
    "/reader/list?list=all",
    "/api/curator/entries",
    "/api/curator/entries?q=winner",
    "/reader?q=winner",
)


@pytest.fixture
def library(resources: Resources) -> Library:
    return Library(resources)


@pytest.fixture
async def site(library: Library, settings: Settings) -> AsyncIterator[FastAPI]:
    async with reader_site(library, settings) as app:
        yield app


@pytest.fixture
async def ben(site: FastAPI) -> AsyncIterator[Browser]:
    async with browsing(site, "ben") as browser:
        yield browser


async def fill(library: Library, user_id: int) -> tuple[int, int]:
    feed = await library.feed(user_id)
    told = await library.entry(feed, TOLD, summary="Salah made it 3-2.", body="<p>Salah made it 3-2.</p>")
    plain = await library.entry(feed, PLAIN)
    library.index.hits = [told, plain]
    async with library.database.unit_of_work() as work:
        names = {"home": ["Liverpool"], "away": ["Arsenal"]}
        work.session.add(GuardedSubjectRow(subject=SUBJECT, changed_at=datetime.now(UTC), **names))
    return told, plain


async def read(ben: Browser) -> dict[str, str]:
    found: dict[str, httpx.Response] = {path: await ben.get(path) for path in PLACES}
    assert {path: answer.status_code for path, answer in found.items() if answer.status_code != 200} == {}
    return {path: answer.text for path, answer in found.items()}


async def test_a_title_is_not_sent_before_somebody_looks(library: Library, ben: Browser) -> None:
    told, _ = await fill(library, ben.user_id)
    spoilers = PersonalSpoilers(library.database)
    assert all("3-2" in body or "mark" in body for body in (await read(ben)).values())
    await spoilers.choose(ben.user_id, choose("hidden"))
    covered = await read(ben)
    assert [path for path, body in covered.items() if "3-2" in body or "Salah" in body] == []
    assert all("Liverpool – Arsenal" in body for body in covered.values())
    assert PLAIN in covered["/reader?list=all"]
    assert 'action="/spoilers/reveal"' in covered["/reader?list=all"]
    # Opening the article is looking at it; what stands beside it is still covered.
    assert TOLD in (await ben.get(f"/reader/entries/{told}?list=all&peek=1")).text
    await ben.post("/spoilers/reveal", data={"subject": SUBJECT, "next": "/reader?list=all"})
    assert TOLD in (await read(ben))["/reader?list=all"]


async def test_what_is_looked_up_for_a_question_quotes_no_hidden_score(
    library: Library, ben: Browser, tmp_path: Path
) -> None:
    await fill(library, ben.user_id)
    feed = await library.feed(ben.user_id)
    told = await written(library, feed, "A late winner", "At the bridge Liverpool beat Arsenal 3-2 in the rain.")
    plain = await written(library, feed, "The old bridge", "The bridge between Liverpool and Arsenal is closed.")
    await TantivyIndex(tmp_path / "index").add([told, plain])
    retriever = HybridRetriever(SqlArticles(library.database), TantivyReader(tmp_path / "index"), SubjectEmbedder())

    async def ask(entry_id: int | None = None) -> set[int]:
        found = await retriever.find(ben.user_id, "What about the bridge of Liverpool?", entry_id=entry_id)
        return {one.entry_id for one in found}

    assert await ask() == {told.entry_id, plain.entry_id}
    await PersonalSpoilers(library.database).choose(ben.user_id, choose("hidden"))
    assert await ask() == {plain.entry_id}
    # Whoever asks about an article has opened it.
    assert await ask(told.entry_id) == {told.entry_id}


async def test_pages_of_names_and_of_sources_have_the_match_and_not_its_score(library: Library, ben: Browser) -> None:
    told, _ = await fill(library, ben.user_id)
    stacks = Stacks(library.database)
    await stacks.say(told, named("Anfield", EntityKind.PLACE))
    async with library.database.unit_of_work() as work:
        row = await work.session.get_one(EntryRow, told)
        feed_id, row.fetch_reason = row.feed_id, "It did not answer."
    places = ("/reader/graph/anfield", f"/reader/feeds/{feed_id}", f"/api/curator/feeds/{feed_id}")
    assert [path for path in places if "3-2" not in (await ben.get(path)).text] == []
    await PersonalSpoilers(library.database).choose(ben.user_id, choose("hidden"))
    for path in places:
        body = (await ben.get(path)).text
        assert "3-2" not in body, path
        assert "Liverpool – Arsenal" in body, path


async def test_lists_as_feeds_and_apps_get_the_match_and_not_its_score(library: Library, ben: Browser) -> None:
    await fill(library, ben.user_id)
    view = await library.service.views.create(ben.user_id, Selection(ListKind.ALL), full_text=True)
    assert TOLD in (await ben.get(f"/reader/out/{view.token}.xml")).text
    await PersonalSpoilers(library.database).choose(ben.user_id, choose("delay", 10))
    feed = (await ben.get(f"/reader/out/{view.token}.xml")).text
    assert "3-2" not in feed
    assert "Liverpool – Arsenal" in feed
