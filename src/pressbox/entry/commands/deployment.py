"""`pressbox deployment`: versions of workers that run side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pressbox.core.commands import Json, print_json
from pressbox.core.errors import ConfigurationError
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from temporalio.common import WorkerDeploymentVersion

    from pressbox.core.temporal.versions import Deployments, KnownVersion

Answer = TypeVar("Answer")

deployment_commands = typer.Typer(help="Versions of workers that run side by side.", no_args_is_help=True)


@deployment_commands.command()
def show(as_json: Json = False) -> None:
    """Show the versions of the deployment: which begins new runs, and which still have open ones."""
    versions = _run(lambda deployments, own: deployments.versions(own.deployment_name))
    if as_json:
        print_json([vars(found) for found in versions])
        return
    for found in versions:
        typer.echo(f"{found.build_id:<24} {_place(found)}")


def _place(found: KnownVersion) -> str:
    return "current" if found.current else found.state or "waits to be promoted"


@deployment_commands.command()
def promote(
    unseen: Annotated[bool, typer.Option("--unseen", help="Also before a worker of this version has polled.")] = False,
) -> None:
    """Let this program's version begin new runs, and continue those that are not pinned."""
    typer.echo(f"{_run(lambda deployments, own: _promote(deployments, own, unseen=unseen))} is the current version.")


@deployment_commands.command("take-over")
def take_over() -> None:
    """Let the current version continue runs that are pinned to others, because their workers are gone."""
    taken = _run(lambda deployments, own: deployments.take_over(own))
    typer.echo(f"{taken} runs of other versions go on with the current one.")


@deployment_commands.command()
def retire() -> None:
    """Leave versions: from now on workers without a deployment begin new runs, and continue all others."""
    taken = _run(_retire)
    typer.echo(f"Workers without PRESSBOX_WORKER_DEPLOYMENT are in charge; they continue {taken} pinned runs.")


async def _promote(deployments: Deployments, own: WorkerDeploymentVersion, *, unseen: bool) -> str:
    await deployments.promote(own, unseen=unseen)
    return own.build_id


async def _retire(deployments: Deployments, own: WorkerDeploymentVersion) -> int:
    await deployments.retire(own.deployment_name)
    return await deployments.take_over(None)


def _run(act: Callable[[Deployments, WorkerDeploymentVersion], Awaitable[Answer]]) -> Answer:
    from pressbox.core.temporal.client import connect
    from pressbox.core.temporal.versions import Deployments, own_version
    from pressbox.entry.wiring import find_endpoints

    settings = prepare_settings()
    own = own_version(settings.worker)
    if own is None:
        raise ConfigurationError(
            "Versions of workers are off. Set PRESSBOX_WORKER_DEPLOYMENT to a name, as the workers have it."
        )

    async def run() -> Answer:
        client = await connect(settings.temporal, find_endpoints(settings).temporal_address)
        return await act(Deployments(client), own)

    return asyncio.run(run())
