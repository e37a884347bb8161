"""`pressbox trigger cleanup`: delete old entries now."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import Wait, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command()
def cleanup(
    context: typer.Context,
    days: Annotated[
        int | None,
        typer.Option(min=1, help="Only what is older than this many days; otherwise PRESSBOX_CURATOR_KEEP_DAYS."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count, and show how many.")] = False,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Delete old entries that every subscriber has read, or could have for long, and nobody kept."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.cleanup.contracts import CLEANUP_WORKFLOW, ENTRIES_CLEANUP, EntriesCleanupInput
        from pressbox.curator.library.starter import workflow_starter
        from pressbox.curator.settings import CuratorSettings

        curator = resources.settings.group(CuratorSettings)
        input = EntriesCleanupInput(
            older_than_days=curator.keep_days if days is None else days,
            unread_older_than_days=curator.keep_unread_days,
            dry_run=dry_run,
        )
        workflow_id = f"{CLEANUP_WORKFLOW}-{secrets.token_hex(4)}"
        return await workflow_starter(resources).start(ENTRIES_CLEANUP, input, workflow_id)

    # A count that nobody sees is useless.
    run_workflow(context, start, wait or dry_run, as_json)
