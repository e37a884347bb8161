"""What commands share: how they reach the connected parts, and how they print. Cheap to import, since help needs it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from pressbox.core.app import Command, OpenResources, Resources

Result = TypeVar("Result")
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def run_with_resources(context: typer.Context, act: Callable[[Resources], Awaitable[Result]]) -> Result:
    """Connect, act, and disconnect."""
    open_resources: OpenResources = context.obj

    async def run() -> Result:
        async with open_resources() as resources:
            return await act(resources)

    return asyncio.run(run())


def print_json(value: object) -> None:
    """For programs: times as ISO 8601, durations in seconds."""
    typer.echo(json.dumps(value, default=_encode))


def build_group(commands: Mapping[str, Command]) -> typer.Typer:
    group = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
    for name, command in commands.items():
        if isinstance(command, typer.Typer):
            group.add_typer(command, name=name)
        else:
            group.command(name)(command)
    # Typer makes a group of one command into that command, unless there is a callback.
    group.callback()(lambda: None)
    return group


def _encode(value: object) -> str | float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")
