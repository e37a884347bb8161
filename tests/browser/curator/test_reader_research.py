"""Research as a person sees it: start, watch the steps come, stop, resume, read the report, and take it along."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import delete
from temporalio.worker import Worker

from pressbox.core.temporal.errors import ErrorInterceptor
from pressbox.curator.library.contracts import HEAVY_QUEUE, QUEUE
from pressbox.curator.research.activities import ResearchActivities
from pressbox.curator.research.store import ResearchRunRow, SqlResearch
from pressbox.curator.research.workflow import DeepResearchWorkflow
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.test_looks import OVERLAPS
from tests.fakes.newsstand import Newsstand
from tests.fakes.research import FakePages, FakeResearchWorld

pytestmark = pytest.mark.browser

QUESTION = "Why does the harbour ferry leave before sunrise?"
TEXTS = {
    "The ferry that carries lemons": "The harbour ferry leaves at six, before sunrise. Lemons must not get warm, and "
    "so the ferry carries them in the cold of the morning.",
    "Tides of the outer islands": "The tide decides when a ferry may pass the outer bar of the harbour. Before sunrise "
    "the water is high enough on most days of the year.",
    "A captain looks back": "In 1921 the first captain of the ferry wanted to be home for lunch. Nobody has asked why "
    "the ferry leaves so early ever since.",
    "What the council decided": "The council of the harbour looked at a later ferry twice and kept the early one.",
    "Lemons at the market": "Whoever sells lemons waits for the ferry before sunrise.",
}


async def plant(stand: Newsstand) -> FakeResearchWorld:
    async with stand.resources.database.unit_of_work() as work:
        await work.session.execute(delete(ResearchRunRow))
    world = FakeResearchWorld()
    feed_id = await stand.feed("The Harbour Gazette")
    for title, text in TEXTS.items():
        article = world.article(title, text, readers=(stand.user_id,))
        article.entry_id = await stand.entry(feed_id, title, f"<p>{text}</p>")
    return world


@asynccontextmanager
async def working(site: Site, world: FakeResearchWorld) -> AsyncIterator[None]:
    store, client = SqlResearch(site.resources.database), site.resources.temporal
    made = ResearchActivities(store, world, world, world.researcher, FakePages(world))
    heavy: list[Callable[..., Any]] = [
        made.plan_research,
        made.search_for_research,
        made.read_for_research,
        made.check_research,
        made.write_research,
    ]
    light: list[Callable[..., Any]] = [made.open_research, made.close_research]
    interceptors = [ErrorInterceptor()]
    async with (
        Worker(client, task_queue=QUEUE, workflows=[DeepResearchWorkflow], activities=light, interceptors=interceptors),
        Worker(client, task_queue=HEAVY_QUEUE, activities=heavy, interceptors=interceptors),
    ):
        yield


async def test_start_research_see_its_steps_stop_resume_read_and_export_the_report(
    page: Page, site: Site, stand: Newsstand, tmp_path: Path
) -> None:
    world = await plant(stand)
    async with working(site, world):
        world.paid.hold = asyncio.Event()
        await page.goto(f"{site.url}/reader")
        await page.locator(".sources").get_by_role("link", name="Research").click()
        await expect(page.get_by_text("Nothing has been researched yet.")).to_be_visible()
        await page.get_by_label("Question").fill(QUESTION)
        await page.get_by_role("button", name="Start research").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
        await page.evaluate("window.here = true")
        await expect(page.locator("#step-0")).to_contain_text("Planning the research")
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator("#research-stopping")).to_be_visible()
        world.paid.hold.set()
        await expect(page.locator("#research-stopped")).to_be_visible()
        await expect(page.locator("#step-0 li").first).to_have_text(QUESTION)
        await expect(page.locator(".round-name")).to_have_count(0)
        await page.get_by_role("button", name="Resume").click()
        await page.evaluate("window.here = true")
        await expect(page.locator("#report-text .cite").first).to_have_text("1")
        assert await page.evaluate("window.here") is True, "without a reload"
        await expect(page.locator(".round-name")).to_have_count(2)
        await expect(page.locator("#steps")).to_contain_text("left out")
        await page.locator("#report-text a").first.click()
        await expect(page).to_have_url(re.compile(r"#source-1$"))
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Save as Markdown").click()
        saved = tmp_path / "report.md"
        await (await download.value).save_as(saved)
        assert saved.read_text().startswith(f"# {QUESTION}")
        await page.get_by_text("Delete", exact=True).click()
        await page.get_by_role("button", name="Delete this research").click()
        await expect(page.get_by_text("Nothing has been researched yet.")).to_be_visible()


async def test_pages_of_research_stand_in_both_schemes_and_widths(
    open_page: OpenPage, site: Site, stand: Newsstand
) -> None:
    world = await plant(stand)
    SCREENSHOTS.mkdir(exist_ok=True)
    async with working(site, world):
        page = await open_page(DESKTOP, color_scheme="light", reduced_motion="reduce")
        await page.goto(f"{site.url}/reader/research")
        await page.get_by_label("Question").fill(QUESTION)
        await page.get_by_role("button", name="Start research").click()
        await expect(page.locator("#report-text")).to_be_visible()
        address = page.url
    for scheme, locale, name, viewport in (("light", "en-GB", "wide", DESKTOP), ("dark", "de-DE", "phone", PHONE)):
        page = await open_page(viewport, color_scheme=scheme, locale=locale, reduced_motion="reduce")
        for word, path in (("list", f"{site.url}/reader/research"), ("run", address)):
            await page.goto(path)
            await page.screenshot(path=SCREENSHOTS / f"research-{word}-{scheme}-{name}.png", full_page=True)
            assert await has_no_sideways_scroll(page), path
            assert await page.evaluate(OVERLAPS) == [], path
