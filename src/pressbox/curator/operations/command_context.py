"""What the curator's commands share: the service, and the account that a command acts for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pressbox.core.commands import run_with_resources
from pressbox.core.errors import InvalidInputError

if TYPE_CHECKING:
    from pressbox.core.app import Resources
    from pressbox.curator.service import Curator

Result = TypeVar("Result")
MakeService = Callable[["Resources"], "Curator"]
User = Annotated[
    str | None, typer.Option("--user", help="E-mail address of the account; not needed when there is only one.")
]


def acting_for(
    context: typer.Context, make: MakeService, user: str | None, act: Callable[[Curator, int], Awaitable[Result]]
) -> Result:
    """What one person does; `user` names their account."""

    async def run(resources: Resources) -> Result:
        return await act(make(resources), await user_id(resources, user))

    return run_with_resources(context, run)


async def user_id(resources: Resources, email: str | None) -> int:
    """The account that is named, or the only one that there is."""
    from pressbox.core.accounts.service import AccountService

    accounts = AccountService(resources.database, resources.settings)
    if email is not None:
        return (await accounts.user_by_email(email)).id
    users = [user for user in await accounts.users() if user.disabled_at is None]
    if len(users) != 1:
        known = "There is no account yet" if not users else "There are several accounts"
        raise InvalidInputError(f"{known}. Name one with --user; `pressbox user list` shows all.", field="user")
    return users[0].id
