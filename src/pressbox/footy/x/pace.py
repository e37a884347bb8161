"""The searches of the account that one search service is logged in with, as that service counts them.

It may run where no database is, so it only guards the account against itself. All processes of an installation share
the row of `adapters/sources/x_turns.py`.
"""

from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.footy.domain.search_turns import SearchTurns, note_refusal, note_success, take_turn


class SearchPace:
    def __init__(self, most: int, now: Clock = utc_now) -> None:
        self._most = most
        self._now = now
        self._turns = SearchTurns()

    def take(self) -> timedelta | None:
        """Take one search; or return how long to wait for the next one."""
        self._turns, wait = take_turn(self._turns, self._most, self._now())
        return wait

    def back_off(self) -> timedelta:
        self._turns, wait = note_refusal(self._turns, self._now())
        return wait

    def succeed(self) -> None:
        self._turns = note_success(self._turns)
