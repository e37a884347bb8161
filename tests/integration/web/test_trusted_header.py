"""Sign-in by a header of a proxy, and strangers who send it."""

import asyncio

from fastapi import FastAPI

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Role, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings, TrustedHeaderSettings, WebSettings
from tests.integration.web.conftest import Browse, OpenApp
from tests.site import ADMIN, MEMBER, ORIGIN, Browser

JSON = {"Accept": "application/json"}
PROXY = "10.9.8.7"
ANNA = {"Remote-User": "anna", "Remote-Email": "anna@example.org", "Remote-Name": "Anna", "Remote-Groups": "press"}


def trusting(settings: Settings, **changes: object) -> Settings:
    header = TrustedHeaderSettings.model_validate({"enabled": True, "create_accounts": True, **changes})
    web = WebSettings(trusted_proxies=(PROXY,), public_url=ORIGIN)
    return settings.model_copy(update={"trusted_header": header, "web": web})


async def who(browser: Browser, **headers: str) -> str | None:
    answer = await browser.get("/api/account", headers={**JSON, **headers})
    return str(answer.json()["email"]) if answer.status_code == 200 else None


async def test_a_trusted_proxy_says_who_it_is_and_a_stranger_does_not(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User
) -> None:
    async with open_app(trusting(settings)) as app:
        assert await who(browse(app, PROXY), **ANNA) == "anna@example.org"
        for stranger in ("203.0.113.5", "127.0.0.1", "10.9.8.8"):
            assert await who(browse(app, stranger), **ANNA) is None
            forged = {**ANNA, "Remote-User": ADMIN, "X-Forwarded-For": PROXY}
            assert await who(browse(app, stranger), **forged) is None


async def test_without_the_setting_the_header_means_nothing(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User, app: FastAPI
) -> None:
    assert await who(browse(app, PROXY), **ANNA) is None
    web = WebSettings(trusted_proxies=(PROXY,), public_url=ORIGIN)
    async with open_app(settings.model_copy(update={"web": web})) as unaware:
        assert await who(browse(unaware, PROXY), **{**ANNA, "Remote-User": ADMIN}) is None


async def test_a_header_that_came_twice_opens_nothing(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User
) -> None:
    async with open_app(trusting(settings)) as app:
        browser = browse(app, PROXY)
        answer = await browser.get(
            "/api/account", headers=[("Accept", "application/json"), ("Remote-User", "anna"), ("Remote-User", ADMIN)]
        )
        assert answer.status_code == 403


async def test_another_sites_page_changes_nothing_through_the_proxy(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User
) -> None:
    async with open_app(trusting(settings)) as app:
        browser = browse(app, PROXY)
        form = {"language": "de"}
        for origin in ({"Origin": "https://evil.example"}, {"Origin": "null"}):
            refused = await browser.post("/account/profile", data=form, headers={**ANNA, **origin})
            assert refused.status_code == 403
        del browser.headers["Origin"]
        # No origin at all, as an old browser sends it: with the header it counts as with a cookie.
        assert (await browser.post("/account/profile", data=form, headers=ANNA)).status_code == 403
        kept = await browser.post("/account/profile", data=form, headers={**ANNA, "Origin": ORIGIN})
        assert kept.status_code == 303


async def test_accounts_roles_and_groups_follow_the_settings(
    open_app: OpenApp,
    settings: Settings,
    browse: Browse,
    member: User,
    accounts: AccountService,
    life_cycle: AccountLifeCycle,
) -> None:
    async with open_app(trusting(settings, create_accounts=False)) as app:
        assert await who(browse(app, PROXY), **ANNA) is None
        taken = {"Remote-User": "em", "Remote-Email": MEMBER}
        assert await who(browse(app, PROXY), **taken) is None
    async with open_app(trusting(settings, link_by_email=True, allowed_groups="press", admin_groups="chiefs")) as app:
        browser = browse(app, PROXY)
        assert await who(browser, **{"Remote-User": "em", "Remote-Email": MEMBER}) is None
        assert await who(browser, **{"Remote-User": "em", "Remote-Email": MEMBER, "Remote-Groups": "press"}) == MEMBER
        assert (await accounts.user_by_email(MEMBER)).role is Role.MEMBER
        await who(browser, **{"Remote-User": "em", "Remote-Groups": "press,chiefs"})
        assert (await accounts.user_by_email(MEMBER)).role is Role.ADMIN
        await who(browser, **{"Remote-User": "em", "Remote-Groups": "press"})
        assert (await accounts.user_by_email(MEMBER)).role is Role.MEMBER
        await life_cycle.disable_user(member.id)
        assert await who(browser, **{"Remote-User": "em", "Remote-Groups": "press"}) is None


async def test_the_header_goes_before_an_older_cookie_and_a_token_before_both(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User
) -> None:
    async with open_app(trusting(settings)) as app:
        browser = browse(app, PROXY)
        await browser.sign_in(ADMIN)
        assert await who(browser) == ADMIN
        assert await who(browser, **ANNA) == "anna@example.org"


async def test_many_first_requests_at_once_make_one_account(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User, accounts: AccountService
) -> None:
    async with open_app(trusting(settings)) as app:
        browser = browse(app, PROXY)
        seen = await asyncio.gather(*(who(browser, **ANNA) for _ in range(8)))
    assert set(seen) == {"anna@example.org"}
    assert len(await accounts.users()) == 2


async def test_the_account_page_works_and_signing_out_leads_to_the_proxy(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User
) -> None:
    async with open_app(trusting(settings, sign_out_url="https://auth.example.org/logout")) as app:
        browser = browse(app, PROXY)
        assert (await browser.get("/account", headers=ANNA)).status_code == 200
        assert (await browser.post("/sign-out", headers=ANNA)).headers["location"] == "/signed-out"
        assert "https://auth.example.org/logout" in (await browser.get("/signed-out", headers=ANNA)).text
