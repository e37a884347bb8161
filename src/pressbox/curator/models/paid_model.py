"""A model whose answers are paid for once: the ledger first, then the budget, then the model."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from temporalio import activity

from pressbox.core.clock import Clock, utc_now
from pressbox.core.errors import AnswerLostError, TransientError
from pressbox.curator.models.budget import Budget, recorded
from pressbox.curator.models.domain import Prices, estimate_tokens
from pressbox.curator.models.ports import (
    Claims,
    ModelLedger,
    OnText,
    PaidCall,
    Question,
    Reply,
    UnusableAnswerError,
    paid_claim,
)

# A claim is renewed while its call runs, so that it lapses soon after a worker died, and never before.
CLAIMED_FOR = timedelta(seconds=45)
RENEWED_AFTER_SECONDS = 15.0
BETWEEN_LOOKS_SECONDS = 0.5
PATIENCE = timedelta(minutes=2)
ASKED_ELSEWHERE = "The model is being asked the same by another run."
# The same question gives the same nonsense: after so many of them in a day it is paid no more.
MOST_USELESS = 3
USELESS_FOR = timedelta(days=1)


class Completion(Protocol):
    @property
    def text(self) -> str: ...

    @property
    def tokens_in(self) -> int: ...

    @property
    def tokens_out(self) -> int: ...


class LanguageModel(Protocol):
    """`core.models.chat.ChatModel` is one."""

    model: str

    async def converse(
        self, instructions: str, material: str, most_tokens: int, on_text: OnText | None = None
    ) -> Completion: ...


class LedgerModel:
    """The `PaidModel` that features get. Two that ask the same at a time pay once: the second waits.

    What was asked is paid, so a call goes on to its end and into the ledger when whoever asked is cancelled. Lost is
    only what was on its way when the process died: the question is counted, and asked again.
    """

    def __init__(
        self,
        model: LanguageModel,
        ledger: ModelLedger,
        claims: Claims,
        tokens_per_day: int,
        prices: Prices | None = None,
        now: Clock = utc_now,
    ) -> None:
        self._model = model
        self._ledger = ledger
        self._claims = claims
        self._budget = Budget(ledger, tokens_per_day, prices, now)
        self._now = now
        self._running: dict[str, asyncio.Task[Reply]] = {}

    @property
    def name(self) -> str:
        return self._model.model

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        call = PaidCall(
            question.content_hash,
            question.prompt_version,
            self._model.model,
            question.feature,
            question.entry_id,
            question.feed_id,
        )
        key = paid_claim(call.feature, call.content_hash, call.prompt_version, call.model)
        listener = _Listener(on_text)
        running = self._running.get(key)
        if running is not None:
            reply = replace(await asyncio.shield(running), bought=False)
        else:
            task = asyncio.create_task(self._answer(question, call, key, usable, listener))
            self._running[key] = task
            task.add_done_callback(lambda done: self._over(key, done))
            try:
                reply = await asyncio.shield(task)
            except asyncio.CancelledError:
                listener.leave()
                raise
        await listener.whole(reply.text)
        return reply

    def _over(self, key: str, task: asyncio.Task[Reply]) -> None:
        del self._running[key]
        if not task.cancelled() and (error := task.exception()) is not None:
            # Whoever asked has it too, unless they have gone.
            activity.logger.debug("A call of %s ended without an answer: %s", self.name, error)

    async def _answer(
        self, question: Question, call: PaidCall, key: str, usable: Callable[[str], bool], listener: "_Listener"
    ) -> Reply:
        patient_until = self._now() + PATIENCE
        while True:
            async with self._claimed(key) as mine:
                known = await self._ledger.known(call)
                if known is not None:
                    return Reply(known, call.model, bought=False)
                if mine:
                    return await self._buy(question, call, usable, listener)
            if self._now() > patient_until:
                raise TransientError(ASKED_ELSEWHERE)
            await asyncio.sleep(BETWEEN_LOOKS_SECONDS)

    @asynccontextmanager
    async def _claimed(self, key: str) -> AsyncIterator[bool]:
        """Nobody else's while it lasts, not even of another try of the same activity."""
        owner = secrets.token_hex(8)
        mine = await self._claims.take([key], owner, self._now() + CLAIMED_FOR, self._now())
        renewing = asyncio.create_task(self._renewed(key, owner)) if mine else None
        try:
            yield bool(mine)
        finally:
            if renewing is not None:
                renewing.cancel()
                await self._claims.release([key], owner)

    async def _renewed(self, key: str, owner: str) -> None:
        while True:
            await asyncio.sleep(RENEWED_AFTER_SECONDS)
            # The next round tries again, and the claim outlasts several of them.
            with suppress(TransientError):
                await self._claims.take([key], owner, self._now() + CLAIMED_FOR, self._now())

    async def _buy(
        self, question: Question, call: PaidCall, usable: Callable[[str], bool], listener: "_Listener"
    ) -> Reply:
        if await self._ledger.useless(call, self._now() - USELESS_FOR) >= MOST_USELESS:
            raise UnusableAnswerError(
                f"{call.model} gave {MOST_USELESS} answers to this that cannot be used. It is asked again tomorrow, "
                "or with another model: PRESSBOX_CURATOR_MODEL_NAME."
            )
        asked = estimate_tokens(question.instructions, question.material)
        (reserved,) = await self._budget.set_aside([(call, asked, question.most_tokens)])
        try:
            said = await self._model.converse(
                question.instructions,
                question.material,
                question.most_tokens,
                listener.hear if listener.wanted else None,
            )
        except AnswerLostError:
            await self._ledger.free([reserved], paid=True)
            raise
        # Reason: whatever else went wrong, no answer was begun, and its tokens are for others.
        except Exception:
            await self._ledger.free([reserved])
            raise
        tokens_in, tokens_out = said.tokens_in, said.tokens_out
        if not tokens_in and not tokens_out:
            tokens_in, tokens_out = asked, estimate_tokens(said.text)
        good, cost = usable(said.text), self._budget.prices.cost(tokens_in, tokens_out)
        await recorded(
            lambda: self._ledger.record(
                call, said.text, tokens_in, tokens_out, cost, self._now(), usable=good, reserved=reserved
            )
        )
        if not good:
            raise UnusableAnswerError(f"{call.model} gave an answer that cannot be used.")
        return Reply(said.text, call.model, tokens_in, tokens_out)


class _Listener:
    """Whoever reads along. Their troubles are theirs: they cost no answer that is paid for."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._heard = ""
        self._error: Exception | None = None
        self._gone = False

    @property
    def wanted(self) -> bool:
        return self._on_text is not None

    def leave(self) -> None:
        self._gone = True

    async def hear(self, text: str) -> None:
        if self._on_text is None or self._gone or self._error is not None:
            return
        try:
            await self._on_text(text)
            self._heard = text
        # Reason: it is raised to them again, when the answer is in the ledger.
        except Exception as error:  # noqa: BLE001
            self._error = error

    async def whole(self, text: str) -> None:
        """All of it, for who heard only a part or came when it was there already."""
        if self._error is None and self._heard != text:
            await self.hear(text)
        if self._error is not None:
            raise self._error
