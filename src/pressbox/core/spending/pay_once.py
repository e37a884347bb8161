"""Pays for each piece of work once, and not for ever: first the ledger, then a claim, then a bounded number of tries.

For work whose answer can be given out again: questions to models, summaries, translations, judgements.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import AnswerLostError, TransientError, UnusableAnswerError
from pressbox.core.spending.domain import Order, PaidAnswer, Tries
from pressbox.core.spending.holding import CLAIM_LIFETIME, keep_claim
from pressbox.core.spending.ports import Claims, Ledger
from pressbox.core.spending.till import Send, Till

# How long one run waits for the answer that another one is paying for, and how often it looks.
PATIENCE = timedelta(minutes=2)
POLL_SECONDS = 0.5
PAID_ELSEWHERE = "Another run is paying for the same answer; this one will use it."

# The same question tends to get the same nonsense: after so many vain tries it rests for a day.
MOST_TRIES = 3
TRIES_PERIOD = timedelta(days=1)
# While the service answers nobody, or our own processes die, the text is not to blame.
MOST_TRIES_IN_OUTAGE = 12

log = logging.getLogger(__name__)


class PayOnce:
    """Two runs that order the same at the same time pay once: the second waits for the answer of the first.

    A purchase runs to its end and into the ledger even when its caller is cancelled. When the process dies, only
    requests under way are lost: they are counted, and made again by whoever takes the lapsed claim.
    """

    def __init__(self, ledger: Ledger, claims: Claims, till: Till, now: Clock = utc_now) -> None:
        self._ledger = ledger
        self._claims = claims
        self._till = till
        self._now = now
        self._running: set[asyncio.Task[PaidAnswer]] = set()

    async def buy(self, order: Order, send: Send, accepts: Callable[[str], bool] = lambda _: True) -> PaidAnswer:
        """Return the answer, from the ledger if it is one that the caller `accepts`, or by `send`: one request.

        A used-up budget raises RateLimitedError, work that rests UnusableAnswerError, an answer that another run does
        not finish in time TransientError, and whatever `send` raises passes through.
        """
        task = asyncio.create_task(self._buy(order, send, accepts))
        self._running.add(task)
        task.add_done_callback(self._finish)
        return await asyncio.shield(task)

    def _finish(self, task: asyncio.Task[PaidAnswer]) -> None:
        self._running.discard(task)
        # The caller sees the error as well, unless it was cancelled.
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("A paid request ended without an answer: %s", error)

    async def _buy(self, order: Order, send: Send, accepts: Callable[[str], bool]) -> PaidAnswer:
        deadline = self._now() + PATIENCE
        while True:
            async with self._claim(order.call.key) as claimed:
                known = await self._ledger.find_answer(order.call)
                if known is not None and accepts(known):
                    return PaidAnswer(known, bought=False)
                if claimed:
                    return await self._try(order, send)
            if self._now() > deadline:
                raise TransientError(PAID_ELSEWHERE)
            await asyncio.sleep(POLL_SECONDS)

    async def _try(self, order: Order, send: Send) -> PaidAnswer:
        now = self._now()
        tries = await self._ledger.find_tries(order.call, now - TRIES_PERIOD)
        if is_exhausted(tries):
            raise UnusableAnswerError(_resting_message(order.call.model, tries))
        try:
            return await self._till.pay(order, send)
        except AnswerLostError as error:
            raise AnswerLostError(error.message, tries=tries.count + 1) from error

    @asynccontextmanager
    async def _claim(self, key: str) -> AsyncIterator[bool]:
        """Claim it unless somebody else has, even if that is another attempt of the same activity."""
        owner = secrets.token_hex(8)
        if not await self._claims.take([key], owner, self._now() + CLAIM_LIFETIME, self._now()):
            yield False
            return
        async with keep_claim(self._claims, key, owner, self._now):
            yield True


def is_exhausted(tries: Tries) -> bool:
    blamed = tries.count - tries.died if tries.answers_others else 0
    return blamed >= MOST_TRIES or tries.count >= MOST_TRIES_IN_OUTAGE


def _resting_message(model: str, tries: Tries) -> str:
    why = f" The last one: {tries.reason}" if tries.reason else ""
    return f"{model} gave nothing usable to this in {tries.count} tries; it is not asked again before tomorrow.{why}"
