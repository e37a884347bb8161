"""On German pages the reader refuses and explains in German, also what was stored long before."""

from collections.abc import AsyncIterator

import pytest

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.curator.feeds.domain import Crawl
from pressbox.curator.library.domain import CrawlOutcome
from tests.fakes.curator_rows import Rows
from tests.site import Browser, browsing, serving

GERMAN = {"Accept": "text/html", "Accept-Language": "de"}


@pytest.fixture
async def person(resources: Resources, settings: Settings) -> AsyncIterator[Browser]:
    async with serving(resources, settings) as app, browsing(app, "reader") as person:
        yield person


async def test_why_a_feed_fails_is_said_in_the_language_of_the_page(person: Browser, resources: Resources) -> None:
    rows = Rows(resources.database)
    feed_id = await rows.feed(person.user_id)
    reason = "example.org did not answer completely within 30 seconds."
    await rows.crawl(feed_id, Crawl(CrawlOutcome.UNREACHABLE, reason=reason))
    for path in (f"/reader/feeds/{feed_id}", "/reader/sources"):
        page = await person.get(path, headers=GERMAN)
        assert "example.org hat nicht innerhalb von 30 Sekunden vollständig geantwortet." in page.text, path
        assert reason not in page.text
        assert reason in (await person.get(path, headers={**GERMAN, "Accept-Language": "en"})).text


async def test_a_refused_form_says_so_in_german(person: Browser) -> None:
    page = await person.post("/reader/add", data={"url": "two words"}, headers=GERMAN)
    assert "Schreibe eine Adresse wie https://example.org oder example.org." in page.text
    page = await person.get("/reader/entries/4711", headers=GERMAN)
    assert page.status_code == 404
    assert "Diesen Eintrag gibt es nicht, oder er steht in keinem deiner Feeds." in page.text
