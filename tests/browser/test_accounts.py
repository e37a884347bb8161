"""From the invitation to the end of an account: on a phone, in German for the newcomer, without scripts."""

import pytest
from playwright.async_api import Page, expect

from pressbox.core.accounts.models import Role
from tests.browser.conftest import PHONE, SCREENSHOTS, OpenPage, Site, Watch, has_no_sideways_scroll

pytestmark = pytest.mark.browser

PASSWORD = "four words in a row"


async def sign_in(page: Page, site: Site, email: str) -> None:
    await page.goto(f"{site.url}/account")
    await page.locator("#f-email").fill(email)
    await page.locator("#f-password").fill(PASSWORD)
    await page.locator("main button.primary").click()
    await expect(page).to_have_url(f"{site.url}/account")


async def look(page: Page, name: str) -> None:
    assert await has_no_sideways_scroll(page)
    SCREENSHOTS.mkdir(exist_ok=True)
    await page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


async def test_somebody_is_invited_reads_the_log_and_leaves(
    open_page: OpenPage, closed_site: Site, watch: Watch
) -> None:
    site = closed_site
    await site.accounts.add_user("ada@example.org", PASSWORD, role=Role.ADMIN)
    admin = await open_page(PHONE, java_script_enabled=False)
    await sign_in(admin, site, "ada@example.org")
    await look(admin, "account-phone")
    await admin.get_by_role("link", name="Users").click()
    await admin.get_by_label("E-mail").fill("ben@example.org")
    await admin.get_by_role("button", name="Invite").click()
    link = await admin.locator("[data-new-link]").text_content()
    assert link
    await look(admin, "users-phone")

    ben = await open_page(PHONE, java_script_enabled=False, locale="de-DE")
    await ben.goto(link)
    await ben.get_by_label("Neues Passwort").fill(PASSWORD)
    await ben.get_by_role("button", name="Passwort speichern").click()
    await expect(ben.locator(".notice")).to_contain_text("Dein Passwort ist gespeichert")
    await sign_in(ben, site, "ben@example.org")
    await ben.get_by_role("link", name="Exportieren oder löschen").click()
    await look(ben, "own-data-phone")
    async with ben.expect_download() as download:
        await ben.get_by_role("button", name="Herunterladen").click()
    assert (await download.value).suggested_filename.endswith(".zip")

    await admin.get_by_role("link", name="Audit log").click()
    await expect(admin.get_by_role("row", name="Data exported")).to_be_visible()
    await look(admin, "audit-phone")
    await admin.goto(f"{site.url}/users")
    await admin.get_by_role("link", name="ben@example.org").click()
    await look(admin, "user-phone")

    await ben.get_by_label("Zum Bestätigen ben@example.org eintippen").fill("ben@example.org")
    await ben.get_by_role("button", name="Dein Konto löschen").click()
    await expect(ben.locator(".notice")).to_contain_text("Dein Konto ist gelöscht")
    assert [user.email for user in await site.accounts.users()] == ["ada@example.org"]
