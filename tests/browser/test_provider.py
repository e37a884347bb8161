"""The way to a provider on another site and back, with a real browser: its cookies and our content rules."""

import re

from playwright.async_api import Page, expect
from pydantic import SecretStr

from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import OidcSettings, Settings, WebSettings
from pressbox.demo.simulators.oidc_provider import CLIENT_ID, CLIENT_SECRET, OidcProvider
from tests.browser.conftest import Site, Watch, free_port
from tests.site import ADMIN, PASSWORD


async def test_people_come_in_by_a_provider_and_owners_connect_their_account(
    settings: Settings, resources: Resources, page: Page, watch: Watch
) -> None:
    port = free_port()
    public_url = f"http://localhost:{port}"
    async with OidcProvider() as provider:
        oidc = OidcSettings(
            issuer=provider.issuer,
            client_id=CLIENT_ID,
            client_secret=SecretStr(CLIENT_SECRET),
            button="Our desk",
            create_accounts=True,
        )
        web = WebSettings(port=port, public_url=public_url)
        site = Site(settings.model_copy(update={"web": web, "oidc": oidc}), resources)
        await site.start()
        try:
            await site.accounts.add_user(ADMIN, PASSWORD, role=Role.ADMIN)
            await page.goto(f"{public_url}/sign-in?next=/account")
            await page.get_by_role("link", name="Our desk").click()
            await page.wait_for_url(f"{public_url}/account")
            await expect(page.get_by_role("heading", name="anna@example.org")).to_be_visible()
            await page.get_by_role("button", name="Sign out", exact=True).click()
            await page.wait_for_url(f"{public_url}/signed-out")
            there = await page.get_by_role("link", name="Sign out there as well").get_attribute("href")
            assert (there or "").startswith(f"{provider.url}/leave?")

            provider.state.person = {"sub": "chief"}
            await page.goto(f"{public_url}/sign-in")
            await page.get_by_label("E-mail").fill(ADMIN)
            await page.get_by_label("Password").fill(PASSWORD)
            await page.get_by_role("button", name="Sign in", exact=True).click()
            await page.wait_for_url(f"{public_url}/")
            await page.goto(f"{public_url}/account/second-factor")
            await page.get_by_role("button", name="Connect", exact=True).click()
            await page.get_by_role("link", name="Continue").click()
            await page.wait_for_url(re.compile("/account/second-factor$"))
            await expect(page.get_by_text("You can sign in with it.")).to_be_visible()
            watch.over = True
        finally:
            await site.stop()
