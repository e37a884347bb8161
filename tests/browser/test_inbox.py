"""The inbox in two browsers at once: what happens appears in both, and what one does the other sees."""

from dataclasses import replace

import pytest
from playwright.async_api import Page, expect

from pressbox.core.notices.follows import PersonalFollows
from pressbox.core.notices.publish import withdraw
from tests.browser.conftest import PHONE, OpenPage, Site
from tests.fakes.notices import GOAL, TEAM, tell

pytestmark = pytest.mark.browser
EMAIL, PASSWORD = "ada@example.org", "four words in a row"


async def sign_in(page: Page, site: Site) -> Page:
    await page.goto(f"{site.url}/sign-in")
    await page.get_by_label("E-mail").fill(EMAIL)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    return page


async def test_a_goal_its_clip_and_the_referee_arrive_in_two_browsers(open_page: OpenPage, closed_site: Site) -> None:
    database = closed_site.resources.database
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalFollows(database).follow(user.id, TEAM, "Liverpool", "/footy")
    desk = await sign_in(await open_page(), closed_site)
    phone = await sign_in(await open_page(PHONE), closed_site)
    await desk.goto(f"{closed_site.url}/inbox")
    await expect(desk.locator("[data-live]")).to_have_text("Live.")
    await expect(phone.locator("[data-live]")).to_have_text("Live.")
    await expect(desk.get_by_text("Nothing here yet.")).to_be_visible()

    await tell(database, GOAL)
    for page in (desk, phone):
        await expect(page.get_by_role("link", name="Goal for Liverpool by Salah, 23′")).to_be_visible()
        await expect(page.locator("[data-unread-count] b")).to_have_text("1")

    await tell(database, replace(GOAL, detail="Liverpool 1–0 Arsenal. The clip is there."))
    for page in (desk, phone):
        await expect(page.get_by_text("The clip is there.")).to_be_visible()

    async with database.unit_of_work() as work:
        await withdraw(work, [GOAL.key])
    for page in (desk, phone):
        await expect(page.locator("del", has_text="Goal for Liverpool by Salah")).to_be_visible()


async def test_mute_is_one_click_and_undo_another(open_page: OpenPage, closed_site: Site) -> None:
    database = closed_site.resources.database
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalFollows(database).follow(user.id, TEAM, "Liverpool", "/footy")
    await tell(database, replace(GOAL, path="/footy"))
    page = await sign_in(await open_page(), closed_site)
    await page.keyboard.press("g")
    await page.keyboard.press("i")
    await page.get_by_role("button", name="Mute Liverpool").click()
    await expect(page.get_by_text("Liverpool is muted")).to_be_visible()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_text("Liverpool is muted")).to_be_hidden()
    await page.get_by_role("link", name="Goal for Liverpool by Salah, 23′").click()
    await page.goto(f"{closed_site.url}/inbox")
    await expect(page.get_by_role("button", name="Mark as unread")).to_be_visible()


async def test_a_mute_in_one_window_is_offered_to_be_undone_in_the_other(
    open_page: OpenPage, closed_site: Site
) -> None:
    database = closed_site.resources.database
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalFollows(database).follow(user.id, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    desk = await sign_in(await open_page(), closed_site)
    phone = await sign_in(await open_page(PHONE), closed_site)
    for page in (desk, phone):
        await page.goto(f"{closed_site.url}/inbox")
        await expect(page.locator("[data-live]")).to_have_text("Live.")
    await desk.get_by_role("button", name="Mute Liverpool", exact=True).click()
    await expect(desk.get_by_role("button", name="Undo")).to_be_visible()
    await phone.get_by_role("button", name="Unmute Liverpool").click()
    await expect(phone.get_by_role("button", name="Mute Liverpool", exact=True)).to_be_visible()
    await expect(desk.locator("#lines").get_by_role("button", name="Mute Liverpool", exact=True)).to_be_visible()


async def test_lines_are_read_muted_and_undone_by_keyboard(open_page: OpenPage, closed_site: Site) -> None:
    database = closed_site.resources.database
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalFollows(database).follow(user.id, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL, replace(GOAL, key="footy.goal.2", title="Goal for Liverpool by Gakpo, 40′"))
    page = await sign_in(await open_page(), closed_site)
    await page.goto(f"{closed_site.url}/inbox")
    for _ in range(2):
        await page.keyboard.press("j")
    older = page.get_by_role("link", name="Goal for Liverpool by Salah, 23′")
    await expect(older).to_be_focused()
    await page.keyboard.press("u")
    await expect(page.get_by_role("button", name="Mark as unread")).to_have_count(1)
    await expect(older).to_be_focused()
    await page.keyboard.press("m")
    await expect(page.get_by_text("Liverpool is muted")).to_be_visible()
    await page.keyboard.press("z")
    await expect(page.get_by_text("Liverpool is muted")).to_be_hidden()
    await expect(page.get_by_role("button", name="Mute Liverpool", exact=True)).to_have_count(2)
    await page.keyboard.press("a")
    await expect(page.get_by_role("button", name="Mark as unread")).to_have_count(2)


async def test_mute_and_undo_need_no_scripts(open_page: OpenPage, closed_site: Site) -> None:
    database = closed_site.resources.database
    user = await closed_site.accounts.add_user(EMAIL, PASSWORD)
    await PersonalFollows(database).follow(user.id, TEAM, "Liverpool", "/footy")
    await tell(database, GOAL)
    page = await sign_in(await open_page(java_script_enabled=False), closed_site)
    await page.goto(f"{closed_site.url}/inbox")
    for _ in range(2):
        await page.get_by_role("button", name="Mute Liverpool", exact=True).click()
        await page.get_by_role("button", name="Undo").click()
        await expect(page.get_by_text("Liverpool is muted")).to_have_count(0)
    assert [follow.muted for follow in await PersonalFollows(database).list(user.id)] == [False]
