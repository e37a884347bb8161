"""`pressbox trigger extract-context` and `collect-context`: find out now what entries are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.curator.library.command_line import EntryIds, Wait, follow, print_workflow, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

Again = Annotated[bool, typer.Option("--again", help="Also those whose context is known.")]

trigger = typer.Typer()


@trigger.command("extract-context")
def extract_context(
    context: typer.Context, entry_ids: EntryIds, again: Again = False, wait: Wait = False, as_json: Json = False
) -> None:
    """Find entities, relations, key points and links of entries."""

    async def run(resources: Resources) -> list[dict[str, Any]]:
        from pressbox.curator.cards.wiring import card_service

        started = await card_service(resources).extract(entry_ids, again=again)
        return [await follow(resources, workflow_id, wait) for workflow_id in started]

    runs = run_with_resources(context, run)
    if as_json:
        print_json(runs[0] if len(runs) == 1 else runs)
        return
    for followed in runs:
        print_workflow(followed)


@trigger.command("collect-context")
def collect_context(
    context: typer.Context, entry_ids: EntryIds, again: Again = False, wait: Wait = False, as_json: Json = False
) -> None:
    """The same, and look for the software that they name on GitHub."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.cards.wiring import card_service

        return await card_service(resources).collect(entry_ids, again=again)

    run_workflow(context, start, wait, as_json)
