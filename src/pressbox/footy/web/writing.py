"""What other applications have that was written about a match or a team: they are asked by their manifests."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from fastapi import Request

from pressbox.core.app import AppManifest, Resources, WrittenAbout
from pressbox.core.audiences.members import Viewer
from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.core.today.contracts import FoundThing

log = get_logger(__name__)

MOST_WRITTEN = 8
# Previews come some days before a match, reports and what follows from them after it.
BEFORE_MATCH, AFTER_MATCH = timedelta(days=3), timedelta(days=4)
# Shorter aliases, such as "Reds", are words of other stories too.
SHORTEST_ALIAS = 6
MOST_ALIASES = 2


@dataclass(frozen=True)
class Written:
    """`failed`: what would answer does not, so nobody knows whether there is anything."""

    things: Sequence[FoundThing] = ()
    failed: bool = False


def choose_names(name: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """What texts call a team: its name and the aliases that mean nothing else."""
    telling = [alias for alias in aliases if len(alias) >= SHORTEST_ALIAS and alias.casefold() != name.casefold()]
    return (name, *telling[:MOST_ALIASES])


async def load_written(request: Request, parts: Resources, viewer: Viewer, about: WrittenAbout) -> Written:
    manifests: Sequence[AppManifest] = request.app.state.manifests
    things: list[FoundThing] = []
    failed = False
    for manifest in manifests:
        if manifest.written is None:
            continue
        try:
            things += await manifest.written(parts, viewer, about)
        except PressboxError as error:
            failed = True
            log.warning("written_not_found", msg="An application does not answer", error=error.message)
    return Written(things[:MOST_WRITTEN], failed and not things)
