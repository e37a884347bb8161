"""`pressbox web`, `worker` and `migrate`: single processes against parts that already run."""

import asyncio
from typing import Annotated

import typer

from pressbox.core.db.migrate import upgrade
from pressbox.entry.commands.process import prepared_settings
from pressbox.entry.web import run_web
from pressbox.entry.wiring import find_endpoints
from pressbox.entry.worker import run_worker


def web() -> None:
    """Serve the web application against parts that already run."""
    run_web(prepared_settings())


def worker(
    queue: Annotated[list[str] | None, typer.Option(help="Poll only this task queue; may be repeated.")] = None,
) -> None:
    """Run workflows and activities against parts that already run."""
    asyncio.run(run_worker(prepared_settings(), queue or ()))


def migrate() -> None:
    """Bring the database to the version that this program needs."""
    settings = prepared_settings()
    upgrade(find_endpoints(settings).database_url)
    typer.echo("The database is up to date.")
