"""Decides when the next search of a goal begins, and how far back it looks. Pure."""

from datetime import datetime, timedelta

from pressbox.footy.domain.policy import FootyPolicy


def search_age(policy: FootyPolicy, searched_since: datetime, now: datetime) -> timedelta:
    """Look back to the last search that worked, so that an outage loses no clip."""
    return max(policy.search_age, now - searched_since)


def is_too_late(policy: FootyPolicy, unseen_at: datetime, now: datetime) -> bool:
    """Whether a new goal may be so old that nobody waits for its clips any more."""
    return now - unseen_at > policy.search_reach


def pause_after(policy: FootyPolicy, started: datetime, now: datetime) -> timedelta:
    """Attempts begin a fixed time apart, with at least a short pause between them."""
    return max(started + policy.attempt_interval - now, policy.attempt_pause)
