"""How much of something costly one person may have under way at a time, in one process."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from pressbox.core.errors import RateLimitedError

RETRY_AFTER = timedelta(seconds=5)


class AtOnce:
    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._running: Counter[int] = Counter()

    @contextmanager
    def take(self, user_id: int) -> Iterator[None]:
        """Count one for the length of the block, or raise: nobody waits in a queue of their own making."""
        if self._running[user_id] >= self._most:
            raise RateLimitedError(
                f"{self._what}: {self._most} of yours are under way. Wait until one has ended.", retry_after=RETRY_AFTER
            )
        self._running[user_id] += 1
        try:
            yield
        finally:
            self._running[user_id] -= 1
            if not self._running[user_id]:
                del self._running[user_id]
