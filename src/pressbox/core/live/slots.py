"""How many event streams may be open: per person, per client address, and in this process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from pressbox.core.errors import RateLimitedError

Key = TypeVar("Key", int, str)

# A stream ends after ten minutes at the latest, and most pages are closed sooner.
RETRY_AFTER = timedelta(seconds=30)


@dataclass(frozen=True)
class StreamLimits:
    per_address: int
    in_all: int


class StreamSlots:
    """Counted in memory: a stream lives in one process and ends with it."""

    def __init__(self, limits: StreamLimits) -> None:
        self._limits = limits
        self._people: Counter[int] = Counter()
        self._addresses: Counter[str] = Counter()

    def open(self, user_id: int) -> int:
        """The streams that this person has open."""
        return self._people[user_id]

    @contextmanager
    def take(self, user_id: int, address: str, most: int) -> Iterator[None]:
        """Hold a slot for the length of the block, or raise: nobody waits for one."""
        self.check(user_id, address, most)
        self._people[user_id] += 1
        self._addresses[address] += 1
        try:
            yield
        finally:
            _leave(self._people, user_id)
            _leave(self._addresses, address)

    def check(self, user_id: int, address: str, most: int) -> None:
        """Raise when there is no slot."""
        if self._people[user_id] >= most:
            raise _full(f"You have {most} live pages open, as many as one person may. Close some of them.")
        if self._addresses[address] >= self._limits.per_address:
            raise _full("Too many live pages are open from your address. Close some of them.")
        if self._people.total() >= self._limits.in_all:
            raise _full("Too many live pages are open on this Pressbox. Try again in a moment.")


def _leave(counter: Counter[Key], key: Key) -> None:
    counter[key] -= 1
    if not counter[key]:
        del counter[key]


def _full(message: str) -> RateLimitedError:
    return RateLimitedError(message, retry_after=RETRY_AFTER)
