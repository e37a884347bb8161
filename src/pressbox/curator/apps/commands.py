"""`pressbox apps`: passwords for reader apps, from the terminal of whoever runs this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json
from pressbox.curator.operations.command_context import User, acting_for

if TYPE_CHECKING:
    from pressbox.curator.operations.command_context import MakeService


class AppCommands:
    """The commands on the service that `make` gives for the connected parts."""

    def __init__(self, make: MakeService) -> None:
        self._make = make

    def add(
        self,
        context: typer.Context,
        name: Annotated[str, typer.Argument(help="Which app it is for, such as phone.")],
        user: User = None,
        as_json: Json = False,
    ) -> None:
        """Make a password for one reader app and print it, this once."""
        made = acting_for(context, self._make, user, lambda service, person: service.apps.add_password(person, name))
        if as_json:
            print_json({"password": made.secret, **asdict(made.view)})
            return
        typer.echo(made.secret)
        typer.echo("Type it into the app now: it cannot be shown again.", err=True)

    def list_all(self, context: typer.Context, user: User = None, as_json: Json = False) -> None:
        """Show the app passwords of a person, without what is secret in them."""
        found = acting_for(context, self._make, user, lambda service, person: service.apps.passwords(person))
        if as_json:
            print_json([asdict(view) for view in found])
            return
        for view in found:
            used = f"used {view.last_used_at:%Y-%m-%d}" if view.last_used_at else "never used"
            typer.echo(f"{view.id:<6} {view.name:<30} {view.hint}…  {used}")

    def revoke(
        self,
        context: typer.Context,
        number: Annotated[int, typer.Argument(help="As `apps list` shows it.", min=1)],
        user: User = None,
    ) -> None:
        """Remove an app password; the app is signed out at once."""
        acting_for(context, self._make, user, lambda service, person: service.apps.revoke_password(person, number))
        typer.echo("The app password is removed.")


def build_commands(make: MakeService) -> typer.Typer:
    commands = typer.Typer(help="Passwords for reader apps.", no_args_is_help=True)
    of_apps = AppCommands(make)
    commands.command("add")(of_apps.add)
    commands.command("list")(of_apps.list_all)
    commands.command("revoke")(of_apps.revoke)
    return commands
