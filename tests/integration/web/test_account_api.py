import asyncio
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.limits import Limit, RateLimits
from pressbox.core.accounts.models import Role, Scope, User
from pressbox.core.accounts.people import OPEN_OWNER
from pressbox.core.accounts.service import AccountService
from pressbox.core.clock import utc_now
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import GoneError, PressboxError, RateLimitedError
from tests.integration.web.conftest import ELSEWHERE, Browse, OpenApp
from tests.site import ADMIN, MEMBER, PASSWORD

NEW_PASSWORD = "another four words here"


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def new_token(accounts: AccountService, user: User, *scopes: Scope) -> str:
    return (await accounts.add_token(user.id, "test", scopes)).secret


async def test_a_token_is_shown_once_and_works_until_it_is_removed(
    signed_in: httpx.AsyncClient, app: FastAPI, browse: Browse, database: Database
) -> None:
    made = await signed_in.post("/api/account/tokens", json={"name": " phone ", "scopes": ["read"]})
    assert made.status_code == 201
    secret, token_id = made.json()["token"], made.json()["id"]
    assert secret.startswith("pbx_")

    listed = await signed_in.get("/api/account/tokens")
    assert secret not in listed.text
    assert listed.json()[0] | {"created_at": ""} == {
        "id": token_id,
        "name": "phone",
        "hint": secret[-4:],
        "scopes": ["read"],
        "created_at": "",
        "last_used_at": None,
        "expires_at": None,
    }
    program = browse(app)
    assert (await program.get("/api/account", headers=bearer(secret))).json()["via"] == "token"
    assert (await signed_in.get("/api/account/tokens")).json()[0]["last_used_at"] is not None

    async with database.unit_of_work() as work:
        dump = (await work.session.execute(text("SELECT tokens::text FROM core.tokens"))).scalars().all()
    assert secret not in str(dump)

    assert (await signed_in.delete(f"/api/account/tokens/{token_id}")).status_code == 204
    assert (await program.get("/api/account", headers=bearer(secret))).status_code == 401
    assert (await signed_in.delete(f"/api/account/tokens/{token_id}")).status_code == 404


async def test_a_token_may_do_what_its_scopes_say_and_no_more(
    app: FastAPI, browse: Browse, accounts: AccountService, admin: User
) -> None:
    program = browse(app)
    expected = {
        Scope.READER: (403, 403, 403),
        Scope.READ: (200, 403, 403),
        Scope.WRITE: (200, 403, 204),
        Scope.ADMIN: (200, 200, 204),
    }
    for scope, statuses in expected.items():
        headers = bearer(await new_token(accounts, admin, scope))
        answers = (
            await program.get("/api/account", headers=headers),
            await program.get("/api/users", headers=headers),
            await program.patch("/api/account", json={"language": "de"}, headers=headers),
        )
        assert tuple(answer.status_code for answer in answers) == statuses, scope


async def test_a_token_cannot_make_another_one_that_outlives_it(
    app: FastAPI, browse: Browse, accounts: AccountService, member: User
) -> None:
    headers = bearer(await new_token(accounts, member, Scope.WRITE))
    answer = await browse(app).post("/api/account/tokens", json={"name": "x", "scopes": ["read"]}, headers=headers)
    assert answer.status_code == 403
    assert len(await accounts.tokens(member.id)) == 1


async def test_a_token_needs_no_origin_and_means_nothing_on_pages(
    app: FastAPI, browse: Browse, accounts: AccountService, admin: User
) -> None:
    headers = bearer(await new_token(accounts, admin, Scope.ADMIN))
    program = browse(app, Origin="http://evil.example")
    changed = await program.patch("/api/account", json={"language": "de"}, headers=headers)
    assert changed.status_code == 204
    assert (await program.get("/account", headers=headers)).headers["location"].startswith("/sign-in")
    assert (await program.post("/account/profile", data={"language": ""}, headers=headers)).status_code == 403


async def test_a_bad_token_is_not_replaced_by_the_cookie_beside_it(signed_in: httpx.AsyncClient) -> None:
    """Otherwise another site could skip the origin check with any invented token."""
    answer = await signed_in.patch("/api/account", json={"language": "de"}, headers=bearer("pbx_invented"))
    assert answer.status_code == 401


async def test_expired_tokens_and_those_of_demoted_owners_lose_their_power(
    app: FastAPI,
    browse: Browse,
    accounts: AccountService,
    life_cycle: AccountLifeCycle,
    admin: User,
    database: Database,
) -> None:
    other = await accounts.add_user("other@example.org", PASSWORD, role=Role.ADMIN)
    secret = await new_token(accounts, other, Scope.ADMIN)
    program = browse(app)
    assert (await program.get("/api/users", headers=bearer(secret))).status_code == 200
    await life_cycle.set_role(other.id, Role.MEMBER)
    assert (await program.get("/api/users", headers=bearer(secret))).status_code == 403
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.tokens SET expires_at = now()"))
    assert (await program.get("/api/account", headers=bearer(secret))).status_code == 401


async def test_an_ended_token_is_listed_and_takes_no_place(
    signed_in: httpx.AsyncClient, accounts: AccountService, admin: User
) -> None:
    now = utc_now()
    ended = await accounts.add_token(admin.id, "old", [Scope.READ], expires_at=now - timedelta(days=3))
    good = await accounts.add_token(admin.id, "new", [Scope.READ], expires_at=now + timedelta(days=90))
    page = (await signed_in.get("/account")).text
    assert "No longer works: it ended" in page
    assert "Ends <time" in page
    assert [one["id"] for one in (await signed_in.get("/api/account/tokens")).json()] == [ended.view.id, good.view.id]
    held = (await signed_in.get("/api/account/credentials")).json()
    assert [one["reference"] for one in held] == [f"token:{good.view.id}"]
    used = {one["key"]: one for one in (await signed_in.get("/api/account/quotas")).json()}["tokens"]
    assert used["used"] == 1


async def test_members_cannot_have_or_use_what_is_for_administrators(
    app: FastAPI, browse: Browse, accounts: AccountService, member: User, admin: User
) -> None:
    browser = browse(app)
    await browser.post("/sign-in", data={"email": MEMBER, "password": PASSWORD})
    wish = await browser.post("/api/account/tokens", json={"name": "x", "scopes": ["admin"]})
    assert (wish.status_code, wish.json()["error"]["field"]) == (422, "scopes")
    assert (await browser.get("/api/users")).status_code == 403
    grab = {"role": "admin"}
    assert (await browser.patch(f"/api/users/{member.id}", json=grab)).status_code == 403
    theirs = await accounts.add_token(admin.id, "admin", [Scope.ADMIN])
    assert (await browser.delete(f"/api/account/tokens/{theirs.view.id}")).status_code == 404
    assert (await browser.post(f"/account/tokens/{theirs.view.id}/revoke")).status_code == 404
    assert len(await accounts.tokens(admin.id)) == 1


async def test_administrators_manage_users(signed_in: httpx.AsyncClient, accounts: AccountService) -> None:
    made = await signed_in.post("/api/users", json={"email": "New@Example.org", "password": PASSWORD, "name": "New"})
    assert (made.status_code, made.json()["email"]) == (201, "new@example.org")
    assert not {"password", "password_hash"} & set(made.json())
    assert PASSWORD not in made.text
    twice = await signed_in.post("/api/users", json={"email": "new@example.org", "password": PASSWORD})
    assert (twice.status_code, twice.json()["error"]["code"]) == (409, "conflict")
    place = f"/api/users/{made.json()['id']}"
    assert (await signed_in.patch(place, json={"role": "admin"})).json()["role"] == "admin"
    assert (await signed_in.patch(place, json={"disabled": True})).json()["disabled_at"]
    assert (await signed_in.patch(place, json={"disabled": False, "password": NEW_PASSWORD})).status_code == 200
    await accounts.sign_in("new@example.org", NEW_PASSWORD, client=ELSEWHERE)
    assert (await signed_in.patch("/api/users/4711", json={"disabled": True})).status_code == 404


async def test_changing_the_password_ends_the_other_sessions_only(
    signed_in: httpx.AsyncClient, accounts: AccountService
) -> None:
    elsewhere = await accounts.sign_in(ADMIN, PASSWORD, client=ELSEWHERE)
    wrong = await signed_in.post("/account/password", data={"current_password": "x", "new_password": NEW_PASSWORD})
    assert (wrong.status_code, "current password is wrong" in wrong.text) == (422, True)
    weak = await signed_in.post("/account/password", data={"current_password": PASSWORD, "new_password": "short"})
    assert weak.status_code == 422
    assert await accounts.authenticate_session(elsewhere.secret) is not None

    done = await signed_in.post("/account/password", data={"current_password": PASSWORD, "new_password": NEW_PASSWORD})
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=password")
    assert "password is changed" in (await signed_in.get("/account?done=password")).text
    assert await accounts.authenticate_session(elsewhere.secret) is None
    with pytest.raises(PressboxError):
        await accounts.sign_in(ADMIN, PASSWORD, client=ELSEWHERE)


async def test_the_account_page_shows_a_new_token_once(signed_in: httpx.AsyncClient) -> None:
    made = await signed_in.post("/account/tokens", data={"name": "phone", "scopes": ["read", "reader"]})
    assert (made.status_code, made.headers["location"]) == (303, "/account")
    first, second = await signed_in.get("/account"), await signed_in.get("/account")
    assert "pbx_" in first.text
    assert "pbx_" not in second.text
    assert "phone" in second.text
    nameless = await signed_in.post("/account/tokens", data={"name": " ", "scopes": "read"})
    assert nameless.status_code == 422
    without_scope = await signed_in.post("/account/tokens", data={"name": "x"})
    assert (without_scope.status_code, "Choose at least one scope" in without_scope.text) == (422, True)


async def test_signing_out_everywhere_means_here_too(
    signed_in: httpx.AsyncClient, accounts: AccountService, admin: User
) -> None:
    await accounts.sign_in(ADMIN, PASSWORD, client=ELSEWHERE)
    listed = (await signed_in.get("/api/account/sessions")).json()
    assert sorted(session["current"] for session in listed) == [False, True]
    other = next(session["id"] for session in listed if not session["current"])
    assert (await signed_in.delete(f"/api/account/sessions/{other}")).status_code == 204
    assert (await signed_in.delete(f"/api/account/sessions/{other}")).status_code == 404
    assert (await signed_in.post("/account/sessions/end")).headers["location"] == "/sign-in"
    assert await accounts.sessions(admin.id) == ()


async def test_the_language_of_the_account_is_that_of_its_pages(signed_in: httpx.AsyncClient) -> None:
    await signed_in.post("/account/profile", data={"language": "de"})
    assert (await signed_in.get("/account")).headers["content-language"] == "de"
    unknown = await signed_in.post("/account/profile", data={"language": "tlh"})
    assert unknown.status_code == 422


async def test_people_name_themselves_before_anything_technical(signed_in: httpx.AsyncClient) -> None:
    await signed_in.post("/account/profile", data={"display_name": "  Ada   L.  "})
    page = (await signed_in.get("/account")).text
    assert "<h1>Ada L.</h1>" in page
    assert page.index('id="profile"') < page.index('id="password"') < page.index('id="tokens"')
    refused = await signed_in.post("/account/profile", data={"display_name": "a" * 1000})
    assert (refused.status_code, 'id="e-display_name"' in refused.text) == (422, True)
    # A form that does not name anybody leaves the name.
    await signed_in.post("/account/profile", data={"language": ""})
    assert "<h1>Ada L.</h1>" in (await signed_in.get("/account")).text


async def test_sign_in_limits_hold_across_two_web_processes(
    open_app: OpenApp, browse: Browse, settings: Settings, admin: User
) -> None:
    async with open_app(settings) as one, open_app(settings) as two:
        browsers = [browse(one, "192.0.2.1"), browse(two, "192.0.2.1")]
        for attempt in range(10):
            answer = await browsers[attempt % 2].post("/sign-in", data={"email": ADMIN, "password": "wrong password"})
            assert answer.status_code == 422
        for browser in browsers:
            limited = await browser.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
            assert limited.status_code == 429
            assert 0 < int(limited.headers["retry-after"]) <= 600
            assert "Too many attempts" in limited.text


async def test_one_address_cannot_try_many_accounts(app: FastAPI, browse: Browse, admin: User) -> None:
    browser = browse(app, "192.0.2.1")
    answers = [
        (await browser.post("/sign-in", data={"email": f"{number}@example.org", "password": "wrong"})).status_code
        for number in range(31)
    ]
    assert answers == [422] * 30 + [429]
    elsewhere = browse(app, "192.0.2.2")
    assert (await elsewhere.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})).status_code == 303


async def test_invented_tokens_are_limited_and_good_ones_still_work(
    app: FastAPI, browse: Browse, accounts: AccountService, admin: User
) -> None:
    program = browse(app, "192.0.2.1")
    answers = {(await program.get("/api/account", headers=bearer("pbx_x"))).status_code for _ in range(60)}
    assert answers == {401}
    assert (await program.get("/api/account", headers=bearer("pbx_x"))).status_code == 429
    good = await new_token(accounts, admin, Scope.READ)
    assert (await program.get("/api/account", headers=bearer(good))).status_code == 200


async def test_a_limit_counts_exactly_under_concurrency_and_opens_again(database: Database) -> None:
    limits = RateLimits(database)
    limit = Limit("test", 5, timedelta(hours=1))
    results = await asyncio.gather(*(limits.count(limit, "somebody") for _ in range(12)), return_exceptions=True)
    assert sum(result is None for result in results) == 5
    assert sum(isinstance(result, RateLimitedError) for result in results) == 7
    await limits.count(limit, "somebody else")
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.rate_limits SET expires_at = expires_at - interval '1 hour'"))
    await limits.count(limit, "somebody")


async def test_a_set_up_link_that_is_used_twice_at_once_makes_one_administrator(accounts: AccountService) -> None:
    link = await accounts.create_setup_link()
    assert link is not None
    results = await asyncio.gather(
        *(
            accounts.redeem_setup_link(link, email=f"{n}@example.org", password=PASSWORD, client=ELSEWHERE)
            for n in range(4)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(result, GoneError) for result in results) == 3
    assert len(await accounts.users()) == 1


async def test_two_administrators_cannot_disable_each_other_at_once(
    accounts: AccountService, life_cycle: AccountLifeCycle, admin: User
) -> None:
    other = await accounts.add_user("other@example.org", PASSWORD, role=Role.ADMIN)
    await asyncio.gather(life_cycle.disable_user(admin.id), life_cycle.disable_user(other.id), return_exceptions=True)
    assert sum(user.disabled_at is None for user in await accounts.users()) == 1


async def test_in_the_open_mode_everybody_here_is_the_administrator(
    open_app: OpenApp, browse: Browse, settings: Settings, accounts: AccountService
) -> None:
    async with open_app(settings.model_copy(update={"open": True})) as app:
        me = (await browse(app).get("/api/account")).json()
        assert (me["role"], me["via"], me["email"]) == ("admin", "open", OPEN_OWNER)
        assert (await browse(app).get("/account")).status_code == 200
        assert (await browse(app, "192.0.2.1").get("/api/account")).status_code == 401
        proxied = await browse(app).get("/api/account", headers={"X-Forwarded-For": "127.0.0.1"})
        assert proxied.status_code == 401
        foreign = await browse(app, Origin="http://evil.example").patch("/api/account", json={"language": "de"})
        assert foreign.status_code == 403
        rebound = await browse(app).get("/api/account", headers={"Host": "evil.example"})
        assert rebound.status_code == 400

    # Leaving the open mode: set-up is still possible, and what was made belongs to the new administrator.
    link = await accounts.create_setup_link()
    assert link is not None
    begun = await accounts.redeem_setup_link(link, email=ADMIN, password=PASSWORD, client=ELSEWHERE)
    assert begun.user.id == me["user_id"]
    assert len(await accounts.users()) == 1


async def test_in_the_open_mode_the_first_administrator_is_the_one_there_is(
    open_app: OpenApp, browse: Browse, settings: Settings, admin: User
) -> None:
    async with open_app(settings.model_copy(update={"open": True})) as app:
        answers = await asyncio.gather(*(browse(app).get("/api/account") for _ in range(5)))
    assert {answer.json()["user_id"] for answer in answers} == {admin.id}


async def test_the_api_describes_itself_with_its_one_error_shape(browser: httpx.AsyncClient) -> None:
    described = (await browser.get("/api/openapi.json")).json()
    paths = described["paths"]
    assert {"/api/account", "/api/account/tokens", "/api/users", "/api/stream"} <= set(paths)
    assert all(path.startswith("/api/") for path in paths)
    assert "4XX" in paths["/api/account"]["get"]["responses"]
    assert paths["/api/account"]["get"]["security"] == [{"token": []}]
    assert described["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "HTTPValidationError" not in described["components"]["schemas"]
