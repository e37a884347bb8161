"""What features need of a language model: an answer that is paid for once, and kept."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

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


class PaidModel(Protocol):
    """A budget that is used up is a RateLimitedError that says when to look again; trouble of the endpoint is a
    TransientError, a wrong setting a ConfigurationError. See `activities/waiting.py` for what to do with these.

    A call goes on to its end, and into the ledger, also when whoever asked is cancelled.
    """

    @property
    def name(self) -> str: ...

    async def ask(
        self, question: Question, *, usable: Callable[[str], bool] = bool, on_text: OnText | None = None
    ) -> Reply:
        """An answer that is not `usable` is paid, noted as of no use, and raised as an UnusableAnswerError."""
        ...
