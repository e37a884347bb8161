"""The page of one's own apps in a real browser: a password that is shown once, a list that becomes a feed."""

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import PHONE, SCREENSHOTS, Site, has_no_sideways_scroll
from tests.browser.test_looks import LARGEST_PAGE, OVERLAPS
from tests.fakes.newsstand import Newsstand
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.browser


async def test_an_app_gets_its_password_and_a_search_becomes_a_feed(page: Page, site: Site, stand: Newsstand) -> None:
    gazette = await stand.feed("The Harbour Gazette")
    await stand.entry(gazette, "The ferry is late", "<p>Again.</p>")
    await page.goto(f"{site.url}/reader/sources")
    await page.get_by_role("link", name="Your own apps").click()
    await page.get_by_label("Name").fill("phone")
    await page.get_by_role("button", name="Create password").click()
    secret = await page.locator("[data-new-password]").inner_text()
    wish = {"Email": "owner@localhost", "Passwd": secret}
    async with httpx.AsyncClient(base_url=site.url, trust_env=False, timeout=PATIENCE_SECONDS) as app:
        assert "Auth=" in (await app.post("/accounts/ClientLogin", data=wish)).text
        await page.goto(f"{site.url}/reader?list=feed&id={gazette}")
        await page.get_by_role("link", name="As a feed", exact=True).click()
        await expect(page.get_by_text("Feed of “The Harbour Gazette”")).to_be_visible()
        await page.get_by_role("button", name="Create feed").click()
        address = await page.locator("#views li code").inner_text()
        assert "The ferry is late" in (await app.get(address)).text
    await expect(page.locator("[data-new-password]")).to_have_count(0)
    SCREENSHOTS.mkdir(exist_ok=True)
    await page.screenshot(path=SCREENSHOTS / "reader-apps-desktop.png", full_page=True)
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size(PHONE)
    await page.screenshot(path=SCREENSHOTS / "reader-apps-phone-dark.png", full_page=True)
    assert await has_no_sideways_scroll(page)
    assert await page.evaluate(OVERLAPS) == []
    assert len(await page.content()) < LARGEST_PAGE
    await page.get_by_role("button", name="Revoke phone").click()
    await page.get_by_role("button", name="Revoke The Harbour Gazette").click()
    await expect(page.get_by_text("No app has a password yet.")).to_be_visible()
