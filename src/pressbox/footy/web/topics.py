"""Live topics of matches. A change never says what changed: pages ask again for their part."""

from collections.abc import Mapping
from typing import Any

from pressbox.core.app import LiveTopic, Resources
from pressbox.footy.ids import DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC


async def _load_nothing(_: Resources, __: str) -> Mapping[str, Any] | None:
    return {}


TOPICS = tuple(LiveTopic(kind, _load_nothing) for kind in (DAY_TOPIC, FIXTURE_TOPIC, GOAL_TOPIC))
