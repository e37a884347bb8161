"""The live topics of the core itself; applications bring theirs in their manifests."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.core.app import AppManifest, LiveTopic, Resources
from pressbox.core.progress.reader import node
from pressbox.core.progress.rows import WORKFLOW_CHANGED


async def _load_workflow(resources: Resources, workflow_id: str) -> Mapping[str, Any] | None:
    found = await node(resources.database, workflow_id)
    return found.model_dump(mode="json", exclude={"children"}) if found else None


WORKFLOW_TOPIC = LiveTopic(WORKFLOW_CHANGED, _load_workflow)


def live_topics(manifests: Sequence[AppManifest]) -> Mapping[str, LiveTopic]:
    return {topic.kind: topic for topic in (WORKFLOW_TOPIC, *(t for manifest in manifests for t in manifest.topics()))}
