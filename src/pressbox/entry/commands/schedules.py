"""`pressbox schedules`: apply what is declared, list what there is, pause, resume, run now."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from temporalio.client import Client

from pressbox.core.temporal import schedules
from pressbox.entry.commands.process import prepared_settings
from pressbox.entry.manifests import manifests
from pressbox.entry.wiring import apply_schedules, find_endpoints, open_resources

schedule_commands = typer.Typer(help="Schedules of all applications.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


@schedule_commands.command()
def apply(as_json: Json = False) -> None:
    """Make Temporal's schedules those that are declared; what you paused or changed stays."""
    settings = prepared_settings()
    outcomes = asyncio.run(apply_schedules(settings, find_endpoints(settings)))
    if as_json:
        typer.echo(json.dumps(outcomes))
        return
    for schedule_id, outcome in sorted(outcomes.items()):
        typer.echo(f"{schedule_id:<32} {outcome}")


@schedule_commands.command("list")
def list_all(as_json: Json = False) -> None:
    """Show every declared schedule with its last and next run."""
    views = asyncio.run(_views())
    if as_json:
        typer.echo(json.dumps([view.model_dump(mode="json") for view in views]))
        return
    for view in views:
        state = "missing" if not view.exists else "paused" if view.paused else "on"
        following = f"next {view.next_run:%Y-%m-%d %H:%M} UTC" if view.next_run else ""
        typer.echo(f"{view.id:<32} {state:<8} {view.timetable:<20} {following}")


@schedule_commands.command()
def pause(schedule_id: str) -> None:
    """Pause a schedule until you resume it."""
    asyncio.run(_control(schedules.pause, schedule_id))
    typer.echo(f"{schedule_id} is paused.")


@schedule_commands.command()
def resume(schedule_id: str) -> None:
    """Let a paused schedule run again."""
    asyncio.run(_control(schedules.resume, schedule_id))
    typer.echo(f"{schedule_id} runs again.")


@schedule_commands.command("run")
def run_now(schedule_id: str) -> None:
    """Run a schedule's workflow now, unless it is running."""
    asyncio.run(_control(schedules.run_now, schedule_id))
    typer.echo(f"{schedule_id} was started.")


async def _views() -> tuple[schedules.ScheduleView, ...]:
    settings = prepared_settings()
    async with open_resources(settings) as resources:
        return await schedules.list_schedules(resources, manifests(settings))


async def _control(act: Callable[[Client, str], Awaitable[None]], schedule_id: str) -> None:
    async with open_resources(prepared_settings()) as resources:
        await act(resources.temporal, schedule_id)
