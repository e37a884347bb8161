"""Lasting credentials and changes of the account need a recent proof that it is really them."""

import pytest
from sqlalchemy import text

from pressbox.core.accounts.models import Scope, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from tests.integration.web.conftest import Browse, OpenApp
from tests.site import PASSWORD, Browser

TOKEN = {"name": "phone", "scopes": ["read"]}


@pytest.fixture
async def stale(signed_in: Browser, database: Database) -> Browser:
    """Somebody's browser that was left open."""
    await make_stale(database)
    return signed_in


async def make_stale(database: Database) -> None:
    async with database.unit_of_work() as work:
        for table in ("sessions", "tokens"):
            statement = f"UPDATE core.{table} SET proved_at = now() - interval '11 minutes'"
            await work.session.execute(text(statement))


async def test_a_session_alone_makes_no_token(stale: Browser, accounts: AccountService, admin: User) -> None:
    answer = await stale.post("/account/tokens", data=TOKEN, headers={"Referer": "http://localhost:8030/account"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/proof?next=/account")
    told = await stale.post("/api/account/tokens", json=TOKEN)
    assert (told.status_code, told.json()["error"]["code"]) == (403, "proof_needed")
    assert await accounts.tokens(admin.id) == ()
    page = (await stale.get("/account")).text
    assert 'action="/account/tokens"' not in page
    assert "/account/proof?next=/account" in page


async def test_the_password_opens_it_for_ten_minutes(stale: Browser, database: Database) -> None:
    assert "Is it you?" in (await stale.get("/account/proof?next=/account")).text
    wrong = await stale.post("/account/proof", data={"password": "wrong", "next": "/account"})
    assert (wrong.status_code, "The password is wrong." in wrong.text) == (422, True)
    assert (await stale.post("/api/account/tokens", json=TOKEN)).status_code == 403
    right = await stale.post("/account/proof", data={"password": PASSWORD, "next": "//evil.example"})
    assert (right.status_code, right.headers["location"]) == (303, "/account")
    assert (await stale.post("/account/tokens", data=TOKEN)).headers["location"] == "/account"
    assert (await stale.get("/account/proof?next=/status")).headers["location"] == "/status"
    await make_stale(database)
    assert (await stale.post("/api/account/tokens", json=TOKEN)).status_code == 403


async def test_a_session_that_is_not_theirs_cannot_guess_the_password(stale: Browser) -> None:
    statuses = [
        (await stale.post("/account/proof", data={"password": f"guess {number}"})).status_code for number in range(12)
    ]
    assert statuses == [422] * 10 + [429] * 2


async def test_a_program_proves_with_the_password_too(
    browser: Browser, accounts: AccountService, admin: User, database: Database
) -> None:
    secret = (await accounts.add_token(admin.id, "test", [Scope.ADMIN])).secret
    bearer = {"Authorization": f"Bearer {secret}"}
    assert (await browser.post("/api/account/tokens", json=TOKEN, headers=bearer)).status_code == 403
    proof = await browser.post("/api/account/proof", json={"password": PASSWORD}, headers=bearer)
    assert proof.status_code == 204
    assert (await browser.post("/api/account/tokens", json=TOKEN, headers=bearer)).status_code == 201


async def test_in_the_open_mode_there_is_nothing_to_prove(
    open_app: OpenApp, browse: Browse, settings: Settings
) -> None:
    async with open_app(settings.model_copy(update={"open": True})) as app:
        assert (await browse(app).post("/api/account/tokens", json=TOKEN)).status_code == 201
