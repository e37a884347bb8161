"""The live topics of the core itself; applications bring theirs in their manifests."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressbox.core.app import AppManifest, LiveTopic, Resources, load_nothing
from pressbox.core.audiences.contracts import PERSON_KIND
from pressbox.core.audiences.members import AudienceKind
from pressbox.core.live.admission import audiences_by_id
from pressbox.core.progress.reader import ActivityNode, find_audiences, load_nodes, outline
from pressbox.core.progress.rows import WORKFLOW_CHANGED
from pressbox.core.today.contracts import TODAY_CHANGED


async def _load_workflows(resources: Resources, ids: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
    found = await load_nodes(resources.database, ids)
    return {node.workflow_id: _dump(node) for node in found}


def _outline_workflow(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return _dump(outline(ActivityNode.model_validate(item)))


def _dump(node: ActivityNode) -> Mapping[str, Any]:
    return node.model_dump(mode="json", exclude={"children"})


WORKFLOW_TOPIC = LiveTopic(WORKFLOW_CHANGED, _load_workflows, find_audiences, outline=_outline_workflow)
TODAY_TOPIC = LiveTopic(TODAY_CHANGED, load_nothing, audiences_by_id(PERSON_KIND), by_name=True)


def live_topics(manifests: Sequence[AppManifest]) -> Mapping[str, LiveTopic]:
    own = (WORKFLOW_TOPIC, TODAY_TOPIC)
    return {topic.kind: topic for topic in (*own, *(t for manifest in manifests for t in manifest.topics()))}


def audience_kinds(manifests: Sequence[AppManifest]) -> tuple[AudienceKind, ...]:
    return tuple(kind for manifest in manifests for kind in manifest.audiences())
