"""Pays for each piece of work once: first the ledger, then a claim and the budget, then the call.

Every paid call goes through `PayOnce`: questions to the language model, summaries in batches, translation services.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import AnswerLostError, RateLimitedError, TransientError
from pressbox.curator.models.domain import next_day_start
from pressbox.curator.models.ports import Claims, ModelLedger, Order, PaidAnswer, PaidCall, paid_claim

# A claim is renewed while its call runs: it lapses soon after its worker died, and never before.
CLAIM_LIFETIME = timedelta(seconds=45)
CLAIM_RENEWAL_SECONDS = 15.0
# How long one run waits for the answer that another one is paying for, and how often it looks.
PATIENCE = timedelta(minutes=2)
POLL_SECONDS = 0.5
PAID_ELSEWHERE = "Another run is paying for the same answer; this one will use it."

# Longer than any call takes: a reservation that is older belonged to a worker that died.
RESERVED_FOR = timedelta(minutes=15)
# Work that waits for midnight looks this often whether the budget was raised.
BUDGET_PAUSE = timedelta(minutes=15)
# Running calls may need less than they reserved.
RESERVED_PAUSE = timedelta(seconds=20)
BUDGET_USED_UP = (
    "The token budget of the day is used up ({budget:,} tokens). Work continues at midnight UTC, or as soon as "
    "PRESSBOX_CURATOR_TOKENS_PER_DAY is raised."
)
BUDGET_RESERVED = "The rest of the day's token budget is reserved by running calls."

# Backoff while recording a paid answer: it is worth waiting for the database.
RECORD_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


# Makes the call for these orders. An order without an answer is missing from the result.
Ask = Callable[[Sequence[Order]], Awaitable[Mapping[PaidCall, PaidAnswer]]]


class PayOnce:
    """Two runs that order the same at the same time pay once: the second waits for the answer of the first.

    A purchase runs to its end and into the ledger even when its caller is cancelled. When the process dies, only calls
    under way are lost: their questions are counted, and asked again. Without `tokens_per_day` there is no budget, for
    services that do not count tokens.
    """

    def __init__(
        self, ledger: ModelLedger, claims: Claims, tokens_per_day: int | None = None, now: Clock = utc_now
    ) -> None:
        self._ledger = ledger
        self._claims = claims
        self._tokens_per_day = tokens_per_day
        self._now = now
        self._running: set[asyncio.Task[dict[PaidCall, PaidAnswer]]] = set()

    async def buy(self, orders: Sequence[Order], ask: Ask) -> Mapping[PaidCall, PaidAnswer]:
        """Return the answers by call; a call without an answer is missing.

        A used-up budget raises RateLimitedError, an answer that another run does not finish in time TransientError, and
        whatever `ask` raises passes through.
        """
        task = asyncio.create_task(self._buy(orders, ask))
        self._running.add(task)
        task.add_done_callback(self._finish)
        return await asyncio.shield(task)

    def _finish(self, task: asyncio.Task[dict[PaidCall, PaidAnswer]]) -> None:
        self._running.discard(task)
        # The caller sees the error as well, unless it was cancelled.
        if not task.cancelled() and (error := task.exception()) is not None:
            activity.logger.debug("A paid call ended without an answer: %s", error)

    async def _buy(self, orders: Sequence[Order], ask: Ask) -> dict[PaidCall, PaidAnswer]:
        deadline = self._now() + PATIENCE
        # The same work twice in one batch is paid once.
        missing = {_key(order): order for order in reversed(orders)}
        answers: dict[str, PaidAnswer] = {}
        while missing:
            async with self._claim(tuple(missing)) as claimed:
                answers |= await self._look_up(missing)
                own = {key: order for key, order in missing.items() if key in claimed and key not in answers}
                answers |= await self._pay(own, ask)
            missing = {key: order for key, order in missing.items() if key not in answers and key not in own}
            if missing:
                if self._now() > deadline:
                    raise TransientError(PAID_ELSEWHERE)
                await asyncio.sleep(POLL_SECONDS)
        return {order.call: answers[_key(order)] for order in orders if _key(order) in answers}

    async def _look_up(self, orders: Mapping[str, Order]) -> dict[str, PaidAnswer]:
        known = {key: await self._ledger.find_answer(order.call) for key, order in orders.items()}
        return {key: PaidAnswer(text, bought=False) for key, text in known.items() if text is not None}

    async def _pay(self, orders: Mapping[str, Order], ask: Ask) -> dict[str, PaidAnswer]:
        if not orders:
            return {}
        reserved = await self._reserve(tuple(orders.values()))
        try:
            answers = await ask(tuple(orders.values()))
        except AnswerLostError:
            await self._ledger.release(tuple(reserved.values()), paid=True)
            raise
        # Reason: after any other error nothing was answered, and the tokens are free for others.
        except Exception:
            await self._ledger.release(tuple(reserved.values()))
            raise
        for call, answer in answers.items():
            await self._record(call, answer, reserved.pop(call, None))
        await self._ledger.release(tuple(reserved.values()))
        return {key: answers[order.call] for key, order in orders.items() if order.call in answers}

    async def _reserve(self, orders: Sequence[Order]) -> dict[PaidCall, int]:
        """Reserve tokens before the call, so that many calls at once cannot spend the same tokens.

        The last call may exceed the budget; everybody after it waits.
        """
        if self._tokens_per_day is None:
            return {}
        now = self._now()
        reservation = await self._ledger.reserve(orders, self._tokens_per_day, now + RESERVED_FOR, now)
        if reservation.ids:
            return dict(zip((order.call for order in orders), reservation.ids, strict=True))
        if reservation.held_by_others:
            raise RateLimitedError(BUDGET_RESERVED, retry_after=RESERVED_PAUSE)
        pause = min(next_day_start(now) - now, BUDGET_PAUSE)
        raise RateLimitedError(BUDGET_USED_UP.format(budget=self._tokens_per_day), retry_after=pause)

    async def _record(self, call: PaidCall, answer: PaidAnswer, reserved: int | None) -> None:
        for pause in RECORD_PAUSES_SECONDS:
            with suppress(TransientError):
                return await self._ledger.record(call, answer, self._now(), reserved=reserved)
            await asyncio.sleep(pause)
        await self._ledger.record(call, answer, self._now(), reserved=reserved)

    @asynccontextmanager
    async def _claim(self, keys: Sequence[str]) -> AsyncIterator[frozenset[str]]:
        """Claim what nobody else has claimed, not even another attempt of the same activity."""
        owner = secrets.token_hex(8)
        claimed = await self._claims.take(keys, owner, self._now() + CLAIM_LIFETIME, self._now())
        renewal = asyncio.create_task(self._renew(tuple(claimed), owner))
        try:
            yield claimed
        finally:
            renewal.cancel()
            if claimed:
                await self._claims.release(tuple(claimed), owner)

    async def _renew(self, keys: Sequence[str], owner: str) -> None:
        while True:
            await asyncio.sleep(CLAIM_RENEWAL_SECONDS)
            # A claim outlasts several attempts to renew it.
            with suppress(TransientError):
                await self._claims.take(keys, owner, self._now() + CLAIM_LIFETIME, self._now())


def _key(order: Order) -> str:
    call = order.call
    return paid_claim(call.feature, call.content_hash, call.prompt_version, call.model)
