"""What is removed, in which order, and how old it must be. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Step(StrEnum):
    SESSIONS = "sessions"
    TOKENS = "tokens"
    RATE_LIMITS = "rate limits"
    CHANGES = "changes"
    PROGRESS = "progress"
    SCRATCH = "scratch objects"


@dataclass(frozen=True)
class PlannedStep:
    """Everything of this kind from before this instant goes."""

    step: Step
    before: datetime


def plan(
    now: datetime, *, keep_changes: timedelta, keep_progress: timedelta, keep_scratch: timedelta
) -> tuple[PlannedStep, ...]:
    """Sessions, tokens and limits carry their own end; the rest is kept for a time that the policy names."""
    return (
        PlannedStep(Step.SESSIONS, now),
        PlannedStep(Step.TOKENS, now),
        PlannedStep(Step.RATE_LIMITS, now),
        PlannedStep(Step.CHANGES, now - keep_changes),
        PlannedStep(Step.PROGRESS, now - keep_progress),
        PlannedStep(Step.SCRATCH, now - keep_scratch),
    )
