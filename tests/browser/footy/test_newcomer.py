"""A newcomer types a team and gets its next match, a reminder and the first goal, without reading anything."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Page, expect

from pressbox.footy.domain.fixtures import FixtureStatus
from pressbox.matchday.watch import build_store
from tests.browser.conftest import PHONE, SCREENSHOTS, OpenPage, Site, has_no_sideways_scroll
from tests.integration.footy.footy_world import World, goal, match, with_goals

pytestmark = pytest.mark.browser
EMAIL, PASSWORD = "ada@example.org", "four words in a row"
SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=20)


async def sign_in(page: Page, site: Site) -> Page:
    await page.goto(f"{site.url}/sign-in")
    await page.get_by_label("E-mail").fill(EMAIL)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    return page


async def photograph(page: Page, name: str) -> None:
    SCREENSHOTS.mkdir(exist_ok=True)
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}.png", full_page=True)
    await page.emulate_media(color_scheme="light")


async def test_a_team_is_typed_and_its_match_reminder_and_goal_come(open_page: OpenPage, closed_site: Site) -> None:
    await closed_site.accounts.add_user(EMAIL, PASSWORD)
    database = closed_site.resources.database
    world = World(database)
    waiting = match(kickoff=SOON, status=FixtureStatus.NOT_STARTED, elapsed=None, home_goals=None, away_goals=None)
    later = match(2, kickoff=SOON + timedelta(days=4), status=FixtureStatus.NOT_STARTED, elapsed=None, venue="Anfield")
    over = with_goals(3, goal(23), goal(70), status=FixtureStatus.FULL_TIME, kickoff=SOON - timedelta(days=6))
    await world.ingest(waiting, later, over)
    page = await sign_in(await open_page(), closed_site)
    await page.goto(f"{closed_site.url}/footy/follow")
    await page.keyboard.type("liverp")
    star = page.locator("#found").get_by_role("button", name="Follow Liverpool · England", exact=True)
    await expect(star).to_be_visible()
    await page.keyboard.press("ArrowDown")
    await expect(star).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#said")).to_contain_text("You follow Liverpool now.")
    await expect(page.locator("#followed-team-40")).to_contain_text("Liverpool – Arsenal")

    # What the worker does that saw the change.
    store = build_store(closed_site.resources)
    assert await store.keep(await store.find_all(0, 10)) == 0
    await page.goto(f"{closed_site.url}/events")
    await expect(page.get_by_role("link", name="Liverpool – Arsenal").first).to_be_visible()
    await page.goto(f"{closed_site.url}/footy/follow")
    await page.locator("#followed").get_by_role("link", name="Liverpool", exact=True).click()
    await expect(page.locator("#next")).to_contain_text("Arsenal")
    await expect(page.get_by_label("15 minutes before")).to_be_checked()
    await expect(page.get_by_label("Goals")).to_be_checked()
    await page.get_by_label("Red cards").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    await expect(page.get_by_label("Red cards")).to_be_checked()
    await photograph(page, "team-wide")

    phone = await sign_in(await open_page(PHONE), closed_site)
    for path, name in (("/footy/teams/40", "team"), ("/follows", "follows"), ("/footy/matches/1", "match")):
        await phone.goto(f"{closed_site.url}{path}")
        assert await has_no_sideways_scroll(phone), path
        await photograph(phone, f"{name}-phone")
        await page.goto(f"{closed_site.url}{path}")
        await photograph(page, f"{name}-wide")

    await world.polls.record_staging([match(kickoff=SOON)], {}, world.now)
    await world.polls.activate("monitor-0", world.policy, SOON)
    await phone.goto(f"{closed_site.url}/inbox")
    await expect(phone.locator("[data-live]")).to_have_text("Live.")
    await world.poll(with_goals(1, goal(23), kickoff=SOON), times=3)
    await expect(phone.get_by_role("link", name="Goal for Liverpool by Mohamed Salah, 23′")).to_be_visible()
