"""`pressbox trigger extract-context` and `collect-context`: what entries are about, found out now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json, run_with_resources

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.operations.command_context import MakeService

EntryIds = Annotated[list[int], typer.Argument(metavar="ENTRY_ID...", help="Entries by their ids.", min=1)]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show what came of it.")]
Again = Annotated[bool, typer.Option("--again", help="Also those whose context is known.")]


class ContextCommands:
    def __init__(self, make: MakeService) -> None:
        self._make = make

    def extract_context(
        self,
        context: typer.Context,
        entry_ids: EntryIds,
        again: Again = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Find entities, relations, key points and links of entries."""

        async def run(resources: Resources) -> list[dict[str, object]]:
            started = await self._make(resources).enriching.extract(entry_ids, again=again)
            return [await _told(resources, workflow_id, wait) for workflow_id in started]

        _print(run_with_resources(context, run), wait, as_json)

    def collect_context(
        self,
        context: typer.Context,
        entry_ids: EntryIds,
        again: Again = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """The same, and look for the software that they name on GitHub."""

        async def run(resources: Resources) -> list[dict[str, object]]:
            started = await self._make(resources).enriching.collect(entry_ids, again=again)
            return [await _told(resources, started, wait)]

        _print(run_with_resources(context, run), wait, as_json)


async def _told(resources: Resources, workflow_id: str, wait: bool) -> dict[str, object]:
    if not wait:
        return {"workflow_id": workflow_id}
    from pressbox.core.temporal import control

    return {"workflow_id": workflow_id, "result": await control.result(resources.temporal, workflow_id)}


def _print(runs: list[dict[str, object]], wait: bool, as_json: bool) -> None:
    if as_json:
        print_json(runs[0] if len(runs) == 1 else runs)
        return
    for run in runs:
        typer.echo(f"{'Done' if wait else 'Started'}: {run['workflow_id']}")
        result = run.get("result")
        for name, value in result.items() if isinstance(result, dict) else ():
            typer.echo(f"  {name}: {value}")
