"""Live topics of the reader. A change says that something changed and never what: pages ask again for their part."""

from collections.abc import Mapping
from typing import Any

from pressbox.core.app import LiveTopic, Resources
from pressbox.curator.library.domain.changes import (
    ANSWER_CHANGED,
    ENRICHMENT_CHANGED,
    ENTRY_CHANGED,
    FEED_CHANGED,
    GRAPH_CHANGED,
    PERSON_CHANGED,
    RESEARCH_CHANGED,
)


async def _changed(_: Resources, __: str) -> Mapping[str, Any] | None:
    return {}


# Who reads what is private: a person's own topic has to be named.
TOPICS = (
    LiveTopic(FEED_CHANGED, _changed),
    LiveTopic(ENTRY_CHANGED, _changed),
    LiveTopic(GRAPH_CHANGED, _changed),
    LiveTopic(ENRICHMENT_CHANGED, _changed),
    LiveTopic(ANSWER_CHANGED, _changed, by_name=True),
    LiveTopic(PERSON_CHANGED, _changed, by_name=True),
    LiveTopic(RESEARCH_CHANGED, _changed, by_name=True),
)
