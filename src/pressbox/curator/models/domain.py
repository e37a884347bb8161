"""What paid requests are for and what they cost, and the trace ids under which model calls are found again. Pure."""

import hashlib
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from pressbox.core.spending.domain import BudgetView


@dataclass(frozen=True)
class CostView:
    """What paid services cost on one day for one feed and feature; without a feed for what belongs to none."""

    day: Annotated[date, Field(description="A day of UTC.")]
    feed_id: int | None
    feed_title: str
    feature: Annotated[
        str,
        Field(description="Such as distil, translate, context, rerank, answer, research, clip-judge or clip-search."),
    ]
    model: Annotated[str, Field(description="The model, or the service when it names none.")]
    calls: int
    useless: Annotated[int, Field(description="How many of the calls brought nothing usable.")]
    tokens_in: int
    tokens_out: int
    cost: float
    characters: Annotated[int, Field(description="Characters that translators were sent.")] = 0
    posts: Annotated[int, Field(description="Posts that a paid search brought.")] = 0
    weight: Annotated[int, Field(description="Tokens that all of it takes of the day's budget.")] = 0


@dataclass(frozen=True)
class CostsView:
    days: tuple[CostView, ...]
    budget: BudgetView
    # The last of the days, whether or not anything was paid on it.
    today: Annotated[date, Field(exclude=True)]


def trace_id(*parts: str | int) -> str:
    """Return 32 hexadecimal digits, as Langfuse and OpenTelemetry expect; the same work has the same id."""
    return hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


def entry_trace_id(entry_id: int, batch_trace_id: str) -> str:
    """The trace id of one entry inside a batch, so that a score finds the call that it judges."""
    return trace_id("entry", entry_id, batch_trace_id)


class Feature(StrEnum):
    """What a request is for; the page of costs adds up by it."""

    DISTIL = "distil"
    TRANSLATE = "translate"
    CONTEXT = "context"
    RERANK = "rerank"
    ANSWER = "answer"
    RESEARCH = "research"
    EVALUATE = "evaluate"
    GRAPH = "graph"
    DIGEST = "digest"


# What answers to these say is somebody's own. For work that begins anew they are kept a week, and not with the account.
PRIVATE = (Feature.ANSWER, Feature.RESEARCH, Feature.EVALUATE, Feature.DIGEST)
KEEP_PRIVATE = timedelta(days=7)
