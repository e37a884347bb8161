"""Prices, costs and days of tokens, and the trace ids under which model calls are found again. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from pydantic import Field

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int = 0) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1_000_000


@dataclass(frozen=True)
class CostView:
    """What models cost on one day for one feed and feature; without a feed for what belongs to none."""

    day: Annotated[date, Field(description="A day of UTC.")]
    feed_id: int | None
    feed_title: str
    feature: Annotated[str, Field(description="Such as distil, translate, context, rerank, answer or research.")]
    model: str
    calls: int
    useless: Annotated[int, Field(description="How many of the calls brought nothing usable.")]
    tokens_in: int
    tokens_out: int
    cost: float


@dataclass(frozen=True)
class BudgetView:
    """The tokens of today, UTC."""

    tokens_today: int
    tokens_per_day: int
    used_up: Annotated[bool, Field(description="Whether work that needs a model waits.")]
    resumes_at: Annotated[datetime, Field(description="When a new day of tokens begins: midnight, UTC.")]


@dataclass(frozen=True)
class CostsView:
    days: tuple[CostView, ...]
    budget: BudgetView
    # The last of the days, whether or not anything was paid on it.
    today: Annotated[date, Field(exclude=True)]


def estimate_tokens(*texts: str) -> int:
    """Estimate tokens by length: before a call, and where the endpoint does not count them."""
    return sum(len(text) for text in texts) // CHARACTERS_PER_TOKEN


def day_start(now: datetime) -> datetime:
    """The midnight in UTC at which the token budget of today began."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def next_day_start(now: datetime) -> datetime:
    """The midnight in UTC at which a new token budget begins."""
    return day_start(now) + timedelta(days=1)


def trace_id(*parts: str | int) -> str:
    """Return 32 hexadecimal digits, as Langfuse and OpenTelemetry expect; the same work has the same id."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def entry_trace_id(entry_id: int, batch_trace_id: str) -> str:
    """The trace id of one entry inside a batch, so that a score finds the call that it judges."""
    return trace_id("entry", entry_id, batch_trace_id)
