"""`pressbox apps`: passwords for reader apps, from the terminal of whoever runs this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pressbox.core.commands import Json, print_json
from pressbox.curator.library.command_line import User, run_for_user

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.apps.domain import AppPasswordView, NewAppPassword

commands = typer.Typer(help="Passwords for reader apps.", no_args_is_help=True)


@commands.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Which app it is for, such as phone.")],
    user: User = None,
    as_json: Json = False,
) -> None:
    """Make a password for one reader app and print it, this once."""

    async def add_password(resources: Resources, person: int) -> NewAppPassword:
        from pressbox.curator.apps.wiring import app_service

        return await app_service(resources).add_password(person, name)

    made = run_for_user(context, user, add_password)
    if as_json:
        print_json({"password": made.secret, **asdict(made.view)})
        return
    typer.echo(made.secret)
    typer.echo("Type it into the app now: it cannot be shown again.", err=True)


@commands.command("list")
def list_passwords(context: typer.Context, user: User = None, as_json: Json = False) -> None:
    """Show the app passwords of a person, without what is secret in them."""

    async def load_passwords(resources: Resources, person: int) -> Sequence[AppPasswordView]:
        from pressbox.curator.apps.wiring import app_service

        return await app_service(resources).passwords(person)

    found = run_for_user(context, user, load_passwords)
    if as_json:
        print_json([asdict(view) for view in found])
        return
    for view in found:
        used = f"used {view.last_used_at:%Y-%m-%d}" if view.last_used_at else "never used"
        typer.echo(f"{view.id:<6} {view.name:<30} {view.hint}…  {used}")


@commands.command()
def revoke(
    context: typer.Context,
    number: Annotated[int, typer.Argument(help="As `apps list` shows it.", min=1)],
    user: User = None,
) -> None:
    """Remove an app password; the app is signed out at once."""

    async def revoke_password(resources: Resources, person: int) -> None:
        from pressbox.curator.apps.wiring import app_service

        await app_service(resources).revoke_password(person, number)

    run_for_user(context, user, revoke_password)
    typer.echo("The app password is removed.")
