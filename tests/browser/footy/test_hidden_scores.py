"""A hidden score is shown by a button, in both colours and on a phone, by keyboard and without scripts."""

from datetime import timedelta

import pytest
from playwright.async_api import Page, expect

from pressbox.core.clock import utc_now
from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.spoilers.choice import choose
from pressbox.core.spoilers.store import PersonalSpoilers
from tests.browser.conftest import DESKTOP, PHONE, SCREENSHOTS, OpenPage, Site
from tests.fakes.footy_day import MatchDay
from tests.integration.footy.footy_world import World, goal, match, with_goals
from tests.integration.web.spoiler_ground import pass_minutes

pytestmark = pytest.mark.browser
EMAIL, PASSWORD = "ada@example.org", "four words in a row"


async def sign_in(page: Page, site: Site) -> Page:
    await page.goto(f"{site.url}/sign-in")
    await page.get_by_label("E-mail").fill(EMAIL)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page).to_have_url(f"{site.url}/")
    return page


async def photograph(page: Page, name: str) -> None:
    """Wide and light, small and dark, for whoever looks at it."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for look, scheme, size in (("light", "light", DESKTOP), ("dark-phone", "dark", PHONE)):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await page.set_viewport_size(size)
        await page.screenshot(path=SCREENSHOTS / f"{name}-{look}.png", full_page=True)
    await page.set_viewport_size(DESKTOP)


async def test_one_looks_at_a_score_by_a_button(open_page: OpenPage, closed_site: Site) -> None:
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalSpoilers(closed_site.resources.database).choose(user.id, choose("hidden"))
    day = MatchDay(closed_site.resources)
    first = await day.fixture(1, "Liverpool", "Arsenal", home_goals=2, away_goals=1)
    await day.fixture(2, "Chelsea", "Everton")
    await day.goal(first, "Mohamed Salah", 23)
    for scripts in (True, False):
        page = await sign_in(await open_page(java_script_enabled=scripts), closed_site)
        await page.goto(f"{closed_site.url}/footy")
        await expect(page.locator("body")).not_to_contain_text("Salah")
        look = page.get_by_role("button", name="Show the score of Liverpool – Arsenal")
        if scripts:
            await photograph(page, "hidden-day")
            await page.goto(f"{closed_site.url}/footy/matches/{first}")
            await expect(page.locator("#covered")).to_be_visible()
            await photograph(page, "hidden-match")
            await look.focus()
            await page.keyboard.press("Enter")
            await expect(page.locator("#timeline")).to_contain_text("Mohamed Salah")
            await PersonalSpoilers(closed_site.resources.database).conceal(user.id, [f"footy.fixture.{first}"])
        else:
            await look.click()
            await expect(page.locator(f"#fixture-{first}")).to_contain_text("Salah")
            await expect(page.get_by_role("button", name="Show the score of Chelsea – Everton")).to_be_visible()


async def test_the_choice_is_made_on_the_account_page(open_page: OpenPage, closed_site: Site) -> None:
    await closed_site.accounts.add_user(EMAIL, PASSWORD)
    page = await sign_in(await open_page(), closed_site)
    await page.goto(f"{closed_site.url}/account")
    await page.get_by_label("Some minutes later").check()
    await page.get_by_label("Minutes later", exact=True).fill("25")
    await page.locator("form", has=page.get_by_label("Some minutes later")).get_by_role("button", name="Save").click()
    await expect(page.get_by_text("It counts everywhere from now on.")).to_be_visible()
    await expect(page.get_by_label("Some minutes later")).to_be_checked()
    await photograph(page, "account-scores")


async def test_who_wants_scores_later_sees_them_come_without_reloading(open_page: OpenPage, closed_site: Site) -> None:
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    database = closed_site.resources.database
    await PersonalSpoilers(database).choose(user.id, choose("delay", 10))
    await PersonalFollows(database).follow(user.id, "footy.team.40", "Liverpool", "/footy")
    world, kickoff = World(database), utc_now() - timedelta(minutes=30)
    world.now = utc_now() - timedelta(minutes=20)
    await world.ingest(match(kickoff=kickoff))
    pages = {"/": "#today-matches", "/footy/matches/1": "#head", "/footy/teams/40": "#next"}
    windows: list[tuple[Page, str]] = []
    for path, part in pages.items():
        page = await open_page()
        # Their clock is moved below: each asks again every half minute.
        await page.clock.install()
        await sign_in(page, closed_site)
        await page.goto(f"{closed_site.url}{path}")
        await page.evaluate("window.stayed = true")
        windows.append((page, part))
    world.now = utc_now()
    await world.poll(with_goals(1, goal(23), kickoff=kickoff), times=3)
    for page, part in windows:
        await page.clock.run_for(32_000)
        await expect(page.locator(part)).not_to_contain_text("1–0")
    await pass_minutes(database, 12)
    for page, part in windows:
        await page.clock.run_for(32_000)
        await expect(page.locator(part)).to_contain_text("1–0")
        assert await page.evaluate("window.stayed") is True
