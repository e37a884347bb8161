"""`pressbox trigger ingest`, `ingest-feed`, `reprocess` and `fetch`: read feeds and pages now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import EntryIds, Wait, limit_entries, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command()
def ingest(
    context: typer.Context,
    due: Annotated[bool, typer.Option("--due", help="Only feeds whose time has come.")] = False,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Read all feeds that are not paused, and fetch and summarise what is new."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.ingest.starter import ingest_starter

        return await ingest_starter(resources).ingest_all(only_due=due)

    run_workflow(context, start, wait, as_json)


@trigger.command("ingest-feed")
def ingest_feed(
    context: typer.Context,
    feed_id: Annotated[int, typer.Argument(help="As `pressbox feeds list` shows it.", min=1)],
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Read one feed, and fetch and summarise what is new."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.articles.wiring import parser_pool
        from pressbox.curator.ingest.comparer import PooledComparer
        from pressbox.curator.ingest.feed_store import SqlFeeds
        from pressbox.curator.ingest.starter import ingest_starter

        # Raises when there is no such feed.
        name = await SqlFeeds(resources.database, PooledComparer(parser_pool(resources))).load_name(feed_id)
        return await ingest_starter(resources).ingest_feed(feed_id, name)

    run_workflow(context, start, wait, as_json)


@trigger.command()
def reprocess(
    context: typer.Context,
    entry_ids: EntryIds,
    fetch: Annotated[bool, typer.Option(help="Fetch the pages again.")] = True,
    distill: Annotated[bool, typer.Option(help="Summarise again.")] = True,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Fetch and summarise entries again."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.ingest.starter import ingest_starter

        return await ingest_starter(resources).reprocess(limit_entries(entry_ids), fetch=fetch, distill=distill)

    run_workflow(context, start, wait, as_json)


@trigger.command()
def fetch(context: typer.Context, entry_ids: EntryIds, wait: Wait = False, as_json: Json = False) -> None:
    """Fetch the pages of entries again, without a new summary."""
    reprocess(context, entry_ids, fetch=True, distill=False, wait=wait, as_json=as_json)
