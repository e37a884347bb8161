"""Passkeys with a real browser and its virtual authenticator."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import CDPSession, Page, expect
from sqlalchemy import select, text, update

from pressbox.core.accounts.factor_rows import PasskeyRow
from pressbox.core.accounts.models import Role
from pressbox.core.app import Resources
from pressbox.core.config import Settings, WebSettings
from tests.browser.conftest import PHONE, OpenPage, Site, Watch, free_port, has_no_sideways_scroll
from tests.site import ADMIN, MEMBER, PASSWORD

PAGE = "/account/second-factor"


class Device:
    """The browser's authenticator: a telephone or a key on a chain."""

    def __init__(self, session: CDPSession, id: str) -> None:
        self._session, self._id = session, id

    @classmethod
    async def plug_in(cls, page: Page) -> "Device":
        session = await page.context.new_cdp_session(page)
        await session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        made = await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        return cls(session, made["authenticatorId"])

    async def credentials(self) -> list[dict[str, Any]]:
        found = await self._session.send("WebAuthn.getCredentials", {"authenticatorId": self._id})
        return list(found["credentials"])

    async def verify_people(self, verified: bool) -> None:
        wanted = {"authenticatorId": self._id, "isUserVerified": verified}
        await self._session.send("WebAuthn.setUserVerified", wanted)


@pytest.fixture
async def named_site(settings: Settings, resources: Resources, watch: Watch) -> AsyncIterator[Site]:
    """With a public address, and an administrator and a member."""
    port = free_port()
    web = WebSettings(port=port, public_url=f"http://localhost:{port}")
    site = Site(settings.model_copy(update={"web": web}), resources)
    await site.start()
    await site.accounts.add_user(ADMIN, PASSWORD, role=Role.ADMIN)
    await site.accounts.add_user(MEMBER, PASSWORD)
    watch.expected = ("422", "the server responded with a status of 4")
    try:
        yield site
        watch.over = True
    finally:
        await site.stop()


def address(site: Site, path: str) -> str:
    return f"{site.settings.web.public_url}{path}"


async def sign_in(page: Page, site: Site, email: str) -> None:
    await page.goto(address(site, "/sign-in"))
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def add_passkey(page: Page, site: Site, name: str) -> None:
    await page.goto(address(site, PAGE))
    await page.get_by_label("Name", exact=True).fill(name)
    await page.get_by_role("button", name="Add passkey").click()


async def sign_out(page: Page, site: Site) -> None:
    await page.context.clear_cookies()
    await page.goto(address(site, "/sign-in"))


async def test_a_passkey_is_added_signs_in_without_a_password_and_as_second_factor(
    named_site: Site, page: Page, open_page: OpenPage
) -> None:
    device = await Device.plug_in(page)
    await sign_in(page, named_site, ADMIN)
    await add_passkey(page, named_site, "phone")
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    codes = (await page.locator("[data-recovery-codes]").inner_text()).split()
    assert len(codes) == 10
    (credential,) = await device.credentials()
    assert credential["isResidentCredential"]
    await page.get_by_role("link", name="I have kept them").click()
    await expect(page.get_by_text("phone", exact=True)).to_be_visible()

    await sign_out(page, named_site)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.wait_for_url(address(named_site, "/"))

    await sign_out(page, named_site)
    await sign_in(page, named_site, ADMIN)
    await page.wait_for_url(re.compile("/sign-in/second$"))
    await page.get_by_role("button", name="Use a passkey").click()
    await page.wait_for_url(address(named_site, "/"))

    # Another device of the same person; the first refuses to hold a second key for the account.
    await add_passkey(page, named_site, "phone again")
    await expect(page.get_by_text("has a passkey for this account already")).to_be_visible()
    second = await open_page()
    await Device.plug_in(second)
    await sign_in(second, named_site, ADMIN)
    await second.get_by_label("Recovery code").fill(codes[0])
    await second.get_by_role("button", name="Sign in", exact=True).click()
    await second.wait_for_url(address(named_site, "/"))
    await add_passkey(second, named_site, "key on the chain")
    await expect(second.get_by_text("The passkey is added.")).to_be_visible()
    await expect(second.get_by_role("button", name="Remove phone")).to_be_visible()
    await second.get_by_role("button", name="Remove phone").click()
    await expect(second.get_by_text("is removed")).to_be_visible()
    await sign_out(page, named_site)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_text("was not accepted")).to_be_visible()


async def test_a_copied_key_a_foreign_answer_and_one_without_finger_or_pin_are_refused(
    named_site: Site, page: Page
) -> None:
    device = await Device.plug_in(page)
    await sign_in(page, named_site, ADMIN)
    await add_passkey(page, named_site, "phone")
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    database = named_site.resources.database

    # The counter of a copy lags behind the one we saw.
    async with database.unit_of_work() as work:
        await work.session.execute(update(PasskeyRow).values(sign_count=1000))
    await sign_out(page, named_site)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_text("was not accepted")).to_be_visible()
    async with database.unit_of_work() as work:
        await work.session.execute(update(PasskeyRow).values(sign_count=0))

    # The same answer twice, as somebody who saw it would send it.
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await page.wait_for_url(address(named_site, "/"))
    answer = next(body for body in sent if "credential=" in body)
    await page.context.clear_cookies()
    replayed = await page.context.request.post(
        address(named_site, "/sign-in/passkey"),
        data=answer,
        headers={
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": named_site.settings.web.public_url or "",
        },
    )
    assert replayed.status == 422

    # A member's second step is not passed with the administrator's key.
    async with database.unit_of_work() as work:
        owner = (await work.session.execute(select(PasskeyRow))).scalar_one()
        await work.session.execute(
            text(
                "INSERT INTO core.passkeys (user_id, user_handle, credential_id, public_key, sign_count, name)"
                " SELECT id, 'other', 'other', 'other', 0, 'other' FROM core.users WHERE email = :email"
            ),
            {"email": MEMBER},
        )
    assert owner.name == "phone"
    await sign_in(page, named_site, MEMBER)
    await page.wait_for_url(re.compile("/sign-in/second$"))
    await page.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_text("gave no passkey")).to_be_visible()

    await device.verify_people(False)
    await sign_out(page, named_site)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_text("gave no passkey")).to_be_visible()


async def test_without_scripts_a_text_says_so_and_the_password_works(named_site: Site, open_page: OpenPage) -> None:
    page = await open_page(PHONE, java_script_enabled=False)
    await page.goto(address(named_site, "/sign-in"))
    await expect(page.get_by_text("Passkeys need a browser with scripts switched on.")).to_be_visible()
    await expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    await sign_in(page, named_site, MEMBER)
    await page.wait_for_url(address(named_site, "/"))


async def test_the_section_is_calm_on_a_telephone_in_german_and_by_keys(named_site: Site, open_page: OpenPage) -> None:
    page = await open_page(PHONE, locale="de-DE")
    await page.goto(address(named_site, "/sign-in"))
    await page.get_by_label("E-Mail").fill(MEMBER)
    await page.get_by_label("Passwort").fill(PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url(address(named_site, "/"))
    await page.goto(address(named_site, PAGE))
    await expect(page.get_by_role("heading", name="Zweiter Faktor und Passkeys")).to_be_visible()
    assert await has_no_sideways_scroll(page)
    await page.get_by_role("button", name="Einrichten").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("img", name="QR-Code mit dem Geheimnis")).to_be_visible()
    drawn = await page.get_by_role("img", name="QR-Code").bounding_box()
    assert drawn
    assert drawn["width"] >= 200
    assert await has_no_sideways_scroll(page)
    await expect(page.get_by_label("Code, den die App gerade zeigt")).to_be_focused()
