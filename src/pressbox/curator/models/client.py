"""The model client that features get: one question, one answer, paid for once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from pressbox.core.clock import Clock, utc_now
from pressbox.curator.models.domain import Prices, estimate_tokens
from pressbox.curator.models.pay_once import PayOnce
from pressbox.curator.models.ports import (
    Claims,
    ModelLedger,
    OnText,
    Order,
    PaidAnswer,
    PaidCall,
    Question,
    Reply,
    UnusableAnswerError,
)

# The same question tends to get the same nonsense: after so many unusable answers it is not asked for a day.
MOST_UNUSABLE = 3
UNUSABLE_PERIOD = timedelta(days=1)


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


class ModelClient:
    """The `PaidModel` on a language model."""

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
        self._pay_once = PayOnce(ledger, claims, tokens_per_day, now)
        self._prices = prices or Prices()
        self._now = now

    @property
    def name(self) -> str:
        return self._model.model

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        order, subscriber = self._order(question), _Subscriber(on_text)

        async def ask(_: Sequence[Order]) -> Mapping[PaidCall, PaidAnswer]:
            await self._refuse_nonsense(order.call)
            return {order.call: await self._converse(question, order, usable, subscriber)}

        try:
            answer = (await self._pay_once.buy([order], ask))[order.call]
        except asyncio.CancelledError:
            subscriber.leave()
            raise
        if not answer.usable:
            raise UnusableAnswerError(f"{self.name} gave an answer that cannot be used.")
        await subscriber.finish(answer.text)
        return Reply(answer.text, self.name, answer.tokens_in, answer.tokens_out, answer.bought)

    def _order(self, question: Question) -> Order:
        call = PaidCall(
            question.content_hash,
            question.prompt_version,
            self.name,
            question.feature,
            question.entry_id,
            question.feed_id,
        )
        tokens_in = estimate_tokens(question.instructions, question.material)
        return Order(call, tokens_in, question.most_tokens, self._prices.cost(tokens_in))

    async def _refuse_nonsense(self, call: PaidCall) -> None:
        if await self._ledger.count_unusable(call, self._now() - UNUSABLE_PERIOD) >= MOST_UNUSABLE:
            raise UnusableAnswerError(
                f"{call.model} gave {MOST_UNUSABLE} answers to this that cannot be used. It is asked again tomorrow, "
                "or with another model: PRESSBOX_CURATOR_MODEL_NAME."
            )

    async def _converse(
        self, question: Question, order: Order, usable: Callable[[str], bool], subscriber: "_Subscriber"
    ) -> PaidAnswer:
        completion = await self._model.converse(
            question.instructions,
            question.material,
            question.most_tokens,
            subscriber.send if subscriber.is_wanted else None,
        )
        tokens_in, tokens_out = completion.tokens_in, completion.tokens_out
        if not tokens_in and not tokens_out:
            tokens_in, tokens_out = order.tokens_in, estimate_tokens(completion.text)
        cost = self._prices.cost(tokens_in, tokens_out)
        return PaidAnswer(completion.text, tokens_in, tokens_out, cost, usable(completion.text))


class _Subscriber:
    """Whoever reads the answer while it is written. Errors of the subscriber surface after the answer is recorded."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._sent = ""
        self._error: Exception | None = None
        self._gone = False

    @property
    def is_wanted(self) -> bool:
        return self._on_text is not None

    def leave(self) -> None:
        self._gone = True

    async def send(self, text: str) -> None:
        if self._on_text is None or self._gone or self._error is not None:
            return
        try:
            await self._on_text(text)
            self._sent = text
        # Reason: `finish` raises it, once the answer is in the ledger.
        except Exception as error:  # noqa: BLE001
            self._error = error

    async def finish(self, text: str) -> None:
        """Send the whole text to a subscriber that has only a part of it, or none."""
        if self._error is None and self._sent != text:
            await self.send(text)
        if self._error is not None:
            raise self._error
