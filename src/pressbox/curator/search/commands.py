"""`pressbox trigger reindex`, `prune` and `embedding-backfill`: bring index and vectors up to date now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json
from pressbox.curator.library.command_line import Wait, run_workflow

if TYPE_CHECKING:
    from pressbox.core.app import Resources

trigger = typer.Typer()


@trigger.command()
def reindex(
    context: typer.Context,
    batch_size: Annotated[int, typer.Option(min=1, max=1000, help="Entries at a time.")] = 500,
    clean: Annotated[bool, typer.Option("--clean", help="Give up at once an index that cannot be read.")] = False,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Put every entry into the search index."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.library.starter import workflow_starter
        from pressbox.curator.search.contracts import REINDEX_WORKFLOW, SEARCH_REINDEX, SearchReindexInput

        input = SearchReindexInput(batch_size=batch_size, clean=clean)
        return await workflow_starter(resources).start(SEARCH_REINDEX, input, REINDEX_WORKFLOW)

    run_workflow(context, start, wait, as_json)


@trigger.command()
def prune(
    context: typer.Context,
    batch_size: Annotated[int, typer.Option(min=1, max=1000, help="Documents at a time.")] = 1000,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Remove documents from the search index whose entries are gone."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.library.starter import workflow_starter
        from pressbox.curator.search.contracts import PRUNE_WORKFLOW, SEARCH_PRUNE, SearchPruneInput

        return await workflow_starter(resources).start(
            SEARCH_PRUNE, SearchPruneInput(batch_size=batch_size), PRUNE_WORKFLOW
        )

    run_workflow(context, start, wait, as_json)


@trigger.command("embedding-backfill")
def embedding_backfill(
    context: typer.Context,
    batch_size: Annotated[int, typer.Option(min=1, max=1000, help="Entries at a time.")] = 100,
    wait: Wait = False,
    as_json: Json = False,
) -> None:
    """Compute the vectors that entries lack, for recommendations and related entries."""

    async def start(resources: Resources) -> str:
        from pressbox.curator.library.starter import workflow_starter
        from pressbox.curator.search.contracts import EMBEDDING_BACKFILL, EMBEDDING_WORKFLOW, EmbeddingBackfillInput

        return await workflow_starter(resources).start(
            EMBEDDING_BACKFILL, EmbeddingBackfillInput(batch_size=batch_size), EMBEDDING_WORKFLOW
        )

    run_workflow(context, start, wait, as_json)
