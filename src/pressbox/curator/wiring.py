"""Puts the curator together. The only module that knows adapters."""

from datetime import timedelta

from pressbox.core.config import Settings
from pressbox.curator.domain.policy import CuratorPolicy


def policy(settings: Settings) -> CuratorPolicy:
    """The rules with the times and limits of the settings, on their clock."""
    curator = settings.curator
    return CuratorPolicy(
        feeds_at_once=curator.feeds_at_once,
        shortest_interval=timedelta(minutes=curator.shortest_interval_minutes),
        longest_interval=timedelta(hours=curator.longest_interval_hours),
        entries_per_crawl=curator.entries_per_crawl,
        host_delay=timedelta(seconds=curator.host_delay_seconds),
        target_language=curator.target_language,
        tokens_per_day=curator.tokens_per_day,
        keep_days=curator.keep_days,
    ).at_speed(curator.speed)
