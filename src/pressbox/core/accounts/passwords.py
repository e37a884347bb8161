"""Passwords: argon2id, computed beside the event loop, at the same cost whether or not somebody exists."""

import asyncio
import base64
import secrets
import unicodedata
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from pressbox.core.errors import InvalidInputError

SHORTEST = 10
LONGEST_BYTES = 1024

# Stored for a user who has no password: no password matches it.
UNUSABLE = "!"

# Each computation takes 64 MiB and all cores for a moment; more at the same time would only make each slower.
AT_ONCE = 2


@dataclass(frozen=True)
class PasswordCheck:
    """`replacement` is a fresh hash when the stored one was made with older parameters."""

    matches: bool
    replacement: str | None = None


class Passwords:
    """Hashes and checks. The default parameters are those of RFC 9106 for little memory, as the library has them."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._nobody = _hash_of_nobody(self._hasher)

    async def hash(self, password: str) -> str:
        async with self._slots:
            return await asyncio.to_thread(self._hasher.hash, _canonical(password))

    async def check(self, stored: str | None, password: str) -> PasswordCheck:
        """Compare with what is stored; with None, do the same work and say no."""
        async with self._slots:
            return await asyncio.to_thread(self._check, stored, password)

    def _check(self, stored: str | None, password: str) -> PasswordCheck:
        if _too_long(password):
            stored, password = None, ""
        canonical = _canonical(password)
        known = stored is not None and stored != UNUSABLE
        try:
            self._hasher.verify(stored if known and stored else self._nobody, canonical)
        except (VerificationError, InvalidHashError):
            return PasswordCheck(matches=False)
        outdated = known and stored is not None and self._hasher.check_needs_rehash(stored)
        return PasswordCheck(matches=known, replacement=self._hasher.hash(canonical) if outdated else None)


def validate_password(password: str, *, field: str = "password") -> str:
    """The password itself, or an error that says what is wrong with it and never repeats it."""
    if len(password) < SHORTEST:
        raise InvalidInputError(
            f"The password needs at least {SHORTEST} characters. Four words in a row are easy to remember.", field=field
        )
    if _too_long(password):
        raise InvalidInputError(f"The password is longer than {LONGEST_BYTES} bytes. Take a shorter one.", field=field)
    if len(set(password)) == 1:
        raise InvalidInputError("The password repeats one character. Take something less easy to guess.", field=field)
    return password


def _too_long(password: str) -> bool:
    # The cheap question first: somebody may send megabytes.
    return len(password) > LONGEST_BYTES or len(_canonical(password)) > LONGEST_BYTES


def _canonical(password: str) -> bytes:
    # The same letters can be typed as different code points, depending on the keyboard. A lone surrogate, which only
    # a broken client sends, becomes a question mark instead of an error.
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace")


def _hash_of_nobody(hasher: PasswordHasher) -> str:
    """A hash with today's parameters that no password has: checking against it takes the usual time."""

    def random_base64(length: int) -> str:
        return base64.b64encode(secrets.token_bytes(length)).decode().rstrip("=")

    parameters = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${parameters}${random_base64(hasher.salt_len)}${random_base64(hasher.hash_len)}"
