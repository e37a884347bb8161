"""`pressbox trigger graph-update` and `graph-rebuild`: bring the graph of entities up to date now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import Wait, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command("graph-update")
def graph_update(
    context: typer.Context,
    batch_size: Annotated[int, typer.Option(min=1, max=100, help="Entries at a time.")] = 50,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Add to the graph of entities what it lacks; what failed before is tried again."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.graph.wiring import graph_service

        return await graph_service(resources).update(batch_size=batch_size)

    run_workflow(context, start, wait, as_json)


@trigger.command("graph-rebuild")
def graph_rebuild(
    context: typer.Context,
    batch_size: Annotated[int, typer.Option(min=1, max=100, help="Entries at a time.")] = 20,
    clean: Annotated[bool, typer.Option("--clean", help="Build it anew beside the old one, then swap.")] = False,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Go through all entries and add to the graph those that it lacks."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.graph.wiring import graph_service

        return await graph_service(resources).rebuild(batch_size=batch_size, clean=clean)

    run_workflow(context, start, wait, as_json)
