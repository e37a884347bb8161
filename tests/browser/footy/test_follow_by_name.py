"""Teams and leagues are found as one types and followed with a star, by keyboard alone and without scripts."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import OpenPage, Site
from tests.fakes.footy_day import MatchDay

pytestmark = pytest.mark.browser


@pytest.fixture
async def nothing_chosen(site: Site) -> AsyncIterator[None]:
    day = MatchDay(site.resources)
    await day.clear()
    yield
    await day.clear()


async def test_a_team_is_found_and_followed_by_keyboard(page: Page, site: Site, nothing_chosen: None) -> None:
    await page.goto(f"{site.url}/footy/follow")
    await page.keyboard.type("arsen")
    star = page.get_by_role("button", name="Follow Arsenal · England", exact=True)
    await expect(star).to_have_attribute("aria-pressed", "false")
    await page.keyboard.press("ArrowDown")
    await expect(star).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#found").get_by_role("button", pressed=True)).to_have_count(1)
    await expect(page.locator("#said")).to_contain_text("You follow Arsenal now.")
    await expect(page.locator("#followed")).to_contain_text("Arsenal")
    await page.locator("#followed").get_by_role("button", name="Follow Arsenal · England").click()
    await expect(page.locator("#followed")).not_to_contain_text("Arsenal")
    await page.locator("#names").fill("qqqqq")
    await expect(page.locator("#found")).to_contain_text("No team or league of this name")


async def test_without_scripts_the_star_is_a_form(open_page: OpenPage, site: Site, nothing_chosen: None) -> None:
    page = await open_page(java_script_enabled=False)
    await page.goto(f"{site.url}/footy/follow")
    await page.locator("#names").fill("arsenal")
    await page.get_by_role("button", name="Search", exact=True).click()
    await page.get_by_role("button", name="Follow Arsenal · England", exact=True).click()
    await expect(page.locator("#said")).to_contain_text("You follow Arsenal now.")
    await expect(page.locator("#names")).to_have_value("arsenal")
