"""Live topics of events. They only say that something changed: pages load it again with their own rights."""

from collections.abc import Mapping
from typing import Any

from pressbox.core.app import LiveTopic, Resources

EVENT = "soonish.event"
NOTIFICATION = "soonish.notification"


async def _describe_change(_: Resources, __: str) -> Mapping[str, Any] | None:
    # Empty: everybody who is signed in may follow every topic, but not everybody may see every event.
    return {}


TOPICS = (LiveTopic(EVENT, _describe_change, by_name=True), LiveTopic(NOTIFICATION, _describe_change, by_name=True))
