"""An article in another language, in a real browser, with workers and a simulated DeepL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import pytest
from playwright.async_api import Page, expect
from pydantic import SecretStr

from pressbox.core.progress.sink import ProgressSink
from pressbox.core.temporal.worker import build_workers
from pressbox.curator.articles.sanitizer import sanitise
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.manifest import APP
from pressbox.curator.settings import CuratorSettings
from pressbox.demo.simulators import deepl
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.deepl import DeepLSimulator
from pressbox.demo.simulators.translation_text import Mood
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, Watch, has_no_sideways_scroll, serving
from tests.fakes.newsstand import RICH, Newsstand
from tests.patience import patience

pytestmark = pytest.mark.browser
BODY = sanitise(RICH, "https://example.org/articles/1")


@dataclass
class Bureau:
    """A site whose workers translate by a DeepL of our own."""

    site: Site
    deepl: DeepLSimulator
    entry_id: int

    def tab(self, **words: str) -> str:
        more = "".join(f"&{name}={word}" for name, word in words.items())
        return f"{self.site.url}/reader/entries/{self.entry_id}?tab=translation{more}"


@pytest.fixture
async def bureau(site: Site, stand: Newsstand, watch: Watch) -> AsyncIterator[Bureau]:
    entry_id = await stand.entry(
        await stand.feed("The Harbour Gazette"), "The last ferry", BODY, language="en", content_hash="first"
    )
    async with AsyncExitStack() as stack:
        simulator = await stack.enter_async_context(DeepLSimulator())
        curator = site.settings.group(CuratorSettings).model_copy(
            update={"deepl_url": simulator.url, "deepl_key": SecretStr(deepl.KEY), "speed": 100.0}
        )
        settings = site.settings.with_group(curator)
        resources = replace(site.resources, settings=settings)
        sink = ProgressSink(resources.database)
        writing = asyncio.create_task(sink.run())
        for worker in build_workers(resources, [APP], sink, (QUEUE, HEAVY_QUEUE)):
            await stack.enter_async_context(worker)
        own = await stack.enter_async_context(serving(settings, resources, everybody=True))
        yield Bureau(own, simulator, entry_id)
        watch.over = True
        writing.cancel()


async def test_translate_an_entry_side_by_side_with_structure_links_and_code_kept(
    page: Page, open_page: OpenPage, bureau: Bureau
) -> None:
    bureau.deepl.tell("v2/translate", Kind.BUSY, seconds=1, times=1)
    await page.goto(f"{bureau.site.url}/reader/entries/{bureau.entry_id}")
    await expect(page.get_by_role("link", name="Translation")).to_be_visible()
    await page.keyboard.press("t")
    await expect(page.locator("#own-language")).to_have_text(
        "This article is already in English. Choose another language above."
    )
    await page.locator("select[name=to]").select_option("de")
    await page.get_by_role("button", name="Show").click()
    await page.get_by_role("button", name="Translate into German").click()
    # It waits for its turn, says so, and goes on by itself without a reload.
    await expect(page.locator(".translated-title")).to_have_text("[de] Ťĥé ľášť féřřý", timeout=patience(20_000))
    await expect(page.locator("[id^=translating-]")).to_have_count(0)
    first = page.locator(".pair").first
    await expect(first.locator(".original a").first).to_have_text("six in the morning")
    link = first.locator("[lang=de] a").first
    await expect(link).to_have_attribute("href", "https://example.org/timetable")
    sides = [await first.locator(side).bounding_box() for side in (".original", "[lang=de]")]
    assert sides[0] is not None
    assert sides[1] is not None
    assert sides[0]["x"] + sides[0]["width"] <= sides[1]["x"]
    # What has no words stands once, over both columns.
    (code,) = await page.locator(".pair pre").all_inner_texts()
    assert "def crossing(minutes: int, wind: float) -> str:" in code
    await expect(page.locator(".untranslated")).to_have_count(0)
    SCREENSHOTS.mkdir(exist_ok=True)
    await page.screenshot(path=SCREENSHOTS / "reader-translation-light-wide.png", full_page=True)
    await page.get_by_role("link", name="Only the translation").click()
    await expect(page.locator(".original")).to_have_count(0)
    await page.keyboard.press("t")
    await expect(page.locator(f"#body-{bureau.entry_id}")).to_be_visible()
    await page.go_back()
    await expect(page.locator(".translated-title")).to_be_visible()
    phone = await open_page(PHONE, color_scheme="dark", locale="de-DE", reduced_motion="reduce")
    await phone.goto(bureau.tab(to="de"))
    await phone.screenshot(path=SCREENSHOTS / "reader-translation-dark-phone.png", full_page=True)
    assert await has_no_sideways_scroll(phone)


async def test_a_paragraph_that_was_not_translated_is_marked_and_can_be_tried_again(
    open_page: OpenPage, bureau: Bureau, stand: Newsstand
) -> None:
    bureau.deepl.mood = Mood.LOSES_MARKUP
    page = await open_page(DESKTOP, color_scheme="light", java_script_enabled=False)
    await page.goto(bureau.tab(to="fr"))
    await page.get_by_role("button", name="Translate into French").click()
    while not await page.locator(".untranslated").count() or await page.locator("[id^=translating-]").count():
        await page.goto(bureau.tab(to="fr"))
    marked = page.locator(".untranslated").first
    assert await marked.get_attribute("data-why") == "not translated: links or code got lost on the way"
    assert "six in the morning" in await marked.inner_text()
    await page.screenshot(path=SCREENSHOTS / "reader-translation-marked-light-wide.png", full_page=True)
    bureau.deepl.mood = Mood.GOOD
    await page.get_by_role("button", name="Retry what was not translated").click()
    while await page.locator(".untranslated").count():
        await page.goto(bureau.tab(to="fr"))
    assert "pieces are not translated" not in await page.locator("article").inner_text()
    await stand.change(bureau.entry_id, content_hash="second")
    await page.goto(bureau.tab(to="fr"))
    assert "The text has changed since it was translated." in await page.locator("article").inner_text()
    assert await page.get_by_role("button", name="Translate").count()


async def test_without_any_key_the_tab_says_which_setting_to_set(page: Page, site: Site, stand: Newsstand) -> None:
    entry_id = await stand.entry(await stand.feed("The Harbour Gazette"), "The last ferry", BODY)
    await page.goto(f"{site.url}/reader/entries/{entry_id}?tab=translation")
    assert "DEEPL_API_KEY" in await page.locator("#no-translator").inner_text()
    assert await page.locator(".translate-form").count() == 0
