"""`pressbox trigger`: start one of the curator's workflows now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.curator.cards.commands import ContextCommands
from pressbox.curator.research.commands import ResearchCommand

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.operations.command_context import MakeService
    from pressbox.curator.service import Curator

EntryIds = Annotated[list[int], typer.Argument(metavar="ENTRY_ID...", help="Entries by their ids.", min=1)]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show what came of it.")]


class TriggerCommands:
    """The commands on the service that `make` gives for the connected parts."""

    def __init__(self, make: MakeService) -> None:
        self._make = make

    def ingest(
        self,
        context: typer.Context,
        due: Annotated[bool, typer.Option("--due", help="Only feeds whose time has come.")] = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Read all feeds that are not paused, and fetch and summarise what is new."""
        self._start(context, lambda service: service.work.ingest(only_due=due), wait, as_json)

    def ingest_feed(
        self,
        context: typer.Context,
        feed_id: Annotated[int, typer.Argument(help="As `pressbox feeds list` shows it.", min=1)],
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Read one feed, and fetch and summarise what is new."""
        self._start(context, lambda service: service.work.ingest_feed(feed_id), wait, as_json)

    def distill(
        self,
        context: typer.Context,
        entry_ids: Annotated[
            list[int] | None, typer.Argument(metavar="[ENTRY_ID]...", help="Otherwise all that wait for it.", min=1)
        ] = None,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Summarise entries that have no summary yet."""
        self._start(context, lambda service: service.work.distil(entry_ids or ()), wait, as_json)

    def reprocess(
        self,
        context: typer.Context,
        entry_ids: EntryIds,
        fetch: Annotated[bool, typer.Option(help="Fetch the pages again.")] = True,
        distill: Annotated[bool, typer.Option(help="Summarise again.")] = True,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Fetch and summarise entries again."""
        self._start(
            context, lambda service: service.work.reprocess(entry_ids, fetch=fetch, distill=distill), wait, as_json
        )

    def fetch(self, context: typer.Context, entry_ids: EntryIds, wait: Wait = False, as_json: Json = False) -> None:
        """Fetch the pages of entries again, without a new summary."""
        self._start(
            context, lambda service: service.work.reprocess(entry_ids, fetch=True, distill=False), wait, as_json
        )

    def reindex(
        self,
        context: typer.Context,
        batch_size: Annotated[int, typer.Option(min=1, max=10_000, help="Entries at a time.")] = 500,
        clean: Annotated[bool, typer.Option("--clean", help="Build it anew beside the old one, then swap.")] = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Put every entry into the search index."""
        self._start(context, lambda service: service.work.reindex(batch_size=batch_size, clean=clean), wait, as_json)

    def prune(
        self,
        context: typer.Context,
        batch_size: Annotated[int, typer.Option(min=1, max=100_000, help="Documents at a time.")] = 1000,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Remove documents from the search index whose entries are gone."""
        self._start(context, lambda service: service.work.prune(batch_size=batch_size), wait, as_json)

    def cleanup(
        self,
        context: typer.Context,
        days: Annotated[int, typer.Option(min=1, help="Only what is older than this many days.")] = 7,
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count, and show how many.")] = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Delete old entries that every subscriber has read and nobody kept."""
        act = self._cleaning(days, dry_run)
        # A count that nobody sees is for nothing.
        self._start(context, act, wait or dry_run, as_json)

    def embedding_backfill(
        self,
        context: typer.Context,
        batch_size: Annotated[int, typer.Option(min=1, max=10_000, help="Entries at a time.")] = 100,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Compute the vectors that entries lack, for recommendations and related entries."""
        self._start(context, lambda service: service.work.embed(batch_size=batch_size), wait, as_json)

    def graph_update(
        self,
        context: typer.Context,
        batch_size: Annotated[int, typer.Option(min=1, max=10_000, help="Entries at a time.")] = 50,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Add to the graph of entities what it lacks; what failed before is tried again."""
        self._start(context, lambda service: service.graph.update(batch_size=batch_size), wait, as_json)

    def graph_rebuild(
        self,
        context: typer.Context,
        batch_size: Annotated[int, typer.Option(min=1, max=10_000, help="Entries at a time.")] = 20,
        clean: Annotated[bool, typer.Option("--clean", help="Build it anew beside the old one, then swap.")] = False,
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Go through all entries and add to the graph those that it lacks."""
        act = self._rebuilding(batch_size, clean)
        self._start(context, act, wait, as_json)

    def translate(
        self,
        context: typer.Context,
        entry_ids: Annotated[
            list[int] | None,
            typer.Argument(metavar="[ENTRY_ID]...", help="Otherwise the newest without a translation.", min=1),
        ] = None,
        provider: Annotated[
            str, typer.Option(help="deepl, microsoft or llm; otherwise that of the settings.", metavar="NAME")
        ] = "",
        language: Annotated[str, typer.Option(help="Such as de; otherwise that of the settings, or en.")] = "",
        wait: Wait = False,
        as_json: Json = False,
    ) -> None:
        """Translate entries that have no translation yet."""
        self._start(
            context,
            lambda service: service.translations.translate_some(entry_ids or (), provider=provider, language=language),
            wait,
            as_json,
        )

    def _rebuilding(self, batch_size: int, clean: bool) -> Callable[[Curator], Awaitable[str]]:
        return lambda service: service.graph.rebuild(batch_size=batch_size, clean=clean)

    def _cleaning(self, days: int, dry_run: bool) -> Callable[[Curator], Awaitable[str]]:
        return lambda service: service.work.clean_up(days=days, dry_run=dry_run)

    def _start(
        self, context: typer.Context, act: Callable[[Curator], Awaitable[str]], wait: bool, as_json: bool
    ) -> None:
        async def run(resources: Resources) -> tuple[str, object]:
            from pressbox.core.temporal import control

            started = await act(self._make(resources))
            return started, await control.result(resources.temporal, started) if wait else None

        workflow_id, result = run_with_resources(context, run)
        if as_json:
            print_json({"workflow_id": workflow_id} | ({"result": result} if wait else {}))
            return
        typer.echo(f"{'Done' if wait else 'Started'}: {workflow_id}")
        for name, value in result.items() if isinstance(result, dict) else ():
            typer.echo(f"  {name}: {value}")


def build_commands(make: MakeService) -> typer.Typer:
    commands = typer.Typer(help="Start work of the reader now.", no_args_is_help=True)
    triggers, contexts = TriggerCommands(make), ContextCommands(make)
    named: Sequence[tuple[str, Callable[..., None]]] = (
        ("ingest", triggers.ingest),
        ("ingest-feed", triggers.ingest_feed),
        ("translate", triggers.translate),
        ("distill", triggers.distill),
        ("reprocess", triggers.reprocess),
        ("fetch", triggers.fetch),
        ("extract-context", contexts.extract_context),
        ("collect-context", contexts.collect_context),
        ("reindex", triggers.reindex),
        ("prune", triggers.prune),
        ("cleanup", triggers.cleanup),
        ("embedding-backfill", triggers.embedding_backfill),
        ("deep-research", ResearchCommand(make).deep_research),
        ("graph-update", triggers.graph_update),
        ("graph-rebuild", triggers.graph_rebuild),
    )
    for name, command in named:
        commands.command(name)(command)
    return commands
