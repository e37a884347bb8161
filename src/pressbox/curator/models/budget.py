"""The tokens of a day: set aside before a call, so that many at a time cannot spend what is there only once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import RateLimitedError, TransientError
from pressbox.curator.models.domain import Prices, next_day_start
from pressbox.curator.models.ports import Expected, ModelLedger, PaidCall

# Longer than a call may take; what is set aside for longer belongs to a worker that died.
SET_ASIDE_FOR = timedelta(minutes=15)
# A larger budget is seen so soon by those who wait for midnight.
LOOK_AGAIN = timedelta(minutes=15)
# When calls that run now have taken the rest: they may need less than was set aside for them.
WAIT_FOR_OTHERS = timedelta(seconds=20)
NO_TOKENS_LEFT = (
    "The token budget of the day is used up ({budget:,} tokens). It goes on at midnight UTC, or when "
    "PRESSBOX_CURATOR_TOKENS_PER_DAY is larger."
)
# How long a database that is away is waited for with an answer in the hand.
RECORD_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
SPOKEN_FOR = "The rest of the day's token budget is spoken for by calls that run now."


class Budget:
    """One call more than there is room for may begin: the last one. Everybody after it waits."""

    def __init__(
        self, ledger: ModelLedger, tokens_per_day: int, prices: Prices | None = None, now: Clock = utc_now
    ) -> None:
        self._ledger = ledger
        self._tokens_per_day = tokens_per_day
        self.prices = prices or Prices()
        self._now = now

    async def set_aside(self, calls: Sequence[tuple[PaidCall, int, int]]) -> tuple[int, ...]:
        """For each call the tokens in and out that it will take at most. The numbers are for `record` or `free`."""
        now = self._now()
        expected = [
            Expected(call, tokens_in, tokens_out, self.prices.cost(tokens_in, 0))
            for call, tokens_in, tokens_out in calls
        ]
        reserved = await self._ledger.reserve(expected, self._tokens_per_day, now + SET_ASIDE_FOR, now)
        if reserved.ids:
            return tuple(reserved.ids)
        if reserved.spoken_for:
            raise RateLimitedError(SPOKEN_FOR, retry_after=WAIT_FOR_OTHERS)
        wait = min(next_day_start(now) - now, LOOK_AGAIN)
        raise RateLimitedError(NO_TOKENS_LEFT.format(budget=self._tokens_per_day), retry_after=wait)


async def recorded(record: Callable[[], Awaitable[None]]) -> None:
    """An answer that was paid for is worth waiting for the database."""
    for pause in RECORD_PAUSES_SECONDS:
        try:
            return await record()
        except TransientError:
            await asyncio.sleep(pause)
    await record()
