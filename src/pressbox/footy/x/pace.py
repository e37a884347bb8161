"""How often one account may search X: a number in a quarter of an hour, and less after a refusal."""

from collections import deque
from datetime import datetime, timedelta

from pressbox.core.clock import Clock, utc_now

WINDOW = timedelta(minutes=15)
FIRST_PAUSE = timedelta(minutes=1)


class SearchPace:
    """All goals share it: it belongs to the account, and the account to one service."""

    def __init__(self, most: int, now: Clock = utc_now) -> None:
        self._most = most
        self._now = now
        self._taken: deque[datetime] = deque()
        self._refused_until: datetime | None = None
        self._pause = FIRST_PAUSE

    def take(self) -> timedelta | None:
        """Take one search; or return how long to wait for the next one."""
        now = self._now()
        while self._taken and now - self._taken[0] >= WINDOW:
            self._taken.popleft()
        if self._refused_until is not None and now < self._refused_until:
            return self._refused_until - now
        if len(self._taken) >= self._most:
            return self._taken[0] + WINDOW - now
        self._taken.append(now)
        return None

    def back_off(self) -> timedelta:
        """X refused: wait, and twice as long each time, up to the whole window."""
        wait = self._pause
        self._refused_until = self._now() + wait
        self._pause = min(wait * 2, WINDOW)
        return wait

    def succeed(self) -> None:
        self._pause = FIRST_PAUSE
