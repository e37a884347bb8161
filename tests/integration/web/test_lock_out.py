"""Guessing passwords is slow, and nobody can lock somebody else out by guessing."""

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from pressbox.core.accounts.attempts import FREE_ATTEMPTS, LONGEST_GAP, gap_after
from pressbox.core.accounts.models import Client, User
from pressbox.core.accounts.proxies import check_proxies
from pressbox.core.accounts.service import AccountService
from pressbox.core.config import Settings
from pressbox.core.db.database import Database
from pressbox.core.errors import InvalidInputError, RateLimitedError
from pressbox.core.health import HealthState
from tests.integration.web.conftest import Browse
from tests.site import ADMIN, MEMBER, PASSWORD, cheap_passwords

WRONG = {"email": MEMBER, "password": "wrong password"}
RIGHT = {"email": MEMBER, "password": PASSWORD}


async def test_a_stranger_cannot_lock_somebody_out(app: FastAPI, browse: Browse, member: User) -> None:
    for network in range(2):
        stranger = browse(app, f"192.0.2.{network}")
        statuses = [(await stranger.post("/sign-in", data=WRONG)).status_code for _ in range(11)]
        assert statuses == [422] * 10 + [429]
    assert (await browse(app, "198.51.100.1").post("/sign-in", data=RIGHT)).status_code == 303


async def test_a_known_browser_is_spared_at_the_address_from_which_somebody_guesses(
    app: FastAPI, browse: Browse, member: User
) -> None:
    """Behind a proxy that is not trusted, everybody has one address."""
    known = browse(app, "192.0.2.1")
    assert (await known.post("/sign-in", data=RIGHT)).status_code == 303
    await known.post("/sign-out")
    stranger = browse(app, "192.0.2.1")
    for number in range(40):
        await stranger.post("/sign-in", data={**WRONG, "email": f"{number}@example.org"})
    assert (await stranger.post("/sign-in", data=WRONG)).status_code == 429
    assert (await known.post("/sign-in", data=RIGHT)).status_code == 303


async def test_a_known_browser_may_not_guess_without_end_nor_at_others(
    app: FastAPI, browse: Browse, member: User, admin: User
) -> None:
    known = browse(app, "192.0.2.1")
    await known.post("/sign-in", data=RIGHT)
    assert [(await known.post("/sign-in", data=WRONG)).status_code for _ in range(11)] == [422] * 10 + [429]
    others = [(await known.post("/sign-in", data={**WRONG, "email": ADMIN})).status_code for _ in range(11)]
    assert others == [422] * 10 + [429]


async def test_a_device_that_somebody_planted_is_not_trusted(
    app: FastAPI, browse: Browse, member: User, admin: User, accounts: AccountService
) -> None:
    attacker = browse(app, "192.0.2.1")
    await attacker.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})
    planted = attacker.cookies["pressbox_device"]
    victim = browse(app, "192.0.2.2")
    victim.cookies.set("pressbox_device", planted, domain="localhost.local")
    answer = await victim.post("/sign-in", data=RIGHT)
    assert planted not in answer.headers["set-cookie"]


async def test_one_own_success_does_not_open_the_address_for_more_guesses(
    app: FastAPI, browse: Browse, member: User, admin: User
) -> None:
    stranger = browse(app, "192.0.2.1")
    statuses = []
    for number in range(32):
        fresh = browse(app, "192.0.2.1")
        guess = {**WRONG, "email": f"{number}@example.org"}
        statuses.append((await stranger.post("/sign-in", data=guess)).status_code)
        if number < 20:
            assert (await fresh.post("/sign-in", data={"email": ADMIN, "password": PASSWORD})).status_code == 303
    assert statuses == [422] * 30 + [429] * 2


def test_gaps_between_attempts_grow_and_end_somewhere() -> None:
    assert not any(gap_after(number) for number in range(FREE_ATTEMPTS + 1))
    gaps = [gap_after(number) for number in range(FREE_ATTEMPTS + 1, 500)]
    assert gaps == sorted(gaps)
    assert gaps[0].total_seconds() > 0
    assert gaps[-1] == LONGEST_GAP


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def patient_accounts(database: Database, settings: Settings, pauses: list[float]) -> AccountService:
    """Accounts that note how long they would have waited."""

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    return AccountService(database, settings, passwords=cheap_passwords(), pause=pause)


async def set_next_turn(database: Database, interval: str) -> None:
    async with database.unit_of_work() as work:
        await work.session.execute(
            text("UPDATE core.paces SET free_at = now() + cast(:wait AS interval)"), {"wait": interval}
        )


async def test_guesses_from_many_addresses_take_turns_and_known_browsers_do_not(
    database: Database, patient_accounts: AccountService, member: User, pauses: list[float]
) -> None:
    known = await patient_accounts.sign_in(MEMBER, PASSWORD, client=Client("198.51.100.1"))
    for number in range(FREE_ATTEMPTS):
        with pytest.raises(InvalidInputError):
            await patient_accounts.check_password(MEMBER, "wrong", client=Client(f"203.0.113.{number}"))
    await set_next_turn(database, "9 seconds")
    with pytest.raises(InvalidInputError):
        await patient_accounts.check_password(MEMBER, "wrong", client=Client("203.0.113.100"))
    assert pauses
    await set_next_turn(database, "1 minute")
    with pytest.raises(RateLimitedError):
        await patient_accounts.check_password(MEMBER, "wrong", client=Client("203.0.113.101"))
    pauses.clear()
    spared = Client("198.51.100.1", device=known.device)
    await patient_accounts.sign_in(MEMBER, PASSWORD, client=spared)
    assert pauses == []


async def test_turns_are_forgotten_after_a_day(
    database: Database, patient_accounts: AccountService, pauses: list[float]
) -> None:
    for number in range(FREE_ATTEMPTS + 3):
        with pytest.raises(InvalidInputError):
            await patient_accounts.check_password(MEMBER, "wrong", client=Client(f"203.0.113.{number}"))
    async with database.unit_of_work() as work:
        await work.session.execute(text("UPDATE core.paces SET expires_at = now(), free_at = now()"))
    pauses.clear()
    with pytest.raises(InvalidInputError):
        await patient_accounts.check_password(MEMBER, "wrong", client=Client("203.0.113.200"))
    assert pauses == []


async def test_doctor_warns_of_a_proxy_that_is_not_trusted(
    app: FastAPI, browse: Browse, database: Database, member: User
) -> None:
    assert (await check_proxies(database)).state is HealthState.OK
    far_away = browse(app, "8.8.8.8", **{"X-Forwarded-For": "203.0.113.1"})
    await far_away.post("/sign-in", data=RIGHT)
    assert (await check_proxies(database)).state is HealthState.OK, "anybody may send a header"
    behind = browse(app, "10.0.0.2", **{"X-Forwarded-For": "203.0.113.1"})
    for _ in range(2):
        await behind.post("/sign-in", data=RIGHT)
    found = await check_proxies(database)
    assert found.state is HealthState.WARNING
    assert "PRESSBOX_WEB_TRUSTED_PROXIES=10.0.0.2" in found.fix
