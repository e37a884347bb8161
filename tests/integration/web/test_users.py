"""Administrators manage users on a page, and read what happened to accounts."""

import re

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.audit import Action
from pressbox.core.accounts.models import Role, User
from pressbox.core.accounts.service import AccountService
from pressbox.core.db.database import Database
from tests.fakes.mailbox import Mailbox
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, PASSWORD, Browser

NEW_PASSWORD = "another four words here"


def link_in(page: str) -> str:
    found = re.search(r"data-new-link>http://localhost:8030([^<]+)<", page)
    assert found is not None
    return found[1].replace("&amp;", "&")


async def test_somebody_is_invited_and_chooses_the_password(
    app: FastAPI, browse: Browse, signed_in: Browser, accounts: AccountService
) -> None:
    form = {"email": "New@Example.org", "name": "New", "role": "member"}
    made = await signed_in.post("/users", data=form)
    link = link_in(made.text)
    invited = await accounts.user_by_email("new@example.org")
    assert (invited.role, invited.has_password) == (Role.MEMBER, False)
    assert "has no password" in (await signed_in.get("/users")).text
    again = await signed_in.post("/users", data=form)
    assert (again.status_code, "already" in again.text) == (409, True)
    newcomer = browse(app, "192.0.2.1")
    assert (await newcomer.get(link)).status_code == 200
    chosen = await newcomer.post("/choose-password", data={"token": link.partition("=")[2], "password": NEW_PASSWORD})
    assert chosen.headers["location"] == "/sign-in?done=password"
    answer = await newcomer.post("/sign-in", data={"email": "new@example.org", "password": NEW_PASSWORD})
    assert answer.status_code == 303


async def test_an_invitation_is_mailed_where_there_is_mail(app: FastAPI, signed_in: Browser) -> None:
    before, app.state.mailer = app.state.mailer, Mailbox()
    made = await signed_in.post("/users", data={"email": "new@example.org"})
    (letter,) = app.state.mailer.letters
    app.state.mailer = before
    assert letter.to == "new@example.org"
    assert letter.link == link_in(made.text)


async def test_a_user_is_changed_disabled_enabled_and_given_a_link(
    app: FastAPI, browse: Browse, signed_in: Browser, accounts: AccountService, member: User
) -> None:
    place = f"/users/{member.id}"
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    assert (await signed_in.post(f"{place}/role", data={"role": "admin"})).headers["location"] == f"{place}?done=role"
    assert (await accounts.user(member.id)).role is Role.ADMIN
    await signed_in.post(f"{place}/disable")
    assert (await theirs.get("/api/account")).status_code == 401
    refused = await signed_in.post(f"{place}/link")
    assert (refused.status_code, "Enable it first" in refused.text) == (409, True)
    await signed_in.post(f"{place}/enable")
    link = link_in((await signed_in.post(f"{place}/link")).text)
    assert (await theirs.get(link)).status_code == 200
    await signed_in.post(f"{place}/email", data={"email": "other@example.org"})
    assert (await accounts.user(member.id)).email == "other@example.org"
    assert (await signed_in.post(f"{place}/email", data={"email": ADMIN})).status_code == 409
    assert (await signed_in.get("/users/4711")).status_code == 404


async def test_the_last_administrator_cannot_remove_themselves_by_any_button(
    signed_in: Browser, admin: User, accounts: AccountService
) -> None:
    for path, form in (("role", {"role": "member"}), ("disable", {})):
        answer = await signed_in.post(f"/users/{admin.id}/{path}", data=form)
        assert (answer.status_code, "last administrator" in answer.text) == (409, True)
    user = await accounts.user(admin.id)
    assert (user.role, user.disabled_at) == (Role.ADMIN, None)


async def test_users_are_not_changed_without_a_recent_proof(
    signed_in: Browser, database: Database, member: User, accounts: AccountService
) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = now() - interval '1 hour'"))
    for path in ("/users", *(f"/users/{member.id}/{act}" for act in ("disable", "link", "email"))):
        answer = await signed_in.post(path, data={"email": "x@example.org"})
        assert answer.headers["location"].startswith("/account/proof"), path
    assert (await accounts.user(member.id)).disabled_at is None
    assert f'action="/users/{member.id}/disable"' not in (await signed_in.get(f"/users/{member.id}")).text


async def test_programs_invite_and_make_links_too(signed_in: Browser) -> None:
    made = (await signed_in.post("/api/users", json={"email": "new@example.org"})).json()
    assert made["has_password"] is False
    link = (await signed_in.post(f"/api/users/{made['id']}/link")).json()["link"]
    assert link.startswith("http://localhost:8030/choose-password?token=")
    changed = await signed_in.patch(f"/api/users/{made['id']}", json={"email": "newer@example.org"})
    assert changed.json()["email"] == "newer@example.org"


async def test_what_happens_to_accounts_is_in_the_log(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User, database: Database
) -> None:
    theirs = browse(app, "192.0.2.1")
    await theirs.post("/sign-in", data={"email": MEMBER, "password": "wrong password"})
    await theirs.sign_in(MEMBER)
    await theirs.post("/api/account/tokens", json={"name": "phone", "scopes": ["read"]})
    await theirs.post("/account/password", data={"current_password": PASSWORD, "new_password": NEW_PASSWORD})
    await signed_in.post(f"/users/{member.id}/role", data={"role": "admin"})
    await signed_in.post(f"/users/{member.id}/disable")
    entries = (await signed_in.get("/api/audit", params={"person": MEMBER})).json()
    told = [(entry["action"], entry["actor"], entry["subject"]) for entry in reversed(entries)]
    assert told == [
        (Action.USER_ADDED, None, MEMBER),
        (Action.SIGN_IN_REFUSED, None, MEMBER),
        (Action.SIGNED_IN, MEMBER, MEMBER),
        (Action.CREDENTIAL_ADDED, MEMBER, MEMBER),
        (Action.PASSWORD_CHANGED, MEMBER, MEMBER),
        (Action.ROLE_CHANGED, ADMIN, MEMBER),
        (Action.USER_DISABLED, ADMIN, MEMBER),
    ]
    assert {entry["address"] for entry in entries} == {"command line", "192.0.2.1", "127.0.0.1"}
    async with database.unit_of_work() as work:
        dump = str((await work.session.execute(text("SELECT audit_log::text FROM core.audit_log"))).scalars().all())
    for secret in (PASSWORD, NEW_PASSWORD, "wrong password", "pbx_", MEMBER):
        assert secret not in dump


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"action": Action.SIGN_IN_REFUSED}, 2),
        ({"address": "192.0.2.1"}, 2),
        ({"address": "192.0.2.1", "person": MEMBER}, 1),
        ({"person": "nobody@example.org"}, 0),
    ],
)
async def test_the_log_is_filtered(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User, query: dict[str, str], expected: int
) -> None:
    stranger = browse(app, "192.0.2.1")
    for email in (MEMBER, "nobody@example.org"):
        await stranger.post("/sign-in", data={"email": email, "password": "wrong password"})
    assert len((await signed_in.get("/api/audit", params=query)).json()) == expected
    page = (await signed_in.get("/audit", params=query)).text
    assert page.count('<th scope="row">') == expected


async def test_members_read_their_own_part_and_nothing_of_others(
    app: FastAPI, browse: Browse, signed_in: Browser, member: User
) -> None:
    await signed_in.post(f"/users/{member.id}/role", data={"role": "member"})
    theirs = browse(app, "192.0.2.1")
    await theirs.sign_in(MEMBER)
    assert (await theirs.get("/api/audit")).status_code == 403
    assert (await theirs.get("/audit")).status_code == 403
    entries = (await theirs.get("/api/account/audit")).json()
    assert [entry["action"] for entry in entries] == [Action.SIGNED_IN, Action.ROLE_CHANGED, Action.USER_ADDED]
    assert ADMIN not in str(entries)
    page = (await theirs.get("/account")).text
    assert "Role changed" in page
    assert ADMIN not in page
