"""When the next search of a goal begins and how far back it looks. Pure."""

from datetime import datetime, timedelta

from pressbox.footy.domain.policy import FootyPolicy


def search_age(policy: FootyPolicy, searched_since: datetime, now: datetime) -> timedelta:
    """As far back as the last search that worked: an outage of ours, or of all sources, costs no clip."""
    return max(policy.search_age, now - searched_since)


def pause_after(policy: FootyPolicy, started: datetime, now: datetime) -> timedelta:
    """Attempts begin a fixed time apart, counted from their start, with at least a short rest between them."""
    return max(started + policy.attempt_interval - now, policy.attempt_pause)
