"""One search over everything: all applications are asked side by side, and one that fails says so."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pressbox.core.app import AppManifest, Resources
from pressbox.core.audiences.members import Viewer
from pressbox.core.logs import get_logger
from pressbox.core.today.contracts import FoundThing, SearchGroup
from pressbox.core.today.failures import FAILURES, say_failure

log = get_logger(__name__)

# Somebody is typing: what takes longer is of no use to them.
ANSWER_SECONDS = 3.0


@dataclass(frozen=True)
class FoundGroup:
    """What one kind of thing has, or why that is not known."""

    key: str
    title: str
    things: Sequence[FoundThing] = ()
    problem: str = ""


async def search_everything(
    resources: Resources, viewer: Viewer, manifests: Sequence[AppManifest], typed: str, limit: int
) -> Sequence[FoundGroup]:
    """What this person may see, by kind. A kind of which nothing is found is left out; one that fails is not."""
    if not typed.strip():
        return ()
    groups = [group for manifest in manifests for group in manifest.search()]
    found = await asyncio.gather(*(_ask(group, resources, viewer, typed, limit) for group in groups))
    return [group for group in found if group.things or group.problem]


async def _ask(group: SearchGroup, resources: Resources, viewer: Viewer, typed: str, limit: int) -> FoundGroup:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return FoundGroup(group.key, group.title, await group.find(resources, viewer, typed, limit))
    except FAILURES as error:
        log.warning("group_not_searched", msg=f"Nothing is known of this group: {group.key}", error=str(error))
        return FoundGroup(group.key, group.title, problem=say_failure(error))
