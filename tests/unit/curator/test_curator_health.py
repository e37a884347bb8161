"""What the status page says of the reader, and which settings its model needs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from pressbox.core.app import Resources
from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError
from pressbox.core.health import HealthState
from pressbox.curator.distil.wiring import distilling_model
from pressbox.curator.library.domain import CrawlOutcome
from pressbox.curator.manifest import schedules
from pressbox.curator.search.wiring import embedder
from pressbox.curator.settings import CuratorSettings
from pressbox.curator.sources.domain import FeedHealth, FeedView
from pressbox.curator.sources.health import feeds_part

SINCE = datetime(2026, 3, 1, tzinfo=UTC)
FINE = FeedHealth(CrawlOutcome.NEW, False, "", 200, 0, None, SINCE, SINCE, SINCE, SINCE, timedelta(hours=1))
FAILING = replace(FINE, outcome=CrawlOutcome.SERVER_ERROR, failing=True, reason="500", failures=3, failing_since=SINCE)


def feed(name: str, health: FeedHealth = FINE, paused_at: datetime | None = None) -> FeedView:
    return FeedView(
        id=1, title=name, own_title="", url="", site_url="", description="", language="", icon_url="",
        category_id=None, category="", unread=0, subscribers=1, shared=False, paused_at=paused_at,
        full_text=True, rules=(), interval=None, interval_seconds=None, entry_limit=None,
        health=health, subscribed_at=SINCE,
    )  # fmt: skip


def test_feeds_that_fail_are_counted_and_named_and_paused_ones_are_not() -> None:
    part = feeds_part([feed("Fine"), *(feed(f"Ill {number}", FAILING) for number in range(4))])
    assert (part.state, part.since) == (HealthState.WARNING, SINCE)
    assert part.detail == "4 of 5 feeds fail."
    assert feeds_part([feed("Resting", FAILING, paused_at=SINCE)]).state is HealthState.OK


def resources_with(settings: CuratorSettings) -> Resources:
    nothing: Any = None
    return Resources(Settings().with_group(settings), nothing, nothing, nothing, nothing)


def test_a_model_without_its_settings_says_which_to_set() -> None:
    with pytest.raises(ConfigurationError, match="PRESSBOX_CURATOR_MODEL_URL"):
        distilling_model(resources_with(CuratorSettings()))
    settings = CuratorSettings(model_url="http://localhost:1/v1", model_name="m", model_key=SecretStr("key"))
    assert distilling_model(resources_with(settings)).name == "m"


def test_the_default_vectors_are_made_offline() -> None:
    assert embedder(CuratorSettings()).model.startswith("use-multilingual")


def test_a_faster_clock_makes_the_schedule_faster_but_never_restless() -> None:
    def every(speed: float) -> timedelta | None:
        return schedules(Settings(applications=(CuratorSettings(speed=speed),)))[0].every

    assert every(1) == timedelta(minutes=5)
    assert every(10) == timedelta(seconds=30)
    assert every(10_000) == timedelta(seconds=5)
