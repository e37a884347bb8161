"""What people do, from the set-up link to the status page: with a mouse, with keys, on a phone, without scripts."""

import secrets
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page, expect

from pressbox.core.accounts.models import Role
from pressbox.core.progress.contracts import ProgressState
from pressbox.core.temporal.schedules import declared_schedules, reconcile
from pressbox.entry.manifests import APPLICATIONS
from tests.browser.conftest import PHONE, OpenPage, Site, Watch, Work, arrived, has_no_sideways_scroll
from tests.waiting import look_until

pytestmark = pytest.mark.browser

PASSWORD = "four words in a row"
REFUSED_FORM = ("422 (Unprocessable",)


@pytest.fixture
async def schedules(site: Site) -> AsyncIterator[None]:
    declarations = declared_schedules(site.resources, APPLICATIONS)
    await reconcile(site.resources, declarations)
    yield
    for declaration in declarations:
        await site.resources.temporal.get_schedule_handle(declaration.id).delete()


async def test_from_the_set_up_link_to_the_status_page(page: Page, closed_site: Site, watch: Watch) -> None:
    watch.expected = REFUSED_FORM
    site = closed_site
    await page.goto(f"{site.url}/activity")
    await expect(page).to_have_url(f"{site.url}/sign-in?next=/activity")
    link = await site.accounts.create_setup_link()
    await page.goto(f"{site.url}/set-up?token={link}")
    await expect(page.get_by_role("heading", level=2)).to_have_text(["Your account", "What to follow", "Keys and mail"])
    await page.get_by_label("E-mail").fill("ada@example.org")
    await page.get_by_label("Password").fill("aaaaaaaaaaaa")
    await page.get_by_role("button", name="Create account").click()
    await expect(page.locator("#e-password")).to_contain_text("repeats one character")
    await expect(page.get_by_label("E-mail")).to_have_value("ada@example.org")
    await expect(page.get_by_label("Password")).to_have_value("")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Create account").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Today")
    await page.get_by_role("link", name="Activity", exact=True).first.click()
    await expect(page.get_by_text("Nothing is running right now.")).to_be_visible()
    await page.get_by_role("link", name="Status").click()
    await expect(page.get_by_role("row", name="Database")).to_contain_text("PostgreSQL answered")


async def test_account_page_makes_and_revokes_a_token_and_changes_the_password(
    page: Page, closed_site: Site, watch: Watch
) -> None:
    watch.expected = REFUSED_FORM
    await closed_site.accounts.add_user("ada@example.org", PASSWORD, role=Role.ADMIN)
    await page.goto(f"{closed_site.url}/account")
    await page.get_by_label("E-mail").fill("ada@example.org")
    await page.get_by_label("Password").fill("not this one")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page).to_have_url(f"{closed_site.url}/account")
    await page.get_by_label("Name", exact=True).fill("phone")
    await page.get_by_role("button", name="Create token").click()
    token = await page.locator("[data-new-token]").text_content()
    assert token
    assert token.startswith("pbx_")
    await page.reload()
    await expect(page.locator("[data-new-token]")).to_have_count(0)
    await page.get_by_role("button", name="Revoke phone").click()
    await expect(page.get_by_text("No tokens yet.")).to_be_visible()
    await page.get_by_label("Current password").fill("wrong wrong wrong")
    await page.get_by_label("New password").fill("another four words here")
    await page.get_by_role("button", name="Change password").click()
    await expect(page.locator("#e-current_password")).to_be_visible()
    await page.get_by_label("Language", exact=True).select_option("de")
    await page.get_by_role("region", name="Profile").get_by_role("button", name="Save").click()
    await expect(page.get_by_role("link", name="Aktivität")).to_be_visible()
    await expect(page.locator("html")).to_have_attribute("lang", "de")


async def test_everything_is_reached_by_keys_alone(page: Page, site: Site, work: Work) -> None:
    await work.report("one", "The only work", done=1, total=2)
    await page.goto(f"{site.url}/")
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    outline = await skip.evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("g")
    await page.keyboard.press("a")
    await arrived(page, f"{site.url}/activity")
    await page.keyboard.press("/")
    await expect(page.get_by_role("combobox", name="Search", exact=True)).to_be_focused()
    await page.keyboard.type("only g a ?")
    await expect(page.get_by_role("combobox", name="Search", exact=True)).to_have_value("only g a ?")
    await page.get_by_role("combobox", name="Search", exact=True).fill("only work")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("only work")
    await expect(page.locator('[data-workflow="one"]')).to_be_visible()
    await page.wait_for_load_state()
    for letter, path in (("m", "/footy"), ("e", "/events"), ("s", "/status"), ("r", "/reader"), ("h", "/")):
        await page.keyboard.press("g")
        await page.keyboard.press(letter)
        await arrived(page, f"{site.url}{path}")


async def test_every_focusable_thing_shows_its_focus(page: Page, site: Site, work: Work) -> None:
    await work.report("one", "Some work", done=1, total=2)
    await page.goto(f"{site.url}/activity")
    reached = set()
    for _ in range(40):
        await page.keyboard.press("Tab")
        seen = await page.evaluate(
            "() => { const e = document.activeElement, s = getComputedStyle(e);"
            " return e === document.body ? null : [e.tagName + (e.textContent || e.name).trim().slice(0, 20),"
            " s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0] }"
        )
        if seen is None:
            break
        name, visible = seen
        assert visible, name
        reached.add(name)
    assert {"ASome work", "ACancel", "AStatus"} <= reached


async def test_a_phone_has_everything_within_reach_of_a_thumb(open_page: OpenPage, site: Site, work: Work) -> None:
    await work.report("ingest", "Ingesting 48 feeds of considerable length and number", done=31, total=48)
    await work.report("feed", "example.org", parent_workflow_id="ingest", done=1, total=5)
    await work.report("bad", "Broken", state=ProgressState.FAILED, error="A-long-reason-without-any-space" * 5)
    page = await open_page(PHONE, has_touch=True)
    for path in (
        "/",
        "/activity",
        "/activity/ingest",
        "/status",
        "/account",
        "/footy",
        "/api/docs",
        "/search?q=feed",
    ):
        await page.goto(f"{site.url}{path}")
        assert await has_no_sideways_scroll(page), path
    await page.goto(f"{site.url}/activity")
    places = page.locator(".places a")
    await expect(places).to_have_count(6)
    for place in await places.all():
        box = await place.bounding_box()
        assert box
        assert box["height"] >= 44
        assert box["width"] >= 44
        assert box["y"] > PHONE["height"] - 70
    for button in await page.locator("main button:visible, main .button:visible").all():
        box = await button.bounding_box()
        assert box
        assert box["height"] >= 40, await button.text_content()
    await page.get_by_role("link", name="Account").tap()
    await expect(page).to_have_url(f"{site.url}/account")


async def test_forms_work_without_scripts(open_page: OpenPage, site: Site, work: Work, schedules: None) -> None:
    page = await open_page(java_script_enabled=False)
    await work.report("long", "A long piece of work")
    await page.goto(f"{site.url}/activity")
    await page.get_by_role("link", name="Cancel").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Cancel this?")
    await page.get_by_role("link", name="Keep it running").click()
    await page.goto(f"{site.url}/status")
    row = page.locator("#schedule-core-maintenance")
    await row.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await row.get_by_role("button", name="Resume").click()
    await expect(row.locator(".state")).to_have_text("on")


async def test_a_schedule_is_paused_in_place(page: Page, site: Site, schedules: None) -> None:
    await page.goto(f"{site.url}/status")
    await page.evaluate("window.here = true")
    row = page.locator("#schedule-core-maintenance")
    await row.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    await row.get_by_role("button", name="Resume").click()
    await expect(row.locator(".state")).to_have_text("on")
    assert await page.evaluate("window.here") is True


async def test_the_colour_scheme_follows_the_system_and_then_the_reader(open_page: OpenPage, site: Site) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = await open_page(color_scheme="light"), await open_page(color_scheme="dark")
    for page in (light, dark):
        await page.goto(f"{site.url}/styleguide")
    paper, night = await light.evaluate(background), await dark.evaluate(background)
    assert paper != night
    await light.get_by_label("Colours").select_option("dark")
    assert await light.evaluate(background) == night
    await light.goto(f"{site.url}/activity")
    assert await light.evaluate(background) == night


async def test_times_are_those_of_the_reader(open_page: OpenPage, site: Site, work: Work) -> None:
    await work.report("one", "Some work")
    page = await open_page(timezone_id="Asia/Tokyo")
    await page.goto(f"{site.url}/activity")
    moment = page.locator('[data-workflow="one"] .started time')
    in_tokyo = await moment.evaluate(
        "e => new Date(e.dateTime).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'})"
    )
    await expect(moment).to_contain_text(in_tokyo)
    answer = await page.request.get(f"{site.url}/activity")
    assert f"{in_tokyo}</time>" in await answer.text(), "the server knows the zone from then on"


async def test_going_back_keeps_the_place(page: Page, site: Site) -> None:
    await page.goto(f"{site.url}/styleguide")
    await page.evaluate("scrollTo(0, 900)")
    await page.goto(f"{site.url}/footy")
    await page.go_back()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Style guide")
    await page.wait_for_function("scrollY > 800")


async def test_an_administrator_opens_temporals_own_pages(page: Page, site: Site, watch: Watch) -> None:
    """They load under our content rules, on our address and behind our sign-in."""
    watch.expected = ("favicon.ico",)
    client, name = site.resources.temporal, f"shown-{secrets.token_hex(4)}"
    handle = await client.start_workflow("Nobody", id=name, task_queue="nobody")

    async def listed() -> bool:
        return [each.id async for each in client.list_workflows(f"WorkflowId = '{name}'")] == [name]

    try:
        # The page loads its list once, and Temporal lists a moment after it starts.
        await look_until(listed, what="the list with the new workflow")
        await page.goto(f"{site.url}/activity")
        await page.get_by_role("link", name="Temporal", exact=True).click()
        await expect(page.get_by_role("link", name=name)).to_be_visible()
        assert page.url.startswith(f"{site.url}/temporal/")
    finally:
        await handle.terminate()
