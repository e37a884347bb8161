"""The command line. Each command is loaded when it is used, so that `up` is quick and small."""

import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

# Typer carries a click of its own, and these two types are exported nowhere else.
from typer._click import Command, Context
from typer.core import TyperGroup
from typer.main import get_group

from pressbox.core.errors import InvalidInputError, PressboxError
from pressbox.core.logs import redact
from pressbox.entry.commands.process import prepared_settings
from pressbox.entry.version import show_version

if TYPE_CHECKING:
    from pressbox.core.app import Resources

_HERE = "pressbox.entry.commands"

# Name → module and attribute: a function is a command, a Typer is a group of them.
COMMANDS = {
    "up": (f"{_HERE}.up", "up"),
    "demo": (f"{_HERE}.demo", "demo"),
    "doctor": (f"{_HERE}.doctor", "doctor"),
    "web": (f"{_HERE}.parts", "web"),
    "worker": (f"{_HERE}.parts", "worker"),
    "migrate": (f"{_HERE}.parts", "migrate"),
    "schedules": (f"{_HERE}.schedules", "schedule_commands"),
    "backup": (f"{_HERE}.backup", "backup"),
    "restore": (f"{_HERE}.backup", "restore"),
    "user": (f"{_HERE}.accounts", "user_commands"),
    "token": (f"{_HERE}.accounts", "token_commands"),
    "x": (f"{_HERE}.x", "x_commands"),
    "bench": (f"{_HERE}.bench", "bench_commands"),
}
APPLICATIONS = ("footy", "soonish")
# The groups of an application that are words of the program itself, as the document of the curator has them.
WORDS = {"feeds": "curator", "apps": "curator", "ask": "curator", "trigger": "curator", "schedule": "curator"}


class Commands(TyperGroup):
    """Our own commands, then those of the applications."""

    def list_commands(self, ctx: Context) -> list[str]:
        return [*COMMANDS, *APPLICATIONS, *WORDS]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if cmd_name in APPLICATIONS:
            return _application(cmd_name)
        if cmd_name in WORDS:
            group = _application(WORDS[cmd_name])
            return group.commands[cmd_name] if isinstance(group, TyperGroup) else None
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name]
        return _named(cmd_name, getattr(import_module(module), attribute))


def _application(name: str) -> Command | None:
    commands = import_module(f"pressbox.{name}.manifest").APP.commands
    return _named(name, commands()) if commands is not None else None


def _named(name: str, found: typer.Typer | Callable[..., None]) -> Command:
    holder = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    return get_group(holder).commands[name]


cli = typer.Typer(
    name="pressbox",
    cls=Commands,
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
    context.obj = _open_resources


def _open_resources() -> AbstractAsyncContextManager["Resources"]:
    """For the commands of applications, which may not import this layer."""
    from pressbox.entry.wiring import open_resources, with_secret_key

    return open_resources(with_secret_key(prepared_settings()))


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
