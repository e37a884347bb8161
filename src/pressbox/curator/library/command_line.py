"""What the commands of the curator share: the account they act for, and workflows that they start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pressbox.core.commands import Result, print_json, run_with_resources
from pressbox.core.errors import InvalidInputError

if TYPE_CHECKING:
    from pressbox.core.app import Resources

MOST_ENTRIES = 500
User = Annotated[
    str | None, typer.Option("--user", help="E-mail address of the account; not needed when there is only one.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it has ended, and show what came of it.")]
EntryIds = Annotated[list[int], typer.Argument(metavar="ENTRY_ID...", help="Entries by their ids.", min=1)]


def run_for_user(
    context: typer.Context, user: str | None, act: Callable[[Resources, int], Awaitable[Result]]
) -> Result:
    """Run `act` for the account with the e-mail address `user`, or for the only one."""

    async def run(resources: Resources) -> Result:
        return await act(resources, await user_id(resources, user))

    return run_with_resources(context, run)


def run_workflow(
    context: typer.Context, start: Callable[[Resources], Awaitable[str]], wait: bool, as_json: bool
) -> None:
    """Start a workflow and print its id; with `wait` also its result."""

    async def run(resources: Resources) -> dict[str, Any]:
        return await follow(resources, await start(resources), wait)

    started = run_with_resources(context, run)
    if as_json:
        print_json(started)
    else:
        print_workflow(started)


async def follow(resources: Resources, workflow_id: str, wait: bool) -> dict[str, Any]:
    """Return the id of a workflow; with `wait` also its result."""
    from pressbox.core.temporal import control

    if not wait:
        return {"workflow_id": workflow_id}
    return {"workflow_id": workflow_id, "result": await control.result(resources.temporal, workflow_id)}


def print_workflow(followed: Mapping[str, Any]) -> None:
    typer.echo(f"{'Done' if 'result' in followed else 'Started'}: {followed['workflow_id']}")
    result = followed.get("result")
    for name, value in result.items() if isinstance(result, dict) else ():
        typer.echo(f"  {name}: {value}")


async def user_id(resources: Resources, email: str | None) -> int:
    """Return the account with this e-mail address, or the only one that there is."""
    from pressbox.core.accounts.service import AccountService

    accounts = AccountService(resources.database, resources.settings)
    if email is not None:
        return (await accounts.user_by_email(email)).id
    users = [user for user in await accounts.users() if user.disabled_at is None]
    if len(users) != 1:
        known = "There is no account yet" if not users else "There are several accounts"
        raise InvalidInputError(f"{known}. Name one with --user; `pressbox user list` shows all.", field="user")
    return users[0].id


def limit_entries(entry_ids: Sequence[int]) -> Sequence[int]:
    if len(entry_ids) > MOST_ENTRIES:
        raise InvalidInputError(f"At most {MOST_ENTRIES} entries at a time.", field="entry_ids")
    return entry_ids
