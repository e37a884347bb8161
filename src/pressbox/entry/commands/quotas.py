"""`pressbox quota`: how much one person may have and do, from the terminal of whoever runs this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pressbox.core.commands import Json, print_json
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from pressbox.core.quotas.quota import QuotaUse
    from pressbox.core.quotas.service import QuotaService

quota_commands = typer.Typer(help="How much one person may have and do.", no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="E-mail address of the user.")]
Key = Annotated[str, typer.Argument(help="As `quota list` shows it, such as feeds.")]
Result = TypeVar("Result")


@quota_commands.command("list")
def list_quotas(email: Email, as_json: Json = False) -> None:
    """Show the limits of a user, and how much is used."""
    uses = _run(email, lambda quotas, user_id: quotas.list(user_id))
    if as_json:
        print_json([asdict(use) for use in uses])
        return
    for use in uses:
        typer.echo(_line(use))


@quota_commands.command("set")
def set_quota(email: Email, key: Key, most: Annotated[int, typer.Argument(min=0, help="The new limit.")]) -> None:
    """Give a user a limit of their own."""
    typer.echo(_line(_set_limit(email, key, most)))


@quota_commands.command("reset")
def reset_quota(email: Email, key: Key) -> None:
    """Give a user the limit that all have."""
    typer.echo(_line(_set_limit(email, key, None)))


def _set_limit(email: str, key: str, most: int | None) -> QuotaUse:
    from pressbox.core.accounts.models import COMMAND_LINE

    return _run(email, lambda quotas, user_id: quotas.set_limit(user_id, key, most, actor=COMMAND_LINE))


def _line(use: QuotaUse) -> str:
    used = "-" if use.used is None else f"{use.used:,}"
    own = "  of their own" if use.granted else ""
    return f"{use.key:<20} {used:>9} of {use.most:<11,} {use.title}{own}"


def _run(email: str, act: Callable[[QuotaService, int], Awaitable[Result]]) -> Result:
    from pressbox.core.accounts.service import AccountService
    from pressbox.core.quotas.service import QuotaService
    from pressbox.entry.manifests import manifests
    from pressbox.entry.wiring import open_resources

    async def run() -> Result:
        settings = prepare_settings()
        async with open_resources(settings) as resources:
            user = await AccountService(resources.database, settings).user_by_email(email)
            return await act(QuotaService(resources.database, manifests(settings)), user.id)

    return asyncio.run(run())
