"""Paid requests: what they are for, what they take of the day's budget, and how they ended. Pure."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

CHARACTERS_PER_TOKEN = 4
# What a picture is estimated at; endpoints count between a hundred and two thousand.
TOKENS_PER_PICTURE = 1_000
# A post is counted as the 280 characters that it may have.
TOKENS_PER_POST = 70


class Outcome(StrEnum):
    """How a request ended.

    RUNNING   it may be on its way; when its process died it stays so until its lease ends.
    ANSWERED  the answer is kept and given out again.
    UNUSABLE  an answer came and is of no use: nonsense, a refusal, a filter.
    LOST      it may be billed, and nobody heard the answer.
    REFUSED   the service did not take it, and bills nothing.
    """

    RUNNING = "running"
    ANSWERED = "answered"
    UNUSABLE = "unusable"
    LOST = "lost"
    REFUSED = "refused"


# Requests of these outcomes brought nothing and may have cost something.
VAIN = (Outcome.RUNNING, Outcome.UNUSABLE, Outcome.LOST)


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int = 0) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


@dataclass(frozen=True)
class PaidCall:
    """One piece of paid work. The first four fields identify it: the same text in two feeds is the same work.

    `item_id` and `source_id` are the application's, such as an entry and its feed.
    """

    content_hash: str
    prompt_version: str
    model: str
    feature: str
    item_id: int | None = None
    source_id: int | None = None

    @property
    def key(self) -> str:
        """The claim under which one process at a time pays for it."""
        return f"paid-{self.feature}-{self.content_hash}-{self.prompt_version}-{self.model}"


@dataclass(frozen=True)
class Order:
    """A request with the most that it may take. That much is counted when nobody hears how it ended."""

    call: PaidCall
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    characters: int = 0
    posts: int = 0
    # The most posts that its service may send in a month, UTC, all requests together; None for no limit.
    posts_per_month: int | None = None


@dataclass(frozen=True)
class PaidAnswer:
    """`bought` is False when the answer came from the ledger. One that is not `usable` says why in `reason`."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    usable: bool = True
    bought: bool = True
    characters: int = 0
    posts: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Budget:
    """The most that one day, UTC, may take. Without `cost_per_day` only tokens are limited."""

    tokens_per_day: int
    cost_per_day: float | None = None

    def is_used_up(self, used: "Spent") -> bool:
        return used.tokens >= self.tokens_per_day or (self.cost_per_day is not None and used.cost >= self.cost_per_day)


@dataclass(frozen=True)
class Spent:
    """Characters and posts are counted as the tokens that their text would have."""

    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class Tries:
    """Requests about one piece of work that brought nothing. `answers_others`: the service answered somebody since.

    `died` of them were lost with a process of ours.
    """

    count: int = 0
    answers_others: bool = True
    reason: str = ""
    died: int = 0


@dataclass(frozen=True)
class BudgetView:
    """The tokens of today, UTC."""

    tokens_today: Annotated[int, Field(description="Characters and posts are counted as the tokens of their text.")]
    tokens_per_day: int
    used_up: Annotated[bool, Field(description="Whether work that needs a paid service waits.")]
    resumes_at: Annotated[datetime, Field(description="When a new day of tokens begins: midnight, UTC.")]
    cost_today: float = 0.0
    cost_per_day: float | None = None


def weigh(of: Order | PaidAnswer) -> int:
    """The tokens that this takes of the day's budget."""
    return of.tokens_in + of.tokens_out + -(-of.characters // CHARACTERS_PER_TOKEN) + of.posts * TOKENS_PER_POST


def estimate_tokens(*texts: str) -> int:
    """Estimate tokens by length: before a request, and where the service does not count them."""
    return sum(len(text) for text in texts) // CHARACTERS_PER_TOKEN


def day_start(now: datetime) -> datetime:
    """The midnight in UTC at which the budget of today began."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def month_start(now: datetime) -> datetime:
    return day_start(now).replace(day=1)


def next_month_start(now: datetime) -> datetime:
    return month_start(month_start(now) + timedelta(days=32))


def next_day_start(now: datetime) -> datetime:
    """The midnight in UTC at which a new budget begins."""
    return day_start(now) + timedelta(days=1)
