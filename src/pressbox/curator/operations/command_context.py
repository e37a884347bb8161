"""What the commands share: the connected parts, whom they act for, and how they print."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from typing import Annotated, TypeVar

import typer

from pressbox.core.accounts.service import AccountService
from pressbox.core.app import OpenResources, Resources
from pressbox.core.errors import InvalidInputError
from pressbox.curator.service import Curator

Result = TypeVar("Result")
MakeService = Callable[[Resources], Curator]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
User = Annotated[
    str | None, typer.Option("--user", help="E-mail address of the account; not needed when there is only one.")
]


def with_resources(context: typer.Context, act: Callable[[Resources], Awaitable[Result]]) -> Result:
    open_resources: OpenResources = context.obj

    async def run() -> Result:
        async with open_resources() as resources:
            return await act(resources)

    return asyncio.run(run())


def acting_for(
    context: typer.Context, make: MakeService, user: str | None, act: Callable[[Curator, int], Awaitable[Result]]
) -> Result:
    """What one person does; `user` names their account."""

    async def run(resources: Resources) -> Result:
        return await act(make(resources), await user_id(resources, user))

    return with_resources(context, run)


async def user_id(resources: Resources, email: str | None) -> int:
    """The account that is named, or the only one that there is."""
    accounts = AccountService(resources.database, resources.settings)
    if email is not None:
        return (await accounts.user_by_email(email)).id
    users = [user for user in await accounts.users() if user.disabled_at is None]
    if len(users) != 1:
        known = "There is no account yet" if not users else "There are several accounts"
        raise InvalidInputError(f"{known}. Name one with --user; `pressbox user list` shows all.", field="user")
    return users[0].id


def print_json(value: object) -> None:
    typer.echo(json.dumps(value, default=_plain))


def _plain(value: object) -> str | float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    assert isinstance(value, datetime | date)
    return value.isoformat()
