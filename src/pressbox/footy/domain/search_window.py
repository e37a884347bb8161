"""Decides when the next search of a goal begins, and how far back it looks. Pure."""

from datetime import datetime, timedelta

from pressbox.footy.domain.policy import FootyPolicy

URGENT_ATTEMPTS = 2


def search_age(policy: FootyPolicy, searched_since: datetime, now: datetime) -> timedelta:
    """Look back to the last search that worked, so that an outage loses no clip."""
    return max(policy.search_age, now - searched_since)


def is_urgent(policy: FootyPolicy, attempt: int) -> bool:
    """Whether an attempt goes first where searches are scarce: nobody else finds what it finds.

    Those between the first and the last ones look back to the last that worked, so the next one makes up for them.
    """
    return attempt <= URGENT_ATTEMPTS or attempt > policy.attempts - URGENT_ATTEMPTS


def is_too_late(policy: FootyPolicy, unseen_at: datetime, now: datetime) -> bool:
    """Whether a new goal may be so old that nobody waits for its clips any more."""
    return now - unseen_at > policy.search_reach


def pause_after(policy: FootyPolicy, started: datetime, now: datetime) -> timedelta:
    """Attempts begin a fixed time apart, with at least a short pause between them."""
    return max(started + policy.attempt_interval - now, policy.attempt_pause)
