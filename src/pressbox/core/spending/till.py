"""The only way to a paid service: no request without a line in the ledger, and none when the budget is used up."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import PressboxError, RateLimitedError, TransientError, shorten
from pressbox.core.spending.domain import Budget, Order, Outcome, PaidAnswer, next_day_start, next_month_start
from pressbox.core.spending.ports import Ledger

# Longer than any request takes: a line that runs longer belonged to a process that died.
LEASE = timedelta(minutes=15)
# Work that waits for midnight looks this often whether the budget was raised.
BUDGET_PAUSE = timedelta(minutes=15)
# Running requests may need less than is held for them.
HELD_PAUSE = timedelta(seconds=20)
TOKENS_SETTING, COST_SETTING = "PRESSBOX_SPENDING_TOKENS_PER_DAY", "PRESSBOX_SPENDING_COST_PER_DAY"
USED_UP = (
    "The budget of the day is used up ({limits}). Work continues at midnight UTC, or as soon as {settings} is raised."
)
MONTH_USED_UP = "{service}: the {posts:,} posts of this month are used up; it goes on at {month:%Y-%m-%d} 00:00 UTC."
HELD = "Running requests hold the rest of the day's budget."
LONGEST_REASON = 300
# Backoff while recording a paid answer: it is worth waiting for the database.
RECORD_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)

# Sends exactly one request.
Send = Callable[[], Awaitable[PaidAnswer]]


class UnbilledError(Exception):
    """For `send`: nothing is billed, and `error` says what happened. Any other error may have cost something.

    Without `sent` the request never left, and nothing is written down.
    """

    def __init__(self, error: PressboxError, *, sent: bool = True) -> None:
        super().__init__(error.message)
        self.error = error
        self.sent = sent


class Till:
    """Pays for one request at a time, whoever asks and whatever it is for."""

    def __init__(self, ledger: Ledger, budget: Budget, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._budget = budget
        self._now = now

    async def pay(self, order: Order, send: Send) -> PaidAnswer:
        """A used-up budget raises RateLimitedError, and nothing is sent. What `send` raises passes through."""
        number = await self._open(order)
        try:
            answer = await send()
        except UnbilledError as unbilled:
            if unbilled.sent:
                await self._close(number, Outcome.REFUSED, unbilled.error.message)
            else:
                await self._ledger.drop(number)
            raise unbilled.error from unbilled.__cause__
        # Reason: whatever happened, also when the caller is cancelled, the request may be billed.
        except BaseException as error:
            reason = error.message if isinstance(error, PressboxError) else f"It ended by {type(error).__name__}."
            await self._close(number, Outcome.LOST, reason)
            raise
        await self._record(number, answer)
        return answer

    async def _open(self, order: Order) -> int:
        """The last request may exceed the budget; everybody after it waits."""
        now = self._now()
        opening = await self._ledger.open(order, self._budget, now + LEASE, now)
        if opening.number is not None:
            return opening.number
        if opening.month_used_up:
            month = next_month_start(now)
            message = MONTH_USED_UP.format(service=order.call.model, posts=order.posts_per_month, month=month)
            raise RateLimitedError(message, retry_after=min(month - now, BUDGET_PAUSE))
        if opening.held_by_others:
            raise RateLimitedError(HELD, retry_after=HELD_PAUSE)
        raise RateLimitedError(used_up_message(self._budget), retry_after=min(next_day_start(now) - now, BUDGET_PAUSE))

    async def _close(self, number: int, outcome: Outcome, reason: str) -> None:
        # A line that cannot be closed now ends as lost with its lease.
        with suppress(TransientError):
            await self._ledger.close(number, outcome, shorten(reason, LONGEST_REASON))

    async def _record(self, number: int, answer: PaidAnswer) -> None:
        for pause in RECORD_PAUSES_SECONDS:
            with suppress(TransientError):
                return await self._ledger.record(number, answer)
            await asyncio.sleep(pause)
        await self._ledger.record(number, answer)


def used_up_message(budget: Budget) -> str:
    limits, settings = f"{budget.tokens_per_day:,} tokens", TOKENS_SETTING
    if budget.cost_per_day is not None:
        limits, settings = f"{limits} or a cost of {budget.cost_per_day:g}", f"{settings} or {COST_SETTING}"
    return USED_UP.format(limits=limits, settings=settings)
