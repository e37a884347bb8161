"""Settings of the curator, and the rules that they make."""

from datetime import timedelta

import pytest

from pressbox.core.config import Settings
from pressbox.core.environment import load_settings
from pressbox.core.errors import ConfigurationError
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.settings import CuratorSettings, DistillerKind, policy


def load(environment: dict[str, str]) -> Settings:
    return load_settings(environment, groups={"curator": CuratorSettings}, dotenv=None)


def test_without_settings_the_rules_are_those_of_the_specification() -> None:
    settings = load({})
    assert policy(settings) == CuratorPolicy()
    assert policy(settings).host_delay == timedelta(seconds=2)
    assert settings.group(CuratorSettings).distiller is DistillerKind.EXTRACTIVE
    assert settings.group(CuratorSettings).keep_days == 7


def test_the_name_of_the_original_document_sets_the_window_of_feeds() -> None:
    assert policy(load({"FEED_INGESTION_CONCURRENCY": "25"})).feeds_at_once == 25


def test_every_rule_that_people_set_arrives() -> None:
    environment = {
        "PRESSBOX_CURATOR_SHORTEST_INTERVAL_MINUTES": "5",
        "PRESSBOX_CURATOR_LONGEST_INTERVAL_HOURS": "48",
        "PRESSBOX_CURATOR_ENTRIES_PER_CRAWL": "30",
        "PRESSBOX_CURATOR_HOST_DELAY_SECONDS": "1.5",
        "PRESSBOX_CURATOR_TARGET_LANGUAGE": "de",
        "PRESSBOX_CURATOR_KEEP_DAYS": "14",
    }
    made = policy(load(environment))
    assert (made.shortest_interval, made.longest_interval) == (timedelta(minutes=5), timedelta(days=2))
    assert (made.entries_per_crawl, made.host_delay) == (30, timedelta(seconds=1.5))
    assert (made.target_language, made.keep_days) == ("de", 14)


def test_a_run_that_waits_for_turns_is_over_before_the_next_one() -> None:
    assert policy(load({"PRESSBOX_CURATOR_INGEST_MINUTES": "10"})).linger == timedelta(minutes=8)
    fast = policy(load({"PRESSBOX_CURATOR_INGEST_MINUTES": "10", "PRESSBOX_CURATOR_SPEED": "60"}))
    assert fast.linger == timedelta(seconds=8)


def test_a_fast_clock_shortens_waits_and_nothing_else() -> None:
    fast = policy(load({"PRESSBOX_CURATOR_SPEED": "60"}))
    assert fast.shortest_interval == timedelta(seconds=15)
    assert fast.entries_per_crawl == CuratorPolicy().entries_per_crawl


def test_a_wrong_distiller_is_named() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_CURATOR_DISTILLER"):
        load({"PRESSBOX_CURATOR_DISTILLER": "oracle"})
