"""The second factor by codes: set up, asked for, limited, lost."""

import asyncio
import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pyotp
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import select, text

from pressbox.core.accounts.audit import Action, AuditFilter, AuditLog
from pressbox.core.accounts.factor_rows import AuthenticatorAppRow, PasskeyRow, RecoveryCodeRow
from pressbox.core.accounts.factors import SecondFactors
from pressbox.core.accounts.life_cycle import AccountLifeCycle
from pressbox.core.accounts.models import User
from pressbox.core.accounts.recovery import AccountRecovery
from pressbox.core.accounts.rows import SessionRow
from pressbox.core.clock import utc_now
from pressbox.core.config import AccountsSettings, SecondFactorRule, Settings
from pressbox.core.db.database import Database
from tests.integration.web.conftest import Browse, OpenApp
from tests.site import ADMIN, MEMBER, ORIGIN, PASSWORD, Browser

PAGE = "/account/second-factor"


class Clock:
    """Steps on by itself whenever a code is taken, so that no code is the same as the last."""

    def __init__(self) -> None:
        self.now = utc_now()

    def __call__(self) -> datetime:
        return self.now

    def next_code(self, secret: str) -> str:
        self.now += timedelta(seconds=30)
        return pyotp.TOTP(secret).at(self.now)


@pytest.fixture
def clock(app: FastAPI, database: Database, settings: Settings) -> Clock:
    clock = Clock()
    app.state.factors = SecondFactors(database, settings, clock=clock)
    return clock


async def set_up_app(browser: Browser, next_code: Callable[[str], str]) -> tuple[str, list[str]]:
    """The secret, and the recovery codes that are shown this once."""
    assert (await browser.post(f"{PAGE}/app")).headers["location"] == f"{PAGE}/app"
    page = (await browser.get(f"{PAGE}/app")).text
    assert "data:image/svg+xml" in page
    found = re.search(r"data-secret>([A-Z2-7 ]+)<", page)
    assert found
    secret = found[1].replace(" ", "")
    answer = await browser.post(f"{PAGE}/app/confirm", data={"code": next_code(secret)})
    assert answer.status_code == 200
    codes = re.search(r"data-recovery-codes>([^<]+)<", answer.text)
    assert codes
    return secret, codes[1].split()


async def give_password(browser: Browser, email: str = ADMIN, next: str = "") -> None:
    answer = await browser.post("/sign-in", data={"email": email, "password": PASSWORD, "next": next})
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in/second")


async def is_signed_in(browser: Browser) -> bool:
    return (await browser.get("/api/account", headers={"Accept": "application/json"})).status_code == 200


async def test_the_code_is_asked_for_after_the_password_and_there_is_no_session_before_it(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, database: Database
) -> None:
    secret, codes = await set_up_app(signed_in, clock.next_code)
    assert len(codes) == 10
    other = browse(app)
    await give_password(other, next="/activity")
    assert not await is_signed_in(other)
    async with database.unit_of_work() as work:
        assert len((await work.session.execute(select(SessionRow))).all()) == 1
    page = await other.get("/sign-in/second")
    assert "Code of your authenticator app" in page.text
    wrong = await other.post("/sign-in/second", data={"code": "000000"})
    assert wrong.status_code == 422
    assert not await is_signed_in(other)
    code = clock.next_code(secret)
    right = await other.post("/sign-in/second", data={"code": f"{code[:3]} {code[3:]}"})
    assert (right.status_code, right.headers["location"]) == (303, "/activity")
    assert await is_signed_in(other)


async def test_a_code_works_once_also_in_two_tabs_at_the_same_time(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock
) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    tabs = [browse(app) for _ in range(4)]
    for tab in tabs:
        await give_password(tab)
    code = clock.next_code(secret)
    answers = await asyncio.gather(*(tab.post("/sign-in/second", data={"code": code}) for tab in tabs))
    assert sorted(answer.status_code for answer in answers) == [303, 422, 422, 422]


async def test_the_first_code_cannot_be_used_again_to_sign_in(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock
) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    other = browse(app)
    await give_password(other)
    answer = await other.post("/sign-in/second", data={"code": pyotp.TOTP(secret).at(clock.now)})
    assert answer.status_code == 422


async def test_a_recovery_code_works_once_and_not_for_somebody_else(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, member: User
) -> None:
    _, codes = await set_up_app(signed_in, clock.next_code)
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    await set_up_app(theirs, clock.next_code)
    other = browse(app)
    await give_password(other, MEMBER)
    assert (await other.post("/sign-in/second", data={"code": codes[0]})).status_code == 422
    await give_password(other)
    assert (await other.post("/sign-in/second", data={"code": codes[0].upper()})).status_code == 303
    again = browse(app)
    await give_password(again)
    assert (await again.post("/sign-in/second", data={"code": codes[0]})).status_code == 422
    assert "9 unused" in (await other.get(PAGE)).text


async def test_new_recovery_codes_end_the_old_ones(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock
) -> None:
    _, old = await set_up_app(signed_in, clock.next_code)
    shown = re.search(r"data-recovery-codes>([^<]+)<", (await signed_in.post(f"{PAGE}/codes")).text)
    assert shown
    new = shown[1].split()
    assert not set(new) & set(old)
    other = browse(app)
    await give_password(other)
    assert (await other.post("/sign-in/second", data={"code": old[1]})).status_code == 422
    assert (await other.post("/sign-in/second", data={"code": new[1]})).status_code == 303


async def test_guessing_ends_soon_and_a_recovery_code_still_lets_the_owner_in(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock
) -> None:
    secret, codes = await set_up_app(signed_in, clock.next_code)
    statuses = []
    for network in range(6):
        guesser = browse(app, f"198.51.100.{network}")
        await give_password(guesser)
        for guess in range(5):
            answer = await guesser.post("/sign-in/second", data={"code": f"00{network}{guess:03}"})
            statuses.append(answer.status_code)
    assert statuses.count(429) >= 9
    owner = browse(app)
    await give_password(owner)
    assert (await owner.post("/sign-in/second", data={"code": clock.next_code(secret)})).status_code == 429
    assert (await owner.post("/sign-in/second", data={"code": codes[0]})).status_code == 303


async def test_one_address_has_few_tries(app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock) -> None:
    await set_up_app(signed_in, clock.next_code)
    guesser = browse(app, "198.51.100.7")
    await give_password(guesser)
    statuses = [(await guesser.post("/sign-in/second", data={"code": f"{n:06}"})).status_code for n in range(10)]
    assert statuses == [422] * 8 + [429] * 2


async def test_the_second_step_belongs_to_one_browser_and_ends_with_it(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, database: Database
) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    stranger, owner = browse(app), browse(app)
    assert (await stranger.get("/sign-in/second")).headers["location"] == "/sign-in"
    assert (await stranger.post("/sign-in/second", data={"code": clock.next_code(secret)})).status_code == 410
    await give_password(owner)
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.ceremonies SET expires_at = now() - interval '1 second'"))
    assert (await owner.post("/sign-in/second", data={"code": clock.next_code(secret)})).status_code == 410
    assert not await is_signed_in(owner)


async def test_other_sessions_end_when_a_second_factor_is_set_up(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock
) -> None:
    older = browse(app)
    await older.sign_in(ADMIN)
    await set_up_app(signed_in, clock.next_code)
    assert await is_signed_in(signed_in)
    assert not await is_signed_in(older)


async def test_changing_it_needs_a_fresh_proof(signed_in: Browser, clock: Clock, database: Database) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    await _let_proof_lapse(database)
    for path in (f"{PAGE}/app/remove", f"{PAGE}/codes", f"{PAGE}/passkeys", f"{PAGE}/passkeys/1/remove"):
        answer = await signed_in.post(path, headers={"Referer": f"http://localhost:8030{PAGE}"})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/account/proof?next={PAGE}")
    assert "Switch off" not in (await signed_in.get(PAGE)).text
    proof = await signed_in.get(f"/account/proof?next={PAGE}")
    assert "Code of your authenticator app, or a recovery code" in proof.text
    wrong = await signed_in.post("/account/proof/code", data={"code": "000000", "next": PAGE})
    assert wrong.status_code == 422
    shown = await signed_in.post("/account/proof/code", data={"code": clock.next_code(secret), "next": PAGE})
    assert (shown.status_code, shown.headers["location"]) == (303, PAGE)
    assert (await signed_in.post(f"{PAGE}/app/remove")).status_code == 303
    answer = await signed_in.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    assert answer.headers["location"] == "/"


async def test_the_password_alone_proves_nothing_for_whoever_has_a_second_factor(
    signed_in: Browser, clock: Clock, database: Database, admin: User
) -> None:
    secret, codes = await set_up_app(signed_in, clock.next_code)
    await _let_proof_lapse(database)
    page = await signed_in.get(f"/account/proof?next={PAGE}")
    assert 'action="/account/proof"' not in page.text
    refused = await signed_in.post("/account/proof", data={"password": PASSWORD, "next": PAGE})
    assert (refused.status_code, "has a second factor" in refused.text) == (422, True)
    told = await signed_in.post("/api/account/proof", json={"password": PASSWORD})
    assert (told.status_code, told.json()["error"]["field"]) == (422, "code")
    for guess in (PASSWORD, "wrong"):
        # Not even whether the password is right.
        answer = await signed_in.post("/api/account/proof", json={"password": guess})
        assert answer.json()["error"]["message"] == told.json()["error"]["message"]
    assert (await signed_in.post(f"{PAGE}/app/remove")).headers["location"].startswith("/account/proof")
    assert (await signed_in.post("/api/account/proof", json={"code": "000000"})).status_code == 422
    assert (await signed_in.post("/api/account/proof", json={"code": codes[0]})).status_code == 204
    await _let_proof_lapse(database)
    code = clock.next_code(secret)
    assert (await signed_in.post("/api/account/proof", json={"code": code, "password": "wrong"})).status_code == 204
    assert (await signed_in.post(f"{PAGE}/app/remove")).headers["location"] == f"{PAGE}?done=app-removed"
    entries = await AuditLog(database).read(AuditFilter(action=Action.PROOF_REFUSED), 10)
    assert {entry.subject_id for entry in entries} == {admin.id}


async def test_whoever_has_a_second_factor_shows_it_to_change_the_password(
    signed_in: Browser, clock: Clock, database: Database
) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    await _let_proof_lapse(database)
    assert 'action="/account/password"' not in (await signed_in.get("/account")).text
    change = {"current_password": PASSWORD, "new_password": "other words in a row"}
    answer = await signed_in.post("/account/password", data=change, headers={"Referer": f"{ORIGIN}/account"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/account/proof?next=/account")
    told = await signed_in.post("/api/account/password", json=change)
    assert (told.status_code, told.json()["error"]["code"]) == (403, "proof_needed")
    await signed_in.post("/account/proof/code", data={"code": clock.next_code(secret)})
    assert 'action="/account/password"' in (await signed_in.get("/account")).text
    assert (await signed_in.post("/account/password", data=change)).headers["location"] == "/account?done=password"


async def test_a_recovery_code_proves_for_whoever_has_only_passkeys(
    app: FastAPI, signed_in: Browser, clock: Clock, database: Database, admin: User
) -> None:
    _, codes = await set_up_app(signed_in, clock.next_code)
    async with database.unit_of_work() as work:
        app_row = await work.session.get(AuthenticatorAppRow, admin.id)
        await work.session.delete(app_row)
        key = PasskeyRow(user_id=admin.id, user_handle=b"x", credential_id=b"x", public_key=b"x", sign_count=0, name="")
        work.session.add(key)
    await _let_proof_lapse(database)
    assert "Recovery code" in (await signed_in.get("/account/proof")).text
    assert (await signed_in.post("/account/proof", data={"password": PASSWORD})).status_code == 422
    shown = await signed_in.post("/account/proof/code", data={"code": codes[0], "next": PAGE})
    assert (shown.status_code, shown.headers["location"]) == (303, PAGE)


async def test_the_secret_and_the_codes_are_not_in_the_database(
    signed_in: Browser, clock: Clock, database: Database
) -> None:
    secret, codes = await set_up_app(signed_in, clock.next_code)
    async with database.unit_of_work() as work:
        app = (await work.session.execute(select(AuthenticatorAppRow))).scalar_one()
        hashes = (await work.session.execute(select(RecoveryCodeRow.code_hash))).scalars().all()
    assert secret.encode() not in app.sealed_secret
    assert len(hashes) == len(codes)
    assert not any(code.replace("-", "").encode() in kept for code in codes for kept in hashes)


async def test_setting_up_twice_and_a_wrong_first_code_change_nothing(signed_in: Browser, clock: Clock) -> None:
    assert (await signed_in.get(f"{PAGE}/app")).headers["location"] == PAGE
    await signed_in.post(f"{PAGE}/app")
    wrong = await signed_in.post(f"{PAGE}/app/confirm", data={"code": "12345"})
    assert wrong.status_code == 422
    assert "clock" in wrong.text
    assert "Off." in (await signed_in.get(PAGE)).text
    await set_up_app(signed_in, clock.next_code)
    assert (await signed_in.post(f"{PAGE}/app")).status_code == 409


async def test_what_happens_is_in_the_audit_log(
    app: FastAPI, signed_in: Browser, admin: User, browse: Browse, clock: Clock, database: Database
) -> None:
    _, codes = await set_up_app(signed_in, clock.next_code)
    other = browse(app)
    await give_password(other)
    await other.post("/sign-in/second", data={"code": "000000"})
    await other.post("/sign-in/second", data={"code": codes[0]})
    seen = [entry.action for entry in await AuditLog(database).read(AuditFilter(user_id=admin.id))]
    assert seen[:4] == [
        Action.SIGNED_IN,
        Action.RECOVERY_CODE_USED,
        Action.CODE_REFUSED,
        Action.SECOND_FACTOR_ADDED,
    ]


async def test_after_a_change_of_the_instance_key_a_recovery_code_still_lets_the_owner_in(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, database: Database, settings: Settings
) -> None:
    secret, codes = await set_up_app(signed_in, clock.next_code)
    changed = settings.model_copy(update={"secret_key": SecretStr("another key, made by whoever runs it")})
    app.state.factors = SecondFactors(database, changed, clock=clock)
    other = browse(app)
    await give_password(other)
    refused = await other.post("/sign-in/second", data={"code": clock.next_code(secret)})
    assert refused.status_code == 409
    assert "another instance key" in refused.text
    assert (await other.post("/sign-in/second", data={"code": codes[0]})).status_code == 303
    assert (await other.post(f"{PAGE}/app/remove")).status_code == 303
    await set_up_app(other, clock.next_code)


async def test_a_mailed_link_does_not_stand_in_for_the_second_factor(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, admin: User, life_cycle: AccountLifeCycle
) -> None:
    secret, _ = await set_up_app(signed_in, clock.next_code)
    link = await AccountRecovery(app.state.resources.database, life_cycle).create_link(admin.id)
    other = browse(app)
    await other.post("/choose-password", data={"token": link.secret, "password": PASSWORD + " anew"})
    assert not await is_signed_in(other)
    answer = await other.post("/sign-in", data={"email": ADMIN, "password": PASSWORD + " anew"})
    assert answer.headers["location"] == "/sign-in/second"
    assert (await other.post("/sign-in/second", data={"code": clock.next_code(secret)})).status_code == 303


async def test_an_instance_that_demands_a_second_factor_opens_nothing_before_it(
    open_app: OpenApp, settings: Settings, browse: Browse, admin: User, member: User
) -> None:
    demanding = settings.model_copy(
        update={"accounts": AccountsSettings(second_factor=SecondFactorRule.ADMINISTRATORS)}
    )
    async with open_app(demanding) as app:
        someone = browse(app)
        await someone.sign_in(MEMBER)
        assert (await someone.get("/account")).status_code == 200
        chief = browse(app)
        await chief.sign_in(ADMIN)
        for path in ("/", "/account", "/activity", "/status"):
            answer = await chief.get(path)
            assert (answer.status_code, answer.headers.get("location")) == (303, PAGE), path
        refused = await chief.get("/api/account", headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "second_factor_needed")
        assert (await chief.post("/account/tokens", data={"name": "x", "scopes": "read"})).headers["location"] == PAGE
        assert "One more thing" in (await chief.get(PAGE)).text
        clock = Clock()
        app.state.factors._clock = clock
        await set_up_app(chief, clock.next_code)
        assert (await chief.get("/account")).status_code == 200


async def _let_proof_lapse(database: Database) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.sessions SET proved_at = now() - interval '1 hour'"))


async def test_only_an_administrator_removes_somebody_elses_second_factor(
    app: FastAPI, signed_in: Browser, browse: Browse, clock: Clock, member: User, database: Database
) -> None:
    theirs = browse(app)
    await theirs.sign_in(MEMBER)
    await set_up_app(theirs, clock.next_code)
    assert (await theirs.delete(f"/api/users/{member.id}/second-factors")).status_code == 403
    await _let_proof_lapse(database)
    assert (await signed_in.delete(f"/api/users/{member.id}/second-factors")).status_code == 403
    await signed_in.post("/account/proof", data={"password": PASSWORD})
    assert (await signed_in.delete(f"/api/users/{member.id}/second-factors")).status_code == 204
    assert (await signed_in.delete(f"/api/users/{member.id}/second-factors")).status_code == 409
    assert (await signed_in.delete("/api/users/4711/second-factors")).status_code == 404
    await theirs.sign_in(MEMBER)
    await set_up_app(theirs, clock.next_code)
    assert f'action="/users/{member.id}/second-factors/remove"' in (await signed_in.get(f"/users/{member.id}")).text
    assert (await theirs.post(f"/users/{member.id}/second-factors/remove")).status_code == 403
    removed = await signed_in.post(f"/users/{member.id}/second-factors/remove")
    assert removed.headers["location"] == f"/users/{member.id}?done=second-factor"
    assert (await signed_in.post(f"/users/{member.id}/second-factors/remove")).status_code == 409
    lines = await AuditLog(database).read(AuditFilter(action=Action.SECOND_FACTOR_REMOVED))
    assert [(line.actor, line.subject) for line in lines] == [(ADMIN, MEMBER)] * 2
    shown = (await signed_in.get("/audit")).text
    assert "Second factor removed" in shown


async def test_without_a_public_address_passkeys_are_not_offered_and_the_reason_is_named(
    app: FastAPI, signed_in: Browser, browse: Browse
) -> None:
    stranger = browse(app)
    assert "/sign-in/passkey" not in (await stranger.get("/sign-in")).text
    refused = await stranger.post("/sign-in/passkey/options", headers={"Accept": "application/json"})
    assert refused.status_code == 409
    assert "the settings must name it" in refused.json()["error"]["message"]
    assert "/settings/instance" in (await signed_in.get(PAGE)).text
    assert (await signed_in.post(f"{PAGE}/passkeys/options")).status_code == 409
