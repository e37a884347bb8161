"""Decides when a goal is complete, and why. Pure."""

from dataclasses import dataclass
from datetime import datetime

from pressbox.footy.domain.goals import CompletionReason, SearchEnd
from pressbox.footy.domain.policy import FootyPolicy


@dataclass(frozen=True)
class GoalProgress:
    """What was done for a goal so far. `fixture_over` is since when the fixture is over; None as long as it is not."""

    registered: int
    finished: int
    search_ended: SearchEnd | None
    first_seen: datetime
    confirmed_at: datetime | None
    fixture_over: datetime | None
    removed: bool = False


def find_completion(work: GoalProgress, policy: FootyPolicy, now: datetime) -> CompletionReason | None:
    """The reason why a goal is complete, or None. A download that hangs keeps a goal open until the deadline."""
    if work.removed:
        return CompletionReason.REMOVED
    if work.finished >= policy.downloads_wanted:
        return CompletionReason.DOWNLOADS
    if work.search_ended is SearchEnd.NO_SOURCE:
        return CompletionReason.NO_SOURCE
    if work.search_ended is SearchEnd.EXHAUSTED and work.finished >= work.registered:
        return CompletionReason.EXHAUSTED
    # An unconfirmed goal, mostly one without a scorer, can be confirmed as long as the match is polled. A scorer is
    # often named after the whistle, so a goal of the first half has as much time from then on as a late one.
    since = work.confirmed_at or (max(work.first_seen, work.fixture_over) if work.fixture_over else None)
    if since is not None and now >= since + policy.completion_deadline:
        return CompletionReason.DEADLINE
    return None
