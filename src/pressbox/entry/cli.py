"""The command line: every command, from the manifests and from `commands/`."""

import asyncio
import sys
from typing import Annotated

import typer

from pressbox.core.db.migrate import upgrade
from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.logs import redact
from pressbox.entry.commands.accounts import token_commands, user_commands
from pressbox.entry.commands.backup import backup, restore
from pressbox.entry.commands.bench import bench_commands
from pressbox.entry.commands.demo import demo
from pressbox.entry.commands.doctor import doctor
from pressbox.entry.commands.process import prepared_settings
from pressbox.entry.commands.schedules import schedule_commands
from pressbox.entry.commands.up import up
from pressbox.entry.manifests import APPLICATIONS
from pressbox.entry.version import show_version
from pressbox.entry.web import run_web
from pressbox.entry.wiring import find_endpoints, open_resources, with_secret_key
from pressbox.entry.worker import run_worker

cli = typer.Typer(
    name="pressbox",
    help="Follows matches, events and feeds for you, and tells you what matters. Durably, on your own machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@cli.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Start everything with `pressbox up`; look at it with `pressbox doctor`."""
    context.obj = lambda: open_resources(with_secret_key(prepared_settings()))


@cli.command()
def web() -> None:
    """Serve the web application against parts that already run."""
    run_web(prepared_settings())


@cli.command()
def worker(
    queue: Annotated[list[str] | None, typer.Option(help="Poll only this task queue; may be repeated.")] = None,
) -> None:
    """Run workflows and activities against parts that already run."""
    asyncio.run(run_worker(prepared_settings(), queue or ()))


@cli.command()
def migrate() -> None:
    """Bring the database to the version that this program needs."""
    settings = prepared_settings()
    upgrade(find_endpoints(settings).database_url)
    typer.echo("The database is up to date.")


for command in (up, doctor, demo, backup, restore):
    cli.command()(command)
cli.add_typer(schedule_commands, name="schedules")
cli.add_typer(user_commands, name="user")
cli.add_typer(token_commands, name="token")
cli.add_typer(bench_commands, name="bench")
for manifest in APPLICATIONS:
    if manifest.commands is not None:
        cli.add_typer(manifest.commands, name=manifest.name)


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong use."""
    try:
        cli()
    except InvalidInputError as error:
        _fail(error, 2)
    except PressboxError as error:
        _fail(error, 1)


def _fail(error: PressboxError, code: int) -> None:
    typer.echo(redact(error.message), err=True)
    sys.exit(code)
