"""The first page and the search in a browser: as one types, by keyboard, live, for a newcomer, on a phone."""

import re
from datetime import timedelta

import pytest
from playwright.async_api import Page, expect

from pressbox.core.accounts.models import Role
from pressbox.core.clock import utc_now
from pressbox.core.notices.follows import PersonalFollows
from pressbox.footy.adapters.directory import SqlDirectory
from pressbox.footy.domain.directory import Entry
from pressbox.footy.domain.views import FollowKind
from pressbox.footy.ids import DAY_TOPIC, TEAM_SUBJECT
from tests.browser.conftest import PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.browser.full_site import EMAIL, PASSWORD, fill
from tests.browser.test_every_page import AXE, RUN
from tests.fakes.footy_day import MatchDay

pytestmark = pytest.mark.browser


async def sign_in(page: Page, site: Site, email: str = EMAIL) -> None:
    await page.goto(f"{site.url}/sign-in")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Today")


async def test_what_is_typed_is_found_and_opened_by_keys_alone(page: Page, closed_site: Site) -> None:
    await fill(closed_site)
    await sign_in(page, closed_site)
    await page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search", exact=True)
    await expect(field).to_be_focused()
    await page.keyboard.type("brigh", delay=20)
    found = page.get_by_role("listbox", name="What is found")
    await expect(found.get_by_role("option").filter(has_text="Leeds")).to_be_visible()
    await expect(field).to_have_attribute("aria-expanded", "true")
    await page.evaluate(AXE)
    assert await page.evaluate(RUN, None) == []
    await page.keyboard.press("Escape")
    await expect(found).to_be_hidden()
    await expect(field).to_have_value("brigh")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await expect(found.locator("[aria-selected=true]")).to_have_text("Show everything that is found")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(f"{closed_site.url}/search?q=brigh")
    await page.get_by_role("combobox", name="Search", exact=True).fill("wolver")
    option = page.get_by_role("option").filter(has_text="Wolverhampton")
    await expect(option.first).to_be_visible()
    while await option.first.get_attribute("aria-selected") != "true":
        await page.keyboard.press("ArrowDown")
    chosen = await option.first.get_attribute("id")
    await expect(page.get_by_role("combobox", name="Search", exact=True)).to_have_attribute(
        "aria-activedescendant", chosen or ""
    )
    await page.keyboard.press("Enter")
    await expect(page).not_to_have_url(f"{closed_site.url}/search?q=brigh")


async def test_the_search_works_without_scripts(open_page: OpenPage, closed_site: Site) -> None:
    await fill(closed_site)
    page = await open_page(java_script_enabled=False)
    await sign_in(page, closed_site)
    await page.get_by_role("searchbox").fill("brigh")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Brighton 2–2 Leeds")).to_be_visible()
    await page.goto(f"{closed_site.url}/today/arrange")
    await page.get_by_role("button", name="Hide: Stories").press("Enter")
    await expect(page.get_by_role("button", name="Show: Stories")).to_be_visible()
    await page.goto(closed_site.url)
    await expect(page.locator("#today-stories")).to_have_count(0)


async def test_the_first_page_changes_without_reloading(page: Page, closed_site: Site) -> None:
    full = await fill(closed_site)
    database = closed_site.resources.database
    await PersonalFollows(database).follow(1, f"{TEAM_SUBJECT}8001", "Arsenal", "/footy")
    await sign_in(page, closed_site)
    await page.evaluate("window.stayed = true")
    day = MatchDay(closed_site.resources)
    await day.fixture(8, "Arsenal", "Everton", home_id=8001, status="2H", home_goals=0, away_goals=0)
    async with database.unit_of_work() as work:
        work.changed(DAY_TOPIC, "now")
    await expect(page.locator("#today-matches")).to_contain_text("Arsenal 0–0 Everton")
    assert await page.evaluate("window.stayed") is True
    assert full.planted


async def test_a_newcomer_types_a_team_and_gets_its_next_match(open_page: OpenPage, closed_site: Site) -> None:
    await closed_site.accounts.add_user(EMAIL, PASSWORD, role=Role.ADMIN, name="Ada")
    day = MatchDay(closed_site.resources)
    kickoff = utc_now() + timedelta(days=2)
    await day.fixture(9, "Brighton", "Leeds", status="NS", stage="staging", kickoff=kickoff, home_goals=None)
    known = Entry(FollowKind.TEAM, 91, "Brighton", "England")
    await SqlDirectory(closed_site.resources.database).save([known])
    page = await open_page(viewport=PHONE)
    await sign_in(page, closed_site)
    await page.get_by_label("Your team").fill("Brighto")
    await expect(page.locator("#found .star").first).to_be_visible()
    await page.get_by_label("Your team").press("Enter")
    await expect(page.locator("#today-matches")).to_contain_text("Brighton – Leeds")
    await expect(page.locator("#first-matches")).to_have_count(0)
    await expect(page.get_by_label("A site you like to read")).to_be_visible()
    await page.get_by_label("Something that is coming up").fill("Dinner with Anna on Friday at 19:30")
    await page.get_by_role("button", name="Make it an event").click()
    await expect(page.get_by_label("Name", exact=True)).to_have_value("Dinner with Anna")
    await expect(page.get_by_label("Start")).to_have_value(re.compile("T19:30$"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_first_page_looks_as_it_should(open_page: OpenPage, closed_site: Site, scheme: str) -> None:
    await closed_site.accounts.add_user("new@example.org", PASSWORD, role=Role.MEMBER, name="New")
    new = await open_page(color_scheme=scheme)
    await sign_in(new, closed_site, "new@example.org")
    SCREENSHOTS.mkdir(exist_ok=True)
    await new.screenshot(path=SCREENSHOTS / f"today-new-{scheme}.png", full_page=True)
    await fill(closed_site)
    for name, viewport in (("wide", None), ("phone", PHONE)):
        page = await (open_page(viewport=viewport, color_scheme=scheme) if viewport else open_page(color_scheme=scheme))
        await sign_in(page, closed_site)
        assert await has_no_sideways_scroll(page)
        await page.screenshot(path=SCREENSHOTS / f"today-{name}-{scheme}.png", full_page=True)
        await page.get_by_role("combobox", name="Search", exact=True).fill("b")
        await expect(page.get_by_role("option").first).to_be_visible()
        await page.screenshot(path=SCREENSHOTS / f"search-{name}-{scheme}.png")
        await page.evaluate(AXE)
        assert await page.evaluate(RUN, None) == []
