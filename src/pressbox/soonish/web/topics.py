"""Live topics of events. A change says that something changed and never what: pages ask again with their own rights."""

from collections.abc import Mapping
from typing import Any

from pressbox.core.app import LiveTopic, Resources

EVENT = "soonish.event"
NOTIFICATION = "soonish.notification"


async def _changed(_: Resources, __: str) -> Mapping[str, Any] | None:
    # Everybody who is signed in may follow every topic, but not every event is for everybody.
    return {}


TOPICS = (LiveTopic(EVENT, _changed, by_name=True), LiveTopic(NOTIFICATION, _changed, by_name=True))
