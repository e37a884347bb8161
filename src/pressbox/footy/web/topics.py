"""Live topics of matches. A change says that something changed and never what: pages ask again for their part."""

from collections.abc import Mapping
from typing import Any

from pressbox.core.app import LiveTopic, Resources

DAY = "footy.day"
FIXTURE = "footy.fixture"
GOAL = "footy.goal"


async def _changed(_: Resources, __: str) -> Mapping[str, Any] | None:
    return {}


TOPICS = (LiveTopic(DAY, _changed), LiveTopic(FIXTURE, _changed), LiveTopic(GOAL, _changed))
