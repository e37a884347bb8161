"""A model whose answers are paid for once: the ledger first, then the budget, then the model."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from temporalio import activity

from pressbox.core.errors import PermanentError, RateLimitedError, TransientError
from pressbox.curator.activities.times import Clock, utc_now
from pressbox.curator.ids import paid_claim
from pressbox.curator.ports.models import OnText, Question, Reply
from pressbox.curator.ports.storage import Claims, ModelLedger, PaidCall

CLAIMED_FOR = timedelta(minutes=15)
BETWEEN_LOOKS_SECONDS = 0.5
PATIENCE = timedelta(minutes=2)
NO_TOKENS_LEFT = "The token budget of the day is used up."
ASKED_ELSEWHERE = "The model is being asked the same by another run."


class UnusableAnswerError(PermanentError):
    """The model said something that cannot be used. It was paid, and noted; asking the same again is seldom wise."""


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


@dataclass(frozen=True)
class Prices:
    """Per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


class LedgerModel:
    """The `PaidModel` that features get. Two runs that ask the same at a time pay once: the second waits."""

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
        self._tokens_per_day = tokens_per_day
        self._prices = prices or Prices()
        self._now = now

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
        key, owner = paid_claim(call.content_hash, call.prompt_version, call.model), _owner()
        patient_until = self._now() + PATIENCE
        while True:
            now = self._now()
            mine = await self._claims.take([key], owner, now + CLAIMED_FOR, now)
            try:
                known = await self._ledger.known(call)
                if known is not None:
                    return Reply(known, call.model, bought=False)
                if mine:
                    return await self._buy(question, call, usable, on_text)
            finally:
                await self._claims.release(tuple(mine), owner)
            if self._now() > patient_until:
                raise TransientError(ASKED_ELSEWHERE)
            await asyncio.sleep(BETWEEN_LOOKS_SECONDS)

    async def _buy(
        self, question: Question, call: PaidCall, usable: Callable[[str], bool], on_text: OnText | None
    ) -> Reply:
        now = self._now()
        if await self._ledger.tokens_today(now) >= self._tokens_per_day:
            raise RateLimitedError(NO_TOKENS_LEFT, retry_after=next_midnight(now) - now)
        said = await self._model.converse(question.instructions, question.material, question.most_tokens, on_text)
        good = usable(said.text)
        cost = self._prices.of(said.tokens_in, said.tokens_out)
        await self._ledger.record(call, said.text, said.tokens_in, said.tokens_out, cost, self._now(), usable=good)
        if not good:
            raise UnusableAnswerError(f"{call.model} gave an answer that cannot be used.")
        return Reply(said.text, call.model, said.tokens_in, said.tokens_out)


def next_midnight(now: datetime) -> datetime:
    """When a new day of tokens begins, in UTC."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def _owner() -> str:
    info = activity.info()
    return f"{info.workflow_id}/{info.activity_id}"
