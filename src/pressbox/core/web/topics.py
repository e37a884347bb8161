"""The live topics of the core itself; applications bring theirs in their manifests."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.core.app import AppManifest, LiveTopic, Resources
from pressbox.core.progress.reader import nodes
from pressbox.core.progress.rows import WORKFLOW_CHANGED


async def _load_workflows(resources: Resources, ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    found = await nodes(resources.database, ids)
    return {node.workflow_id: node.model_dump(mode="json", exclude={"children"}) for node in found}


WORKFLOW_TOPIC = LiveTopic(WORKFLOW_CHANGED, _load_workflows)


def live_topics(manifests: Sequence[AppManifest]) -> Mapping[str, LiveTopic]:
    return {topic.kind: topic for topic in (WORKFLOW_TOPIC, *(t for manifest in manifests for t in manifest.topics()))}
