"""Lasting credentials of all kinds, applications' too, end with the password of the account and with the account."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

import pytest
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.accounts.credentials import credential_kinds
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import COMMAND_LINE, Scope, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.app import AppManifest, Credential, CredentialKind, Resources
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.curator.apps.wiring import app_service
from pressbox.delivery.push.store import PushStore
from pressbox.demo.simulators.push_service import SimulatedBrowser
from pressbox.entry.manifests import APPLICATIONS
from pressbox.soonish.wiring import links
from tests.integration.web.conftest import Browse
from tests.site import MEMBER, PASSWORD, Browser, Overrides, cheap_passwords, serving

NEW_PASSWORD = "another four words here"
Works = Callable[[], Awaitable[bool]]


@dataclass
class Ways:
    """Every lasting way to the things of one person, by the name of its kind, and whether it still opens."""

    kept: dict[str, str]
    works: dict[str, Works]

    async def open(self) -> set[str]:
        return {name for name, works in self.works.items() if await works()}


@pytest.fixture
async def whole(resources: Resources, settings: Settings) -> AsyncIterator[FastAPI]:
    overrides: Overrides = {app_service: lambda: app_service(resources, cheap_passwords())}
    async with serving(resources, settings, APPLICATIONS, overrides) as app:
        yield app


@pytest.fixture
async def browser(whole: FastAPI, browse: Browse, member: User) -> Browser:
    browser = browse(whole)
    await browser.sign_in(MEMBER)
    return browser


async def make_ways(whole: FastAPI, browse: Browse, browser: Browser, resources: Resources, user: User) -> Ways:
    """One credential of each declared kind, made as people make them."""
    outside, apps = browse(whole, "192.0.2.9"), app_service(resources, cheap_passwords())
    token = (await browser.post("/api/account/tokens", json={"name": "phone", "scopes": ["read"]})).json()["token"]
    app_password = await apps.add_password(user.id, "phone")
    signed_in = {"Email": MEMBER, "Passwd": app_password.secret}
    auth = (await outside.post("/accounts/ClientLogin", data={**signed_in, "output": "json"})).json()["Auth"]
    assert (await browser.post("/reader/apps/views?list=unread")).status_code == 303
    view = _between((await browser.get("/reader/apps")).text, "/reader/out/", ".xml")
    assert (await browser.post("/events/calendar")).status_code == 303
    calendar = _between((await browser.get("/events")).text, "/events/calendar/", ".ics")

    phone = SimulatedBrowser("https://push.example.org/phone").subscription()
    assert (await browser.post("/api/push/subscriptions", json=phone)).status_code == 201

    async def is_told() -> bool:
        return bool(await PushStore(resources.database, resources.settings).load_many([user.id]))

    async def opens(path: str, headers: dict[str, str] | None = None) -> bool:
        return (await outside.get(path, headers=headers)).status_code == 200

    works: dict[str, Works] = {
        "token": lambda: opens("/api/account", {"Authorization": f"Bearer {token}"}),
        "app-password": lambda: opens("/reader/api/0/user-info", {"Authorization": f"GoogleLogin auth={auth}"}),
        "view-feed": lambda: opens(f"/reader/out/{view}.xml"),
        "calendar": lambda: opens(f"/events/calendar/{calendar}.ics"),
        "push": is_told,
    }
    held = (await browser.get("/api/account/credentials")).json()
    return Ways({one["kind"]: one["reference"] for one in held}, works)


def _between(page: str, before: str, after: str) -> str:
    return page.partition(before)[2].partition(after)[0]


@pytest.fixture
async def ways(whole: FastAPI, browse: Browse, browser: Browser, resources: Resources, member: User) -> Ways:
    return await make_ways(whole, browse, browser, resources, member)


async def test_the_walk_covers_every_declared_kind(ways: Ways) -> None:
    declared = {kind.name for kind in credential_kinds(APPLICATIONS)}
    assert set(ways.kept) == set(ways.works) == declared
    assert await ways.open() == declared


async def test_a_changed_password_ends_all_but_what_is_kept_by_name(
    ways: Ways, browser: Browser, accounts: AccountService, member: User
) -> None:
    page = (await browser.get("/account")).text
    for reference in ways.kept.values():
        assert f'value="{reference}"' in page
    form = {"current_password": PASSWORD, "new_password": NEW_PASSWORD, "keep": ways.kept["app-password"]}
    assert (await browser.post("/account/password", data=form)).headers["location"] == "/account?done=password"
    assert await ways.open() == {"app-password"}
    assert (await browser.get("/api/account")).status_code == 200, "the session that changed it stays"
    assert len(await accounts.sessions(member.id)) == 1


async def test_a_password_that_an_administrator_sets_ends_everything(
    ways: Ways, browser: Browser, life_cycle: AccountLifeCycle, member: User
) -> None:
    await life_cycle.set_password(member.id, NEW_PASSWORD)
    assert await ways.open() == set()
    assert (await browser.get("/api/account")).status_code == 401


async def test_disabling_ends_everything_and_enabling_brings_nothing_back(
    ways: Ways, life_cycle: AccountLifeCycle, member: User
) -> None:
    await life_cycle.disable_user(member.id)
    assert await ways.open() == set()
    await life_cycle.enable_user(member.id)
    assert await ways.open() == set()
    assert await life_cycle.credentials(member.id) == ()


async def test_nobody_else_loses_anything(
    ways: Ways, life_cycle: AccountLifeCycle, accounts: AccountService, admin: User
) -> None:
    await accounts.add_token(admin.id, "mine", [Scope.READ])
    await life_cycle.disable_user((await accounts.user_by_email(MEMBER)).id)
    assert len(await life_cycle.credentials(admin.id)) == 1


async def test_the_credentials_of_a_fourth_application_end_too(database: Database, member: User) -> None:
    held = {"1", "2"}

    async def load(session: AsyncSession, user_id: int) -> Sequence[Credential]:
        return [Credential(one, f"song {one}") for one in sorted(held)]

    async def revoke(session: AsyncSession, user_id: int, ids: Collection[str]) -> None:
        held.difference_update(ids)

    choir = AppManifest(
        name="choir", title="Choir", summary="", credentials=lambda: (CredentialKind("song", "Songs", load, revoke),)
    )
    life_cycle = AccountLifeCycle(database, cheap_passwords(), (*APPLICATIONS, choir))
    await life_cycle.change_password(member.id, PASSWORD, NEW_PASSWORD, by=COMMAND_LINE, keep=["song:2"])
    assert held == {"2"}


async def test_calendar_addresses_from_before_still_work_until_they_are_renewed(
    whole: FastAPI, browse: Browse, browser: Browser, member: User, database: Database, settings: Settings
) -> None:
    """An address of generation 0 is what the migration keeps."""
    async with database.unit_of_work() as work:
        statement = text("INSERT INTO soonish.calendar_links (user_id, generation) VALUES (:user_id, 0)")
        await work.session.execute(statement, {"user_id": member.id})
    old = "/events/" + links(settings).calendar_url(member.id).partition("/events/")[2]
    outside = browse(whole, "192.0.2.9")
    assert (await outside.get(old)).status_code == 200
    await browser.post("/events/calendar")
    assert (await outside.get(old)).status_code == 404
