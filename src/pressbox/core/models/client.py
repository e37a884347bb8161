"""What features need of a language model: answers that are paid for once and kept.

A feature builds a `Question` and gives it to a `PaidModel`, which is a `ModelClient` on a chat endpoint.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from pressbox.core.errors import TransientError, UnusableAnswerError
from pressbox.core.spending.domain import (
    TOKENS_PER_PICTURE,
    Order,
    PaidAnswer,
    PaidCall,
    Prices,
    estimate_tokens,
)
from pressbox.core.spending.pay_once import PayOnce
from pressbox.core.spending.till import Send

# Called with all of the text so far, while it is written.
OnText = Callable[[str], Awaitable[None]]
log = logging.getLogger(__name__)

UNUSABLE = "The answer is not in the form that was asked for."


@dataclass(frozen=True)
class Question:
    """One request. The ledger identifies it by `content_hash`, `prompt_version`, the model and the feature.

    `content_hash` covers everything that the answer depends on and nothing else: the marks around other people's text
    are random and do not belong in it. `instructions` are ours alone; whatever others wrote is `material`, and
    `pictures` are JPEG. An answer that is JSON has the `form`. `fit` makes the material at most so many characters
    long, for models that read less at once.
    """

    feature: str
    prompt_version: str
    content_hash: str
    instructions: str
    material: str
    most_tokens: int
    entry_id: int | None = None
    feed_id: int | None = None
    pictures: tuple[bytes, ...] = ()
    form: type[BaseModel] | None = None
    fit: Callable[[int], str] | None = None


class DialectLearntError(TransientError):
    """The endpoint refuses how it was asked, and the model knows now how to ask: ask again at once."""


@dataclass(frozen=True)
class Reply:
    """`bought` is False when the answer came from the ledger."""

    text: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    bought: bool = True


class PaidModel(Protocol):
    """A used-up budget is a RateLimitedError that says when to look again, a problem of the endpoint a TransientError,
    a wrong setting a ConfigurationError.

    A request runs to its end and into the ledger, even when its caller is cancelled.
    """

    @property
    def name(self) -> str: ...

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        """An answer that is not `usable` is recorded as such and raised as an UnusableAnswerError, and so is a question
        that was asked in vain too often: then nothing is sent.
        """
        ...


class Completion(Protocol):
    """`reason` says why there is no text."""

    @property
    def text(self) -> str: ...

    @property
    def tokens_in(self) -> int: ...

    @property
    def tokens_out(self) -> int: ...

    @property
    def reason(self) -> str: ...


class LanguageModel(Protocol):
    """`core.models.chat.ChatModel` is one. A call is one request, and an error that is billed no UnbilledError.

    A DialectLearntError is raised a bounded number of times: each one changes the next request.
    """

    model: str

    async def converse(self, question: Question, on_text: OnText | None = None) -> Completion: ...


class ModelClient:
    """The `PaidModel` on a language model."""

    def __init__(self, model: LanguageModel, pay_once: PayOnce, prices: Prices | None = None) -> None:
        self._model = model
        self._pay_once = pay_once
        self._prices = prices or Prices()

    @property
    def name(self) -> str:
        return self._model.model

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        order, subscriber = self._order(question), _Subscriber(on_text)

        async def send() -> PaidAnswer:
            return await self._converse(question, order, usable, subscriber)

        try:
            answer = await self._buy(order, send, usable)
        except asyncio.CancelledError:
            subscriber.leave()
            raise
        if not answer.usable:
            raise UnusableAnswerError(f"{self.name}: {answer.reason}")
        await subscriber.finish(answer.text)
        return Reply(answer.text, self.name, answer.tokens_in, answer.tokens_out, answer.bought)

    async def _buy(self, order: Order, send: Send, usable: Callable[[str], bool]) -> PaidAnswer:
        while True:
            try:
                return await self._pay_once.buy(order, send, usable)
            except DialectLearntError as error:
                log.info("%s", error)

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
        tokens_in += TOKENS_PER_PICTURE * len(question.pictures)
        return Order(call, tokens_in, question.most_tokens, self._prices.cost(tokens_in, question.most_tokens))

    async def _converse(
        self, question: Question, order: Order, usable: Callable[[str], bool], subscriber: "_Subscriber"
    ) -> PaidAnswer:
        said = await self._model.converse(question, subscriber.send if subscriber.is_wanted else None)
        tokens_in, tokens_out = said.tokens_in, said.tokens_out
        if not tokens_in and not tokens_out:
            tokens_in, tokens_out = order.tokens_in, estimate_tokens(said.text)
        good = not said.reason and usable(said.text)
        reason = "" if good else said.reason or UNUSABLE
        return PaidAnswer(
            said.text, tokens_in, tokens_out, self._prices.cost(tokens_in, tokens_out), usable=good, reason=reason
        )


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
