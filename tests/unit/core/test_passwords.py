import asyncio
import time

import pytest
from argon2 import PasswordHasher

from pressbox.core.accounts.passwords import UNUSABLE, Passwords, validate_password
from pressbox.core.errors import InvalidInputError

CHEAP = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
GOOD = "four words in a row"


async def test_a_password_matches_its_own_hash_and_no_other() -> None:
    passwords = Passwords(CHEAP)
    stored = await passwords.hash(GOOD)
    assert stored.startswith("$argon2id$")
    assert (await passwords.check(stored, GOOD)).matches
    assert not (await passwords.check(stored, GOOD + "x")).matches


async def test_the_same_letters_in_another_unicode_form_match() -> None:
    passwords = Passwords(CHEAP)
    stored = await passwords.hash("Fußballabend é")
    assert (await passwords.check(stored, "Fußballabend é")).matches


async def test_a_hash_with_older_parameters_is_replaced() -> None:
    stored = await Passwords(CHEAP).hash(GOOD)
    stronger = Passwords(PasswordHasher(time_cost=2, memory_cost=128, parallelism=1))
    check = await stronger.check(stored, GOOD)
    assert check.matches
    assert check.replacement is not None
    assert "m=128,t=2" in check.replacement
    assert (await stronger.check(check.replacement, GOOD)).replacement is None


@pytest.mark.parametrize("stored", [None, UNUSABLE, "not a hash at all"])
async def test_nobody_matches_whatever_is_typed(stored: str | None) -> None:
    passwords = Passwords(CHEAP)
    for typed in ("", UNUSABLE, GOOD, "\ud800" * 20, "x" * 100_000):
        assert not (await passwords.check(stored, typed)).matches


async def test_an_unknown_user_costs_as_much_as_a_wrong_password() -> None:
    """The real parameters: what would tell the two apart is whether the computation runs at all."""
    passwords = Passwords()
    stored = await passwords.hash(GOOD)
    spent = {}
    for name, value in (("known", stored), ("unknown", None)):
        begun = time.thread_time(), time.process_time()
        await passwords.check(value, "wrong password")
        spent[name] = time.process_time() - begun[1]
    assert spent["unknown"] > spent["known"] / 3


async def test_hashing_leaves_the_event_loop_free() -> None:
    passwords = Passwords()
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.002)
            beats += 1

    beating = asyncio.create_task(beat())
    await passwords.hash(GOOD)
    beating.cancel()
    assert beats >= 3


@pytest.mark.parametrize(
    ("password", "words"),
    [("short", "at least 10"), ("ä" * 600, "1024 bytes"), ("x" * 2_000_000, "1024 bytes"), ("aaaaaaaaaaaa", "repeats")],
)
def test_a_bad_password_is_refused_with_a_reason_and_not_repeated(password: str, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words) as refused:
        validate_password(password)
    assert refused.value.field == "password"
    assert password not in refused.value.message


def test_a_password_of_exactly_the_limits_is_accepted() -> None:
    assert validate_password("abcdefghij")
    assert validate_password("ab" * 512)
