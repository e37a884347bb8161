from datetime import UTC, datetime, timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import func, select, text, update

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import Scope, User
from pressbox.core.accounts.passwords import PasswordCheck, Passwords
from pressbox.core.accounts.rows import SessionRow, UserRow
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings, WebSettings
from pressbox.core.db.database import Database
from pressbox.core.errors import ConflictError, GoneError, InvalidInputError
from tests.integration.web.conftest import ELSEWHERE, Browse, OpenApp
from tests.site import ADMIN, MEMBER, PASSWORD

WRONG = "E-mail address or password is wrong."


async def test_the_set_up_link_makes_the_first_administrator_and_signs_in(
    browser: httpx.AsyncClient, accounts: AccountService
) -> None:
    link = await accounts.create_setup_link()
    assert link is not None
    form = await browser.get("/set-up", params={"token": link})
    assert form.status_code == 200
    assert link in form.text

    answer = await browser.post(
        "/set-up", data={"token": link, "email": "Anna@Example.org", "name": "Anna", "password": PASSWORD}
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    me = (await browser.get("/api/account")).json()
    assert me["email"] == "anna@example.org"
    assert me["role"] == "admin"
    assert me["via"] == "session"


async def test_a_set_up_link_works_once_and_never_after_there_is_a_user(
    browser: httpx.AsyncClient, accounts: AccountService
) -> None:
    older = await accounts.create_setup_link()
    link = await accounts.create_setup_link()
    assert older is not None
    assert link is not None
    with pytest.raises(GoneError):
        await accounts.check_setup_link(older)
    filled = {"token": link, "email": ADMIN, "password": PASSWORD}
    assert (await browser.post("/set-up", data=filled)).status_code == 303
    again = await browser.post("/set-up", data={**filled, "email": "second@example.org"})
    assert again.status_code == 410
    assert (await browser.get("/set-up", params={"token": link})).status_code == 410
    assert await accounts.create_setup_link() is None
    assert len(await accounts.users()) == 1


async def test_an_expired_or_invented_set_up_link_is_gone(
    browser: httpx.AsyncClient, accounts: AccountService, database: Database
) -> None:
    link = await accounts.create_setup_link()
    await _execute(database, "UPDATE core.setup_links SET expires_at = now() - interval '1 second'")
    for token in (link, "", "x" * 43, "\ud7ff", "a" * 5000):
        answer = await browser.post("/set-up", data={"token": token, "email": ADMIN, "password": PASSWORD})
        assert answer.status_code == 410
        assert "user setup-link" in answer.text
    assert await accounts.users() == ()


async def test_a_mistake_in_the_set_up_form_keeps_what_was_typed_but_no_password(
    browser: httpx.AsyncClient, accounts: AccountService
) -> None:
    link = await accounts.create_setup_link()
    answer = await browser.post("/set-up", data={"token": link, "email": "nonsense", "password": PASSWORD})
    assert answer.status_code == 422
    assert "nonsense" in answer.text
    assert PASSWORD not in answer.text
    short = await browser.post("/set-up", data={"token": link, "email": ADMIN, "password": "s3cr3t"})
    assert short.status_code == 422
    assert "at least 10 characters" in short.text
    assert "s3cr3t" not in short.text
    done = await browser.post("/set-up", data={"token": link, "email": ADMIN, "password": PASSWORD})
    assert done.status_code == 303


async def test_before_set_up_the_sign_in_page_says_what_to_do(browser: httpx.AsyncClient) -> None:
    answer = await browser.get("/sign-in")
    assert answer.status_code == 200
    assert "not set up yet" in answer.text


async def test_signing_in_leads_where_one_wanted_to_go_and_nowhere_else(
    browser: httpx.AsyncClient, admin: User
) -> None:
    asked = await browser.get("/account")
    assert (asked.status_code, asked.headers["location"]) == (303, "/sign-in?next=/account")
    for wish, target in (("/account", "/account"), ("//evil.example", "/"), ("https://evil.example", "/")):
        answer = await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD, "next": wish})
        assert (answer.status_code, answer.headers["location"]) == (303, target)


async def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(
    browser: httpx.AsyncClient, admin: User, open_app: OpenApp, browse: Browse, settings: Settings
) -> None:
    answer = await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("pressbox_session=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie

    public = settings.model_copy(update={"web": WebSettings(public_url="https://press.example.org")})
    async with open_app(public) as secure_app:
        answer = await browse(secure_app).post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-pressbox_session=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "Domain" not in cookie


async def test_unknown_user_wrong_password_and_disabled_user_cannot_be_told_apart(
    browser: httpx.AsyncClient,
    accounts: AccountService,
    life_cycle: AccountLifeCycle,
    member: User,
    app: FastAPI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disabled = await accounts.add_user("gone@example.org", PASSWORD)
    await life_cycle.disable_user(disabled.id)
    computed: list[str] = []
    check = Passwords._check

    def counted(self: Passwords, stored: str | None, password: str) -> PasswordCheck:
        computed.append(password)
        return check(self, stored, password)

    monkeypatch.setattr(Passwords, "_check", counted)
    seen = set()
    attempts = [
        (MEMBER, "wrong password"),
        ("nobody@example.org", "wrong password"),
        ("gone@example.org", PASSWORD),
        ("not an address", "wrong password"),
        (MEMBER, ""),
        (MEMBER, "x" * 5000),
    ]
    for email, password in attempts:
        answer = await browser.post("/sign-in", data={"email": email, "password": password})
        page = answer.text.replace(email, "EMAIL")
        request_id = answer.headers.pop("x-request-id")
        del answer.headers["content-length"]
        seen.add((answer.status_code, page.replace(request_id, "ID"), tuple(sorted(answer.headers.items()))))
        assert WRONG in page
    assert len(seen) == 1
    assert len(computed) == len(attempts)


async def test_unknown_and_known_users_meet_the_same_rate_limit(app: FastAPI, browse: Browse, member: User) -> None:
    async def statuses(email: str, address: str) -> list[int]:
        browser = browse(app, address)
        form = {"email": email, "password": "wrong password"}
        return [(await browser.post("/sign-in", data=form)).status_code for _ in range(12)]

    known = await statuses(MEMBER, "198.51.100.1")
    assert known == await statuses("nobody@example.org", "198.51.100.2") == [422] * 10 + [429] * 2


async def test_a_session_planted_before_signing_in_is_not_taken_over(browser: httpx.AsyncClient, admin: User) -> None:
    planted = "A" * 43
    browser.cookies.set("pressbox_session", planted, domain="localhost.local")
    answer = await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    assert planted not in answer.headers["set-cookie"]


async def test_signing_in_again_ends_the_session_before(
    browser: httpx.AsyncClient, signed_in: httpx.AsyncClient, accounts: AccountService, admin: User
) -> None:
    before = browser.cookies["pressbox_session"]
    await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    assert browser.cookies["pressbox_session"] != before
    assert await accounts.authenticate_session(before) is None
    assert len(await accounts.sessions(admin.id)) == 1


async def test_signing_out_ends_the_session_on_the_server(
    signed_in: httpx.AsyncClient, accounts: AccountService
) -> None:
    secret = signed_in.cookies["pressbox_session"]
    answer = await signed_in.post("/sign-out")
    assert answer.headers["location"] == "/sign-in"
    assert "pressbox_session" not in signed_in.cookies
    assert await accounts.authenticate_session(secret) is None


async def test_an_unused_session_ends_and_a_used_one_lives_on(signed_in: httpx.AsyncClient, database: Database) -> None:
    await _execute(
        database,
        "UPDATE core.sessions SET last_seen_at = now() - interval '1 day', expires_at = now() + interval '1 minute'",
    )
    assert (await signed_in.get("/api/account")).status_code == 200
    async with database.unit_of_work() as work:
        expires_at = await work.session.scalar(select(SessionRow.expires_at))
    assert expires_at is not None
    assert expires_at - datetime.now(UTC) > timedelta(days=29)

    async with database.unit_of_work() as work:
        await work.session.execute(update(SessionRow).values(expires_at=func.now()))
    assert (await signed_in.get("/api/account")).status_code == 401
    assert (await signed_in.get("/account")).status_code == 303


async def test_reading_pages_does_not_write_each_time(signed_in: httpx.AsyncClient, database: Database) -> None:
    async def version() -> object:
        async with database.unit_of_work() as work:
            return await work.session.scalar(select(SessionRow.last_seen_at))

    before = await version()
    await signed_in.get("/api/account")
    assert await version() == before


async def test_a_disabled_user_is_out_at_once(
    app: FastAPI, browse: Browse, accounts: AccountService, life_cycle: AccountLifeCycle, member: User
) -> None:
    browser = browse(app)
    await browser.post("/sign-in", data={"email": MEMBER, "password": PASSWORD})
    token = await accounts.add_token(member.id, "phone", [Scope.READ])
    bearer = {"Authorization": f"Bearer {token.secret}"}
    assert (await browser.get("/api/account")).status_code == 200
    assert (await browse(app).get("/api/account", headers=bearer)).status_code == 200
    await life_cycle.disable_user(member.id)
    assert (await browser.get("/api/account")).status_code == 401
    assert (await browse(app).get("/api/account", headers=bearer)).status_code == 401


async def test_the_last_administrator_cannot_be_lost(
    accounts: AccountService, life_cycle: AccountLifeCycle, member: User, admin: User
) -> None:
    with pytest.raises(ConflictError):
        await life_cycle.disable_user(admin.id)
    with pytest.raises(ConflictError):
        await life_cycle.set_role(admin.id, member.role)
    await life_cycle.set_role(member.id, admin.role)
    assert (await life_cycle.disable_user(admin.id)).disabled_at is not None


async def test_two_accounts_cannot_share_an_address_in_any_spelling(accounts: AccountService, admin: User) -> None:
    with pytest.raises(ConflictError):
        await accounts.add_user("ADMIN@Example.ORG", PASSWORD)


async def test_an_outdated_hash_is_replaced_when_its_owner_signs_in(
    database: Database, settings: Settings, accounts: AccountService, admin: User
) -> None:
    await AccountService(database, settings).sign_in(ADMIN, PASSWORD, client=ELSEWHERE)
    async with database.unit_of_work() as work:
        stored = await work.session.scalar(select(UserRow.password_hash))
    assert "m=65536" in str(stored)
    with pytest.raises(InvalidInputError):
        await accounts.sign_in(ADMIN, PASSWORD + "x", client=ELSEWHERE)


async def _execute(database: Database, statement: str) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(text(statement))
