"""The command line. Help is shown from the words alone: a command is loaded when it is used, and its libraries then."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

# Typer carries a click of its own, and these types are exported nowhere else.
from typer._click import Command, Context
from typer._click.formatting import HelpFormatter
from typer.core import TyperGroup
from typer.main import get_group

from pressbox.core.app import CommandWord, import_later
from pressbox.core.commands import build_group
from pressbox.core.errors import InvalidInputError, PermanentError, PressboxError
from pressbox.entry.manifests import APPLICATIONS

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.core.config import Settings


def _own(name: str, summary: str, target: str) -> CommandWord:
    return CommandWord(name, summary, import_later(f"pressbox.entry.commands.{target}"))


WORDS = (
    _own(
        "up", "Start PostgreSQL, Temporal, worker and web, keep them running, and stop them on Ctrl-C.", "instance:up"
    ),
    _own(
        "demo",
        "See Pressbox alive within a minute: everything runs, nobody has to sign in, nothing outside is touched.",
        "instance:demo",
    ),
    _own("doctor", "Check every part, and say how to fix what is wrong.", "instance:doctor"),
    _own("web", "Serve the web application against parts that already run.", "instance:web"),
    _own("worker", "Run workflows and activities against parts that already run.", "instance:worker"),
    _own("migrate", "Bring the database to the version that this program needs.", "instance:migrate"),
    _own("schedules", "Schedules of all applications.", "schedules:schedule_commands"),
    _own("deployment", "Versions of workers that run side by side.", "deployment:deployment_commands"),
    _own("backup", "Write database, objects and workflows into one file.", "instance:backup"),
    _own("restore", "Bring everything back from a backup.", "instance:restore"),
    _own("rotate-key", "Seal everything with the present instance key.", "instance:rotate_key"),
    _own("user", "People who may sign in.", "accounts:user_commands"),
    _own("token", "Tokens for programs and reader apps.", "accounts:token_commands"),
    _own("quota", "How much one person may have and do.", "quotas:quota_commands"),
    _own("bench", "Measure on this machine, beside peers and aims.", "bench:bench_commands"),
    *(word for manifest in APPLICATIONS for word in manifest.commands),
)


class Program(TyperGroup):
    """Our own commands, then those of the applications."""

    def list_commands(self, ctx: Context) -> list[str]:
        return [word.name for word in WORDS]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        word = next((word for word in WORDS if word.name == cmd_name), None)
        return get_group(build_group({word.name: word.load()})).commands[word.name] if word else None

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(word.name, word.summary) for word in WORDS])


def show_version(wanted: bool) -> None:
    if wanted:
        from pressbox.core.release import release

        typer.echo(f"pressbox {release()}")
        raise typer.Exit


cli = typer.Typer(
    name="pressbox",
    cls=Program,
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
    context.obj = ThisInstance()


class ThisInstance:
    """For the commands of applications, which may not import this layer."""

    def __call__(self) -> AbstractAsyncContextManager[Resources]:
        from pressbox.entry.settings import prepare_settings
        from pressbox.entry.wiring import open_resources

        return open_resources(prepare_settings())

    def settings(self) -> Settings:
        from pressbox.embedded.home import Home
        from pressbox.entry.settings import prepare_settings
        from pressbox.entry.wiring import with_secret_key

        settings = prepare_settings()
        # Nothing of Pressbox may have run on this machine before.
        Home(settings.home).create()
        return with_secret_key(settings)


def main() -> None:
    """Exit codes: 0 done, 1 failed, 2 wrong use."""
    # Whatever we or our children write, wherever: nobody else reads it.
    os.umask(0o077)
    try:
        cli()
    except InvalidInputError as error:
        _fail(error, 2)
    except PressboxError as error:
        _fail(error, 1)
    # Named only where its library is loaded, which most commands do without.
    except Exception as error:
        refusal = _refusal_of_temporal(error)
        if refusal is None:
            raise
        _fail(refusal, 1)


def _refusal_of_temporal(error: Exception) -> PressboxError | None:
    """What nobody on the way knew: that a key is unknown there, or a server that is too old."""
    # Only a command that asked Temporal has loaded its library.
    service = sys.modules.get("temporalio.service")
    if service is None or not isinstance(error, service.RPCError):
        return None
    return PermanentError(f"Temporal refuses: {error.message.rstrip('.')}. Look at PRESSBOX_TEMPORAL_… and its log.")


def run() -> None:
    """Run the command and end the process."""
    code: object = None
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    if "temporalio.bridge.temporal_sdk_bridge" not in sys.modules:
        sys.exit(code)  # type: ignore[arg-type]
    # The library's threads outlive the command. One that calls back while Python is taken down aborts the process,
    # so that a command that has done its work would seem to have failed.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def _fail(error: PressboxError, code: int) -> None:
    from pressbox.core.logs import redact

    typer.echo(redact(error.message), err=True)
    sys.exit(code)
