"""What features need of a language model: answers that are paid for once and kept.

A feature builds a `Question` and gives it to a `PaidModel`. The ledger and the claims behind it are for `PayOnce`.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pressbox.core.errors import PermanentError

# Called with all of the text so far, while it is written.
OnText = Callable[[str], Awaitable[None]]


class Feature(StrEnum):
    """What a call is for; the page of costs adds up by it."""

    DISTIL = "distil"
    TRANSLATE = "translate"
    CONTEXT = "context"
    RERANK = "rerank"
    ANSWER = "answer"
    RESEARCH = "research"
    EVALUATE = "evaluate"
    GRAPH = "graph"


@dataclass(frozen=True)
class Question:
    """One call. The ledger identifies it by `content_hash`, `prompt_version`, the model and the feature.

    `content_hash` covers everything that the answer depends on and nothing else: the marks around other people's text
    are random and do not belong in it. `instructions` are ours alone; whatever others wrote is `material`.
    """

    feature: Feature
    prompt_version: str
    content_hash: str
    instructions: str
    material: str
    most_tokens: int
    entry_id: int | None = None
    feed_id: int | None = None


@dataclass(frozen=True)
class Reply:
    """`bought` is False when the answer came from the ledger."""

    text: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    bought: bool = True


class UnusableAnswerError(PermanentError):
    """The answer cannot be used. It was paid for and recorded; the same question seldom gets a better one."""


class PaidModel(Protocol):
    """A used-up budget is a RateLimitedError that says when to look again, a problem of the endpoint a TransientError,
    a wrong setting a ConfigurationError. `models/waiting.py` says what to do with these.

    A call runs to its end and into the ledger, even when its caller is cancelled.
    """

    @property
    def name(self) -> str: ...

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        """An answer that is not `usable` is paid for, recorded as such, and raised as an UnusableAnswerError."""
        ...


@dataclass(frozen=True)
class PaidCall:
    """One piece of paid work. The first four fields identify it: the same text in two feeds is the same work."""

    content_hash: str
    prompt_version: str
    model: str
    feature: str
    entry_id: int | None
    feed_id: int | None


@dataclass(frozen=True)
class Order:
    """A call with the most tokens that it may take. `cost` is that of its tokens in, which a lost answer costs too."""

    call: PaidCall
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class PaidAnswer:
    """`bought` is False when the answer came from the ledger. An unusable one is recorded for its cost only."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    usable: bool = True
    bought: bool = True


@dataclass(frozen=True)
class Reservation:
    """One id for each order, or none without room. With `held_by_others`, running calls have reserved what is left."""

    ids: tuple[int, ...] = ()
    held_by_others: bool = False


class ModelLedger(Protocol):
    async def find_answer(self, call: PaidCall) -> str | None: ...

    async def count_unusable(self, call: PaidCall, since: datetime) -> int:
        """How many unusable answers to the same call were paid for since then."""
        ...

    async def reserve(self, orders: Sequence[Order], per_day: int, until: datetime, now: datetime) -> Reservation:
        """Reserve tokens for all orders or for none. There is room while one token of the day is left.

        An earlier reservation for the same work, or one that has lapsed, belonged to a worker that died: it becomes a
        line of the ledger, since its question may be billed.
        """
        ...

    async def release(self, reserved: Sequence[int], *, paid: bool = False) -> None:
        """Give up reservations without an answer; `paid` counts their questions as billed."""
        ...

    async def record(self, call: PaidCall, answer: PaidAnswer, now: datetime, *, reserved: int | None = None) -> None:
        """Store an answer with its cost in place of its reservation. An unusable one is never given out."""
        ...

    async def tokens_today(self, now: datetime) -> int: ...


class Claims(Protocol):
    """Who does a piece of work now, so that two runs do not do the same. A claim lapses at its `until`."""

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        """Take the keys that are free, lapsed or already the owner's, and return them."""
        ...

    async def release(self, keys: Sequence[str], owner: str) -> None: ...


def paid_claim(feature: str, content_hash: str, prompt_version: str, model: str) -> str:
    """Return the key under which one run at a time pays for a piece of work, whichever feed its text came with."""
    return f"paid-{feature}-{content_hash}-{prompt_version}-{model}"
