"""Forgotten passwords, new addresses, invitations and mail about new devices."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import User
from pressbox.core.accounts.service import AccountService
from pressbox.core.db.database import Database
from tests.fakes.mailbox import Mailbox
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, PASSWORD, Browser

NEW_PASSWORD = "another four words here"


@pytest.fixture
async def mailbox(app: FastAPI) -> AsyncIterator[Mailbox]:
    before, app.state.mailer = app.state.mailer, Mailbox()
    yield app.state.mailer
    app.state.mailer = before


async def ask(browser: Browser, email: str) -> httpx.Response:
    return await browser.post("/forgotten-password", data={"email": email})


def token_of(path: str) -> str:
    return parse_qs(urlsplit(path).query)["token"][0]


async def test_a_forgotten_password_is_replaced_by_a_link_that_works_once(
    app: FastAPI, browse: Browse, browser: Browser, member: User, mailbox: Mailbox, accounts: AccountService
) -> None:
    thief = browse(app, "192.0.2.6")
    await thief.sign_in(MEMBER)
    await ask(browser, "Member@Example.org")
    (letter,) = mailbox.letters
    assert letter.to == MEMBER
    assert (await browser.get(letter.link)).status_code == 200
    form = {"token": token_of(letter.link), "password": NEW_PASSWORD}
    short = await browser.post("/choose-password", data={**form, "password": "short"})
    assert (short.status_code, "at least 10 characters" in short.text) == (422, True)
    done = await browser.post("/choose-password", data=form)
    assert (done.status_code, done.headers["location"]) == (303, "/sign-in?done=password")
    assert "pressbox_session" not in browser.cookies, "a second factor may still be needed"
    assert (await thief.get("/api/account")).status_code == 401
    assert (await browser.post("/choose-password", data=form)).status_code == 410
    assert (await browser.get(letter.link)).status_code == 410
    await browser.post("/sign-in", data={"email": MEMBER, "password": NEW_PASSWORD})
    assert (await browser.get("/api/account")).status_code == 200
    assert mailbox.letters[1].subject == "Your Pressbox password was changed"


async def test_nobody_learns_which_addresses_have_accounts(
    browser: Browser, member: User, mailbox: Mailbox, accounts: AccountService, life_cycle: AccountLifeCycle
) -> None:
    gone = await accounts.add_user("gone@example.org", PASSWORD)
    await life_cycle.disable_user(gone.id)
    answers = set()
    for email in (MEMBER, "nobody@example.org", "gone@example.org", "not an address"):
        answer = await ask(browser, email)
        answers.add((answer.status_code, answer.text.replace(email, "EMAIL")))
    assert len(answers) == 1
    assert [letter.to for letter in mailbox.letters] == [MEMBER]


async def test_nobody_is_flooded_with_mail(app: FastAPI, browse: Browse, member: User, mailbox: Mailbox) -> None:
    for number in range(6):
        assert (await ask(browse(app, f"192.0.2.{number}"), MEMBER)).status_code == 200
    assert len(mailbox.letters) == 3
    stranger = browse(app, "192.0.2.99")
    statuses = [(await ask(stranger, f"{number}@example.org")).status_code for number in range(11)]
    assert statuses == [200] * 10 + [429]


async def test_an_old_an_expired_and_an_invented_link_are_gone(
    browser: Browser, member: User, mailbox: Mailbox, database: Database
) -> None:
    await ask(browser, MEMBER)
    await ask(browser, MEMBER)
    old, new = (letter.link for letter in mailbox.letters)
    assert (await browser.get(old)).status_code == 410
    assert (await browser.get("/choose-password?token=" + "x" * 43)).status_code == 410
    async with database.unit_of_work() as work:
        dump = (await work.session.execute(text("SELECT account_links::text FROM core.account_links"))).scalars().all()
        await work.session.execute(text("UPDATE core.account_links SET expires_at = now()"))
    assert token_of(new) not in str(dump)
    form = {"token": token_of(new), "password": NEW_PASSWORD}
    assert (await browser.post("/choose-password", data=form)).status_code == 410


async def test_a_changed_password_ends_links_that_are_on_their_way(
    browser: Browser, member: User, mailbox: Mailbox, life_cycle: AccountLifeCycle
) -> None:
    await ask(browser, MEMBER)
    await life_cycle.set_password(member.id, NEW_PASSWORD)
    assert (await browser.get(mailbox.letters[0].link)).status_code == 410


async def test_without_a_mail_server_the_page_says_who_can_help(browser: Browser, member: User) -> None:
    assert "pressbox user password" in (await browser.get("/forgotten-password")).text
    assert "pressbox user password" in (await ask(browser, MEMBER)).text
    assert "/forgotten-password" in (await browser.get("/sign-in")).text


async def test_a_new_address_counts_once_it_is_confirmed_there(
    app: FastAPI, browse: Browse, signed_in: Browser, mailbox: Mailbox, member: User
) -> None:
    asked = await signed_in.post("/account/email", data={"email": "New@Example.org"})
    assert asked.headers["location"] == "/account?done=email"
    to_new, to_old = mailbox.letters
    assert (to_new.to, to_old.to) == ("new@example.org", ADMIN)
    assert (await signed_in.get("/api/account")).json()["email"] == ADMIN
    elsewhere = browse(app, "192.0.2.1")
    assert (await elsewhere.get(to_new.link)).status_code == 200
    assert (await signed_in.get("/api/account")).json()["email"] == ADMIN, "opening it changes nothing"
    form = {"token": token_of(to_new.link)}
    assert (await elsewhere.post("/confirm-email", data=form)).status_code == 303
    assert (await signed_in.get("/api/account")).json()["email"] == "new@example.org"
    assert (await elsewhere.post("/confirm-email", data=form)).status_code == 410
    taken = await signed_in.post("/account/email", data={"email": MEMBER})
    assert taken.status_code == 303, "nobody learns whose it is"
    confirm = {"token": token_of(mailbox.letters[2].link)}
    assert (await signed_in.post("/confirm-email", data=confirm)).status_code == 409


async def test_a_link_for_an_address_sets_no_password(signed_in: Browser, mailbox: Mailbox) -> None:
    await signed_in.post("/account/email", data={"email": "new@example.org"})
    form = {"token": token_of(mailbox.letters[0].link), "password": NEW_PASSWORD}
    assert (await signed_in.post("/choose-password", data=form)).status_code == 410


async def test_a_sign_in_from_a_new_device_is_told_by_mail(
    app: FastAPI, browse: Browse, member: User, mailbox: Mailbox, accounts: AccountService
) -> None:
    await accounts.set_language(member.id, "de")
    own = browse(app)
    await own.sign_in(MEMBER)
    await own.post("/sign-out")
    await own.sign_in(MEMBER)
    assert mailbox.letters == []
    firefox = {"User-Agent": "Mozilla/5.0 (X11; Linux) Firefox/140.0"}
    other = browse(app, "192.0.2.7", **firefox)
    await other.sign_in(MEMBER)
    (letter,) = mailbox.letters
    assert letter.subject.startswith("Ein neues Gerät")
    assert "192.0.2.7" in letter.body
    assert "Firefox, Linux" in letter.body
    await other.sign_in(MEMBER)
    assert len(mailbox.letters) == 1
