"""`pressbox trigger distill`: summarise entries now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import Wait, limit_entries, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command()
def distill(
    context: typer.Context,
    entry_ids: Annotated[
        list[int] | None, typer.Argument(metavar="[ENTRY_ID]...", help="Otherwise all that wait for it.", min=1)
    ] = None,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Summarise entries that have no summary yet."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.distil.starter import DistilStarter
        from pressbox.curator.library.contracts import QUEUE
        from pressbox.curator.settings import policy

        starter = DistilStarter(resources.temporal, QUEUE, policy(resources.settings))
        return await starter.distil(limit_entries(entry_ids or ()))

    run_workflow(context, start, wait, as_json)
