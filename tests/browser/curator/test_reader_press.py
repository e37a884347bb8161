"""From a pasted address to a read article, with real workers and a simulated press: what a new user tries first."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from temporalio.client import Client

from pressbox.core.config import HttpSettings, Settings
from pressbox.core.db.database import Database
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators.news_evil import Evil
from pressbox.demo.simulators.news_site import PUBLICATIONS, NewsSite
from tests.browser.conftest import Site, Watch, serving
from tests.conftest import TEST_KEY
from tests.databases import Databases
from tests.patience import patience
from tests.reading_room import open_room, reading_resources, working

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.limit(900)]

# Workers, model and browser share two cores.
SOON = patience(60_000)


@dataclass(frozen=True)
class Kiosk:
    """A Pressbox with workers, and papers to read in it."""

    site: Site
    press: NewsSite


@pytest.fixture(scope="module")
async def kiosk(databases: Databases, temporal: Client, reachable_folder: Path) -> AsyncIterator[Kiosk]:
    name = databases.lend()
    database = Database(databases.url(name))
    async with NewsSite() as press:
        settings = Settings(
            home=reachable_folder / "kiosk",
            secret_key=TEST_KEY,
            http=HttpSettings(allow=(press.url.removeprefix("http://"),)),
            applications=(CuratorSettings(host_delay_seconds=0.2),),
        )
        async with reading_resources(settings, database, temporal) as resources:
            await open_room(resources)
            async with working(resources), serving(settings, resources, everybody=True) as site:
                yield Kiosk(site, press)
    await database.close()
    databases.take_back(name)


@pytest.fixture
def quiet(watch: Watch) -> None:
    """Pictures of the simulated press may be asked for when it is closing."""
    watch.expected = ("ERR_CONNECTION_REFUSED",)


async def subscribe(page: Page, kiosk: Kiosk, name: str) -> None:
    await page.goto(f"{kiosk.site.url}/reader/add")
    await page.get_by_label("Address of a site or feed").fill(kiosk.press.site_url(name))
    await page.get_by_role("button", name="Find its feed").click()
    button, known = page.get_by_role("button", name="Subscribe").first, page.get_by_text("already subscribed").first
    await expect(button.or_(known).first).to_be_visible()
    if await known.is_visible():
        # Another test of this file did it.
        await page.goto(f"{kiosk.site.url}/reader")
        await page.locator(".sources").get_by_role("link", name=PUBLICATIONS[name].title).click()
    else:
        await button.click()
    await expect(page).to_have_url(re.compile(r"/reader\?list=feed&id=\d+"))


async def test_paste_the_address_of_a_site_and_its_articles_and_summaries_appear_while_it_counts(
    page: Page, kiosk: Kiosk, quiet: None
) -> None:
    await subscribe(page, kiosk, "harbour")
    # Another test of this file may have read one of them.
    await page.goto(f"{page.url}&all=1")
    await page.evaluate("window.here = true")
    count = len(kiosk.press.published("harbour"))
    await expect(page.locator(".entry")).to_have_count(count, timeout=SOON)
    await expect(page.locator(".entry-gist")).to_have_count(count, timeout=SOON)
    assert await page.evaluate("window.here") is True, "without a reload"
    await page.keyboard.press("j")
    newest = kiosk.press.published("harbour")[0]
    await expect(page.locator(".paper > header h1")).to_have_text(newest.title)
    await expect(page.locator(".gist")).to_contain_text("extract")
    await expect(page.locator(".article p").nth(2)).to_be_visible(timeout=SOON)
    await expect(page.locator(".list-name h1")).to_have_text("The Harbour Gazette")
    await expect(page.locator("#works")).to_be_empty(timeout=SOON)


async def test_search_finds_a_phrase_with_a_typo_and_a_word_inside_a_japanese_sentence_and_shows_the_hit(
    page: Page, kiosk: Kiosk, quiet: None
) -> None:
    for name in ("harbour", "yokocho"):
        await subscribe(page, kiosk, name)
        await expect(page.locator(".entry-gist").first).to_be_visible(timeout=SOON)
        await expect(page.locator("#works")).to_be_empty(timeout=SOON)
    await page.goto(f"{kiosk.site.url}/reader")
    await page.keyboard.press("/")
    await page.keyboard.type("harbuor")
    await page.keyboard.press("Enter")
    await expect(page.locator(".entry mark").first).to_have_text(re.compile("harbour", re.IGNORECASE))
    await page.keyboard.press("j")
    await expect(page.locator("article.paper")).to_be_visible()
    await page.goto(f"{kiosk.site.url}/search?q=ferry")
    await page.locator("#inside").get_by_role("link", name="Reader").click()
    await expect(page.locator(".entry mark").first).to_have_text(re.compile("ferry", re.IGNORECASE))
    japanese = kiosk.press.published("yokocho")[0].title
    await page.goto(f"{kiosk.site.url}/reader?q={japanese[1:3]}")
    await expect(page.locator(".entry mark").first).to_be_visible()
    await page.goto(f"{kiosk.site.url}/reader?q=nothinglikethisanywhere")
    await expect(page.get_by_text("Nothing found.")).to_be_visible()


async def test_import_an_opml_with_progress_and_the_broken_ones_named(page: Page, kiosk: Kiosk, quiet: None) -> None:
    good = "".join(f'<outline text="{name}" xmlUrl="{kiosk.press.feed_url(name)}"/>' for name in ("umland", "digest"))
    bad = f'<outline text="Closed" xmlUrl="{kiosk.press.evil_url(Evil.GONE)}"/><outline text="Odd" xmlUrl="ftp://x/y"/>'
    text = f'<opml version="2.0"><body><outline text="Papers">{good}</outline>{bad}</body></opml>'
    await page.goto(f"{kiosk.site.url}/reader/import")
    file = {"name": "feeds.opml", "mimeType": "text/x-opml", "buffer": text.encode()}
    await page.get_by_label("OPML file").set_input_files(file)  # type: ignore[arg-type]
    await page.get_by_role("button", name="Import").click()
    await expect(page.locator("#import-broken")).to_contain_text("Odd")
    await expect(page.locator("#import-failing")).to_contain_text("gone for good", timeout=SOON)
    await expect(page.locator("#import-done")).to_be_visible(timeout=SOON)
    await expect(page.locator("#import-facts")).to_contain_text("Readable")
    await page.reload()
    await expect(page.locator("#import-broken")).to_contain_text("Odd")
    await page.get_by_role("link", name="Start reading").click()
    await expect(page.get_by_role("link", name="Papers")).to_be_visible()
    exported = await (await page.request.get(f"{kiosk.site.url}/opml")).text()
    assert all(kiosk.press.feed_url(name) in exported for name in ("umland", "digest"))


async def test_a_rule_shows_in_a_preview_what_it_would_do(page: Page, kiosk: Kiosk, quiet: None) -> None:
    await subscribe(page, kiosk, "workshop")
    await page.get_by_role("link", name="Health and settings").click()
    await page.get_by_label("Expression").first.fill("h1")
    await page.get_by_label("What to do").first.select_option("remove")
    article = kiosk.press.published("workshop")[0]
    await page.get_by_label("Try the rules on this page").fill(kiosk.press.article_url(article.slug))
    await page.get_by_role("button", name="Preview").click()
    await expect(page.locator("#preview .article")).to_be_visible(timeout=SOON)
    await expect(page.get_by_label("Expression").first).to_have_value("h1")
