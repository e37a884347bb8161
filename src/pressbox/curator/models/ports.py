"""What features need of a language model: an answer that is paid for once, and kept."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from pressbox.core.errors import PermanentError

# Called with all of the text so far, while it is written.
OnText = Callable[[str], Awaitable[None]]


class Feature(StrEnum):
    """What a call is for: the cost pages add up by it."""

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
    """One call. The ledger knows it by `content_hash`, `prompt_version`, the model and the feature.

    `content_hash` is of everything that the answer depends on, and of nothing else: marks around foreign text are
    random and do not belong in it. `instructions` are ours alone; whatever strangers wrote is `material`.
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
    """`bought` is False when the answer was in the ledger."""

    text: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    bought: bool = True


class UnusableAnswerError(PermanentError):
    """The answer cannot be used. It was paid for and recorded; the same question seldom gets a better one."""


class PaidModel(Protocol):
    """A budget that is used up is a RateLimitedError that says when to look again; trouble of the endpoint is a
    TransientError, a wrong setting a ConfigurationError. See `models/waiting.py` for what to do with these.

    A call goes on to its end, and into the ledger, also when whoever asked is cancelled.
    """

    @property
    def name(self) -> str: ...

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        """An answer that is not `usable` is paid, noted as of no use, and raised as an UnusableAnswerError."""
        ...


class Claims(Protocol):
    """Who does a piece of work right now, so that two runs do not do the same. A claim lapses by itself."""

    async def take(self, keys: Sequence[str], owner: str, until: datetime, now: datetime) -> frozenset[str]:
        """Those that are the owner's now: nobody had them, their time was over, or they were his before."""
        ...

    async def release(self, keys: Sequence[str], owner: str) -> None: ...


@dataclass(frozen=True)
class PaidCall:
    """One paid piece of work, keyed so that it is never paid twice."""

    content_hash: str
    prompt_version: str
    model: str
    feature: str
    entry_id: int | None
    feed_id: int | None


@dataclass(frozen=True)
class Expected:
    """What a call will take at most. `cost` is that of its tokens in: so much is lost when nobody hears the answer."""

    call: PaidCall
    tokens_in: int
    tokens_out: int
    cost: float = 0.0


@dataclass(frozen=True)
class Reserved:
    """A number for each call; none when there is no room. `spoken_for`: calls that run now have what is left."""

    ids: tuple[int, ...] = ()
    spoken_for: bool = False


class ModelLedger(Protocol):
    async def known(self, call: PaidCall) -> str | None:
        """The answer that was paid for, or None."""
        ...

    async def useless(self, call: PaidCall, since: datetime) -> int:
        """How often the same was paid since, for an answer that could not be used."""
        ...

    async def reserve(self, wanted: Sequence[Expected], per_day: int, until: datetime, now: datetime) -> Reserved:
        """All of them or none, one caller after the other. Room is there while one token of the day is left.

        What was reserved for the same work before, or until a time that is past, belonged to a worker that died: it
        becomes a line of the ledger, since the question may have been paid.
        """
        ...

    async def free(self, reserved: Sequence[int], *, paid: bool = False) -> None:
        """Nothing was heard. `paid`: the question went out all the same, and is counted."""
        ...

    async def record(
        self,
        call: PaidCall,
        answer: str,
        tokens_in: int,
        tokens_out: int,
        cost: float,
        now: datetime,
        *,
        usable: bool = True,
        reserved: int | None = None,
    ) -> None:
        """What was of no use is counted, and never given out. It takes the place of what was `reserved` for it."""
        ...

    async def tokens_today(self, now: datetime) -> int: ...


def paid_claim(feature: str, content_hash: str, prompt_version: str, model: str) -> str:
    """Return the name under which one run at a time asks a model about a text, whichever feed it came with."""
    return f"paid-{feature}-{content_hash}-{prompt_version}-{model}"
