"""`pressbox user` and `pressbox token`: accounts from the terminal of whoever runs this machine."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pressbox.core.accounts.models import Role, Scope
from pressbox.core.clock import utc_now
from pressbox.core.commands import Json, print_json
from pressbox.core.errors import InvalidInputError
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from pressbox.core.accounts.ending import AccountEnding
    from pressbox.core.accounts.life_cycle import AccountLifeCycle
    from pressbox.core.accounts.models import NewToken, TokenView, User
    from pressbox.core.accounts.service import AccountService
    from pressbox.core.config import Settings
    from pressbox.core.db.database import Database

user_commands = typer.Typer(help="People who may sign in.", no_args_is_help=True)
token_commands = typer.Typer(help="Tokens for programs and reader apps.", no_args_is_help=True)

Email = Annotated[str, typer.Argument(help="E-mail address of the user.")]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input instead of asking for it.")
]
Result = TypeVar("Result")


@user_commands.command("add")
def add_user(
    email: Email,
    admin: Annotated[bool, typer.Option("--admin", help="May administrate.")] = False,
    name: Annotated[str, typer.Option(help="As others shall see it.")] = "",
    password_stdin: PasswordStdin = False,
) -> None:
    """Add a user; asks for the password."""
    password = _read_password(password_stdin)
    role = Role.ADMIN if admin else Role.MEMBER
    user = _run(lambda accounts: accounts.add_user(email, password, role=role, name=name))
    typer.echo(f"{user.email} can sign in now ({user.role}).")


@user_commands.command("list")
def list_users(as_json: Json = False) -> None:
    """Show all users."""
    users = _run(lambda accounts: accounts.users())
    if as_json:
        print_json([asdict(user) for user in users])
        return
    for user in users:
        state = "disabled" if user.disabled_at else "active"
        typer.echo(f"{user.email:<40} {user.role:<8} {state:<9} since {user.created_at:%Y-%m-%d}  {user.name}".rstrip())


@user_commands.command("disable")
def disable_user(email: Email) -> None:
    """Lock a user out at once; what they made stays."""
    _change(email, lambda life_cycle, user: life_cycle.disable_user(user.id))
    typer.echo(f"{email} is disabled. `pressbox user enable` undoes it.")


@user_commands.command("enable")
def enable_user(email: Email) -> None:
    """Let a disabled user in again."""
    _change(email, lambda life_cycle, user: life_cycle.enable_user(user.id))
    typer.echo(f"{email} can sign in again.")


@user_commands.command("role")
def change_role(email: Email, role: Annotated[Role, typer.Argument(help="admin or member.")]) -> None:
    """Make a user an administrator or a member."""
    _change(email, lambda life_cycle, user: life_cycle.set_role(user.id, role))
    typer.echo(f"{email} is {role} now.")


@user_commands.command("password")
def set_password(email: Email, password_stdin: PasswordStdin = False) -> None:
    """Set a new password; sessions, tokens, app passwords and private addresses of the user end."""
    password = _read_password(password_stdin)
    _change(email, lambda life_cycle, user: life_cycle.set_password(user.id, password))
    typer.echo(f"{email} has a new password.")


@user_commands.command("remove-second-factor")
def remove_second_factor(email: Email) -> None:
    """Remove authenticator app, passkeys and recovery codes of somebody who lost them; the password stays."""

    async def remove(database: Database, settings: Settings) -> None:
        from pressbox.core.accounts.factors import SecondFactors
        from pressbox.core.accounts.models import COMMAND_LINE
        from pressbox.core.accounts.service import AccountService

        user = await AccountService(database, settings).user_by_email(email)
        await SecondFactors(database, settings).remove_all(user.id, actor=COMMAND_LINE)

    _run_with_database(remove)
    typer.echo(f"{email} signs in by the password alone now, and can set up a new second factor on the account page.")


@user_commands.command("delete")
def delete_user(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a user with everything that is theirs alone; events they organise are cancelled."""
    if not yes:
        typer.confirm(f"Delete {email} for good?", abort=True)

    async def delete(ending: AccountEnding, user: User) -> None:
        await ending.delete(user.id)

    _end(email, delete)
    typer.echo(f"{email} is deleted.")


@user_commands.command("export")
def export_user(email: Email, file: Annotated[Path, typer.Argument(help="The zip file to write.")]) -> None:
    """Write everything that is a user's into a zip of JSON files, without secrets."""

    async def export(ending: AccountEnding, user: User) -> bytes:
        return await ending.export(user.id)

    file.write_bytes(_end(email, export))
    typer.echo(f"{file} has everything of {email}.")


@user_commands.command("setup-link")
def setup_link() -> None:
    """Print a new link that makes the first administrator; older ones become void."""
    from pressbox.core.accounts.setup import setup_address
    from pressbox.entry.wiring import find_endpoints

    settings = prepare_settings()
    web_url = find_endpoints(settings).web_url or f"http://{settings.web.host}:{settings.web.port}"
    secret = _run(lambda accounts: accounts.create_setup_link())
    if secret is None:
        typer.echo("Pressbox is set up already. `pressbox user add` adds somebody.", err=True)
        raise typer.Exit(1)
    typer.echo(setup_address(web_url, secret))


@token_commands.command("add")
def add_token(
    email: Email,
    name: Annotated[str, typer.Argument(help="What it is for, such as phone.")],
    scope: Annotated[list[Scope], typer.Option(help="read, write, admin or reader; may be repeated.")],
    days: Annotated[int | None, typer.Option(min=1, max=3650, help="Days until it ends; otherwise never.")] = None,
    as_json: Json = False,
) -> None:
    """Make a token and print it, this once."""
    expires_at = utc_now() + timedelta(days=days) if days else None

    async def make(accounts: AccountService, user: User) -> NewToken:
        return await accounts.add_token(user.id, name, scope, expires_at=expires_at)

    created = _run(_for_user(email, make))
    if as_json:
        print_json({"token": created.secret, **asdict(created.view)})
        return
    typer.echo(created.secret)
    typer.echo("Copy it now: it cannot be shown again.", err=True)


@token_commands.command("list")
def list_tokens(email: Email, as_json: Json = False) -> None:
    """Show a user's tokens, without their secrets."""

    async def read(accounts: AccountService, user: User) -> tuple[TokenView, ...]:
        return await accounts.tokens(user.id)

    views = _run(_for_user(email, read))
    if as_json:
        print_json([asdict(view) for view in views])
        return
    for view in views:
        used = f"used {view.last_used_at:%Y-%m-%d}" if view.last_used_at else "never used"
        typer.echo(f"{view.id:<6} {view.name:<30} …{view.hint}  {','.join(view.scopes):<20} {used}")


@token_commands.command("revoke")
def revoke_token(email: Email, token_id: Annotated[int, typer.Argument(help="As `token list` shows it.")]) -> None:
    """Remove a token; it stops working at once."""
    _run(_for_user(email, lambda accounts, user: accounts.revoke_token(user.id, token_id)))
    typer.echo("The token is removed.")


def _run(act: Callable[[AccountService], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with _accounts() as accounts:
            return await act(accounts)

    return asyncio.run(run())


@asynccontextmanager
async def _accounts() -> AsyncIterator[AccountService]:
    from pressbox.core.accounts.service import AccountService
    from pressbox.entry.wiring import open_resources

    settings = prepare_settings()
    async with open_resources(settings) as resources:
        yield AccountService(resources.database, settings)


def _run_with_database(act: Callable[[Database, Settings], Awaitable[None]]) -> None:
    async def run() -> None:
        from pressbox.entry.wiring import open_resources

        settings = prepare_settings()
        async with open_resources(settings) as resources:
            await act(resources.database, settings)

    asyncio.run(run())


def _for_user(
    email: str, act: Callable[[AccountService, User], Awaitable[Result]]
) -> Callable[[AccountService], Awaitable[Result]]:
    async def run(accounts: AccountService) -> Result:
        return await act(accounts, await accounts.user_by_email(email))

    return run


def _change(email: str, act: Callable[[AccountLifeCycle, User], Awaitable[Result]]) -> Result:
    """Change the account as a whole, with what every application has to do with it."""
    return _end(email, lambda ending, user: act(ending.life_cycle, user))


def _end(email: str, act: Callable[[AccountEnding, User], Awaitable[Result]]) -> Result:
    from pressbox.core.accounts.ending import AccountEnding
    from pressbox.core.accounts.life_cycle import AccountLifeCycle
    from pressbox.core.accounts.service import AccountService
    from pressbox.entry.manifests import APPLICATIONS
    from pressbox.entry.wiring import open_resources

    async def run() -> Result:
        settings = prepare_settings()
        async with open_resources(settings) as resources:
            accounts = AccountService(resources.database, settings)
            life_cycle = AccountLifeCycle(resources.database, accounts.passwords, APPLICATIONS)
            ending = AccountEnding(resources, life_cycle, APPLICATIONS)
            return await act(ending, await accounts.user_by_email(email))

    return asyncio.run(run())


def _read_password(from_stdin: bool) -> str:
    from pressbox.core.accounts.passwords import LONGEST_BYTES, validate_password
    from pressbox.core.logs import redact

    if from_stdin:
        # One line; a longer one than any password is not read to its end.
        password = sys.stdin.readline(LONGEST_BYTES + 2).rstrip("\r\n")
    elif sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        raise InvalidInputError("There is no terminal to ask for the password. Use --password-stdin.")
    redact.add(password)
    return validate_password(password)
