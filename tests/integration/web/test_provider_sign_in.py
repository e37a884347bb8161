"""Sign-in by an OpenID provider: a real one on loopback, and browsers that go there and back."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Role, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import AccountsSettings, OidcSettings, SecondFactorRule, Settings, WebSettings
from pressbox.core.db.database import Database
from pressbox.demo.simulators.behaviour import Kind
from pressbox.demo.simulators.oidc_provider import CLIENT_ID, CLIENT_SECRET, Lie, OidcProvider
from tests.integration.web.conftest import Browse, OpenApp
from tests.site import ADMIN, MEMBER, ORIGIN, PASSWORD, Browser
from tests.waiting import PATIENCE_SECONDS

JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
async def running_provider() -> AsyncIterator[OidcProvider]:
    """One for all: its address is a setting, and for new settings the application would be built anew."""
    async with OidcProvider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: OidcProvider) -> OidcProvider:
    running_provider.forget()
    running_provider.state.person = {"sub": "m-1", "email": MEMBER, "email_verified": True, "name": "Em"}
    return running_provider


def settings_with(settings: Settings, provider: OidcProvider, **changes: object) -> Settings:
    values = {"issuer": provider.issuer, "client_id": CLIENT_ID, "client_secret": SecretStr(CLIENT_SECRET)}
    oidc = OidcSettings.model_validate({**values, "button": "Our desk", **changes})
    return settings.model_copy(update={"oidc": oidc, "web": WebSettings(public_url=ORIGIN)})


@pytest.fixture
async def site(open_app: OpenApp, settings: Settings, provider: OidcProvider) -> AsyncIterator[FastAPI]:
    async with open_app(settings_with(settings, provider)) as app:
        yield app


async def go_there(address: str) -> str:
    """To the provider, which sends the browser straight back; gives the way back to us."""
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as outside:
        answer = await outside.get(address)
    location = answer.headers["location"]
    assert location.startswith(f"{ORIGIN}/sign-in/oidc/callback?")
    return str(location.removeprefix(ORIGIN))


async def sign_in(browser: Browser, next: str = "") -> httpx.Response:
    left = await browser.get("/sign-in/oidc", params={"next": next})
    assert left.status_code == 303
    return await browser.get(await go_there(left.headers["location"]))


async def who(browser: Browser) -> str | None:
    answer = await browser.get("/api/account", headers=JSON)
    return str(answer.json()["email"]) if answer.status_code == 200 else None


async def test_the_button_is_a_link_that_is_not_loaded_in_advance(site: FastAPI, browse: Browse, admin: User) -> None:
    browser = browse(site)
    page = await browser.get("/sign-in", params={"next": "/activity"})
    assert "Our desk" in page.text
    assert 'href="/sign-in/oidc?next=/activity"' in page.text
    rules = page.headers["speculation-rules"].strip('"')
    assert "/sign-in/*" in (await browser.get(rules)).text


async def test_an_unknown_person_gets_no_account_unless_the_setting_says_so(
    site: FastAPI,
    browse: Browse,
    admin: User,
    open_app: OpenApp,
    settings: Settings,
    provider: OidcProvider,
    accounts: AccountService,
) -> None:
    browser = browse(site)
    refused = await sign_in(browser)
    assert refused.status_code == 403
    assert "no account for you" in refused.text
    assert await who(browser) is None
    async with open_app(settings_with(settings, provider, create_accounts=True)) as generous:
        newcomer = browse(generous)
        answer = await sign_in(newcomer, "/activity")
        assert (answer.status_code, answer.headers["location"]) == (303, "/activity")
        assert await who(newcomer) == MEMBER
        again = browse(generous)
        await sign_in(again)
        assert await who(again) == MEMBER
        # The account has no password, so none opens it.
        tried = await browse(generous).post("/sign-in", data={"email": MEMBER, "password": ""})
        assert tried.status_code == 422
    users = await accounts.users()
    assert [(user.email, user.name, user.role) for user in users[1:]] == [(MEMBER, "Em", Role.MEMBER)]


async def test_an_existing_account_is_not_taken_by_its_address(
    site: FastAPI, browse: Browse, member: User, provider: OidcProvider
) -> None:
    browser = browse(site)
    refused = await sign_in(browser)
    assert refused.status_code == 403
    assert "Sign in to it as usual" in refused.text
    assert await who(browser) is None


@pytest.mark.parametrize(("verified", "expected"), [(True, MEMBER), (False, None), (None, None), ("false", None)])
async def test_a_verified_address_connects_if_the_setting_allows(
    open_app: OpenApp,
    settings: Settings,
    provider: OidcProvider,
    browse: Browse,
    member: User,
    verified: object,
    expected: str | None,
) -> None:
    provider.state.person["email_verified"] = verified
    async with open_app(settings_with(settings, provider, link_by_email=True)) as app:
        browser = browse(app)
        await sign_in(browser)
        assert await who(browser) == expected


@pytest.mark.parametrize("verified", [False, None])
async def test_an_address_that_the_provider_has_not_confirmed_makes_no_account(
    open_app: OpenApp,
    settings: Settings,
    provider: OidcProvider,
    browse: Browse,
    admin: User,
    accounts: AccountService,
    verified: bool | None,
) -> None:
    provider.state.person["email_verified"] = verified
    async with open_app(settings_with(settings, provider, create_accounts=True)) as app:
        browser = browse(app)
        refused = await sign_in(browser)
        assert (refused.status_code, await who(browser)) == (403, None)
        assert "was confirmed where you signed in" in refused.text
    assert [user.email for user in await accounts.users()] == [ADMIN]


async def test_who_made_up_an_address_first_does_not_share_the_account_of_its_owner(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, admin: User
) -> None:
    generous = settings_with(settings, provider, create_accounts=True, link_by_email=True)
    async with open_app(generous) as app:
        provider.state.person = {"sub": "impostor", "email": MEMBER, "email_verified": True}
        impostor = browse(app)
        await sign_in(impostor)
        assert await who(impostor) == MEMBER
        provider.state.person = {"sub": "owner", "email": MEMBER, "email_verified": True}
        owner = browse(app)
        assert (await sign_in(owner)).status_code == 403


async def test_the_owner_connects_and_disconnects(
    site: FastAPI, browse: Browse, member: User, database: Database, provider: OidcProvider
) -> None:
    browser = browse(site)
    await browser.sign_in(MEMBER)
    provider.state.person = {"sub": "m-1", "email": "other@example.org"}
    shown = await browser.post("/account/provider/connect")
    assert shown.status_code == 200
    back = await go_there(_link(shown.text))
    assert (await browser.get(back)).headers["location"] == "/account/second-factor"
    assert "You can sign in with it." in (await browser.get("/account/second-factor")).text
    fresh = browse(site)
    await sign_in(fresh)
    assert await who(fresh) == MEMBER
    assert (await browser.post("/account/provider/disconnect")).status_code == 303
    assert (await sign_in(browse(site))).status_code == 403
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = NULL"))
    asked = await browser.post("/account/provider/connect", headers={"Referer": f"{ORIGIN}/account"})
    assert asked.headers["location"] == "/account/proof?next=/account"


async def test_a_connection_cannot_be_finished_by_somebody_else(
    site: FastAPI, browse: Browse, member: User, accounts: AccountService
) -> None:
    mine, theirs = browse(site), browse(site)
    await mine.sign_in(MEMBER)
    await theirs.sign_in(ADMIN)
    back = await go_there(_link((await mine.post("/account/provider/connect")).text))
    assert (await theirs.get(back)).status_code == 403
    # The cookie too, but another person is signed in by now.
    for cookie in mine.cookies.jar:
        if cookie.name == "pressbox_oidc":
            theirs.cookies.set(cookie.name, cookie.value or "", domain="localhost.local")
    assert (await theirs.get(back)).status_code == 403


async def test_one_sign_in_belongs_to_one_account(site: FastAPI, browse: Browse, member: User) -> None:
    for email, status in ((MEMBER, 303), (ADMIN, 409)):
        browser = browse(site)
        await browser.sign_in(email)
        back = await go_there(_link((await browser.post("/account/provider/connect")).text))
        assert (await browser.get(back)).status_code == status


async def test_an_answer_counts_once_and_only_in_the_browser_that_went(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, member: User
) -> None:
    async with open_app(settings_with(settings, provider, link_by_email=True)) as app:
        victim, attacker = browse(app), browse(app)
        left = await attacker.get("/sign-in/oidc")
        planted = await go_there(left.headers["location"])
        # A link with the attacker's code, opened by somebody who began nothing, and by somebody who began.
        assert (await victim.get(planted)).status_code == 403
        await victim.get("/sign-in/oidc")
        assert (await victim.get(planted)).status_code == 403
        assert await who(victim) is None
        assert (await attacker.get(planted)).status_code == 303
        assert (await attacker.get(planted)).status_code == 403


@pytest.mark.parametrize("lie", [Lie.NONCE, Lie.AUDIENCE, Lie.ISSUER, Lie.EXPIRED, Lie.UNSIGNED, Lie.FOREIGN_KEY])
async def test_a_lie_ends_on_a_clear_page_and_in_no_session(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, member: User, lie: Lie
) -> None:
    async with open_app(settings_with(settings, provider, link_by_email=True)) as app:
        browser = browse(app)
        provider.state.lie = lie
        answer = await sign_in(browser)
        assert answer.status_code == 403
        assert "Begin again" in answer.text or "publish" in answer.text
        assert await who(browser) is None


async def test_a_provider_that_is_away_is_said_and_the_password_still_works(
    site: FastAPI, browse: Browse, member: User, provider: OidcProvider
) -> None:
    provider.tell(".well-known/openid-configuration", Kind.FAILING)
    browser = browse(site)
    away = await browser.get("/sign-in/oidc")
    assert away.status_code == 503
    assert "provider does not answer" in away.text
    await browser.sign_in(MEMBER)
    assert await who(browser) == MEMBER


async def test_groups_decide_who_comes_in_and_as_what(
    open_app: OpenApp,
    settings: Settings,
    provider: OidcProvider,
    browse: Browse,
    admin: User,
    accounts: AccountService,
    life_cycle: AccountLifeCycle,
) -> None:
    grouped = settings_with(settings, provider, create_accounts=True, allowed_groups="press", admin_groups="chiefs")
    async with open_app(grouped) as app:
        assert (await sign_in(browse(app))).status_code == 403
        for groups, role in ((["press"], Role.MEMBER), (["press", "chiefs"], Role.ADMIN), (["press"], Role.MEMBER)):
            provider.state.person["groups"] = groups
            assert (await sign_in(browse(app))).status_code == 303
            assert (await accounts.user_by_email(MEMBER)).role is role
        await life_cycle.disable_user((await accounts.user_by_email(MEMBER)).id)
        assert (await sign_in(browse(app))).status_code == 403


async def test_the_last_administrator_stays_one(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, accounts: AccountService
) -> None:
    grouped = settings_with(settings, provider, create_accounts=True, admin_groups="chiefs")
    async with open_app(grouped) as app:
        assert (await sign_in(browse(app))).status_code == 403
        assert "not set up yet" in (await sign_in(browse(app))).text
        provider.state.person["groups"] = ["chiefs"]
        assert (await sign_in(browse(app))).status_code == 303
        assert await accounts.create_setup_link() is None
        provider.state.person["groups"] = []
        assert (await sign_in(browse(app))).status_code == 303
        assert (await accounts.user_by_email(MEMBER)).role is Role.ADMIN


async def test_people_without_a_password_prove_themselves_at_the_provider(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, admin: User, database: Database
) -> None:
    async with open_app(settings_with(settings, provider, create_accounts=True)) as app:
        browser = browse(app)
        await sign_in(browser)
        async with database.unit_of_work() as work:
            await work.session.execute(text("UPDATE core.sessions SET proved_at = NULL"))
        page = await browser.get("/account/proof")
        assert 'type="password"' not in page.text
        assert "Confirm with Our desk" in page.text
        shown = await browser.post("/account/proof/provider", data={"next": "/account"})
        assert parse_qs(urlsplit(_link(shown.text)).query)["prompt"] == ["login"]
        answer = await browser.get(await go_there(_link(shown.text)))
        assert answer.headers["location"] == "/account"
        made = await browser.post("/account/tokens", data={"name": "phone", "scopes": "read"})
        assert made.headers["location"] == "/account"
        only_way = await browser.post("/account/provider/disconnect")
        assert only_way.status_code == 409


async def test_another_persons_sign_in_there_proves_nothing(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, admin: User, database: Database
) -> None:
    async with open_app(settings_with(settings, provider, create_accounts=True)) as app:
        browser = browse(app)
        await sign_in(browser)
        async with database.unit_of_work() as work:
            await work.session.execute(text("UPDATE core.sessions SET proved_at = NULL"))
        provider.state.person = {"sub": "m-2", "email": "second@example.org"}
        shown = await browser.post("/account/proof/provider")
        assert (await browser.get(await go_there(_link(shown.text)))).status_code == 403
        provider.state.person = {"sub": "m-1", "email": MEMBER}
        shown = await browser.post("/account/proof/provider")
        # A provider that ignores the wish and lets somebody through who signed in long ago.
        provider.state.clock_offset = 0
        provider.state.signed_in_at = 1.0
        address = _link(shown.text).replace("max_age=0", "max_age=99999")
        assert (await browser.get(await go_there(address))).status_code == 403


async def test_signing_out_says_that_the_provider_may_still_know_them(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, admin: User
) -> None:
    async with open_app(settings_with(settings, provider, create_accounts=True)) as app:
        browser = browse(app)
        await sign_in(browser)
        assert (await browser.post("/sign-out")).headers["location"] == "/signed-out"
        assert await who(browser) is None
        assert f"{provider.url}/leave?client_id=pressbox" in (await browser.get("/signed-out")).text
        await browser.sign_in(ADMIN)
        assert (await browser.post("/sign-out")).headers["location"] == "/sign-in"


async def test_the_provider_answers_for_the_second_factor_of_its_people(
    open_app: OpenApp, settings: Settings, provider: OidcProvider, browse: Browse, admin: User
) -> None:
    strict = settings_with(settings, provider, create_accounts=True).model_copy(
        update={"accounts": AccountsSettings(second_factor=SecondFactorRule.EVERYBODY)}
    )
    async with open_app(strict) as app:
        browser = browse(app)
        await sign_in(browser)
        assert await who(browser) == MEMBER
        assert (await browse(app).post("/sign-in", data={"email": ADMIN, "password": PASSWORD})).status_code == 303


async def test_without_a_provider_its_pages_are_not_there(app: FastAPI, browse: Browse, member: User) -> None:
    browser = browse(app)
    assert "/sign-in/oidc" not in (await browser.get("/sign-in")).text
    assert (await browser.get("/sign-in/oidc")).status_code == 404
    assert (await browser.get("/sign-in/oidc/callback?code=x&state=y")).status_code == 404
    await browser.sign_in(MEMBER)
    assert (await browser.post("/account/provider/connect")).status_code == 404


def _link(page: str) -> str:
    start = page.index('class="button primary" href="') + len('class="button primary" href="')
    return page[start : page.index('"', start)].replace("&amp;", "&")
