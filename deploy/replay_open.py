"""Before an upgrade: replays every open workflow on this version's code, and fails if one of them would break.

Run it with the new version's Python and the settings of the instance that still runs the old one.
"""

import asyncio
import sys
from collections.abc import Sequence

import typer
from temporalio.client import Client
from temporalio.worker import Replayer

from pressbox.core.errors import PressboxError
from pressbox.core.temporal.client import translate_rpc_errors
from pressbox.entry.manifests import manifests
from pressbox.entry.settings import prepare_settings
from pressbox.entry.wiring import find_endpoints, open_resources

OPEN = "ExecutionStatus = 'Running'"


async def replay_open(client: Client, workflows: Sequence[type]) -> dict[str, str | None]:
    """Each open workflow's id, with the reason why it would break, or None."""
    replayer = Replayer(workflows=workflows, data_converter=client.data_converter)
    # Temporal leaves its own workflows, such as those behind schedules, out of the list.
    listed = client.list_workflows(OPEN)
    found: dict[str, str | None] = {}
    with translate_rpc_errors():
        async with replayer.workflow_replay_iterator(listed.map_histories()) as results:
            async for result in results:
                failure = result.replay_failure
                found[result.history.workflow_id] = str(failure) if failure else None
    return found


async def main() -> int:
    settings = prepare_settings()
    workflows = [
        found for manifest in manifests(settings) for group in manifest.workflows().values() for found in group
    ]
    async with open_resources(settings, find_endpoints(settings)) as resources:
        found = await replay_open(resources.temporal, workflows)
    broken = {workflow_id: reason for workflow_id, reason in found.items() if reason}
    for workflow_id, reason in broken.items():
        typer.echo(f"{workflow_id}: {reason}", err=True)
    typer.echo(f"{len(found)} open, {len(broken)} would break.")
    return 1 if broken else 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except PressboxError as error:
        sys.exit(error.message)
