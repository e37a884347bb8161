"""`pressbox schedules`: apply what is declared, list what there is, pause, resume, run now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import typer

from pressbox.core.commands import Json, print_json
from pressbox.entry.settings import prepare_settings

if TYPE_CHECKING:
    from temporalio.client import Client

    from pressbox.core.temporal.schedules import ScheduleView

schedule_commands = typer.Typer(help="Schedules of all applications.", no_args_is_help=True)


@schedule_commands.command()
def apply(as_json: Json = False) -> None:
    """Make Temporal's schedules those that are declared; what you paused or changed stays."""
    from pressbox.entry.wiring import apply_schedules, find_endpoints

    settings = prepare_settings()
    outcomes = asyncio.run(apply_schedules(settings, find_endpoints(settings)))
    if as_json:
        print_json(outcomes)
        return
    for schedule_id, outcome in sorted(outcomes.items()):
        typer.echo(f"{schedule_id:<32} {outcome}")


@schedule_commands.command("list")
def list_all(as_json: Json = False) -> None:
    """Show every declared schedule with its last and next run."""
    views = asyncio.run(_views())
    if as_json:
        print_json([view.model_dump(mode="json") for view in views])
        return
    for view in views:
        state = "missing" if not view.exists else "paused" if view.paused else "on"
        following = f"next {view.next_run:%Y-%m-%d %H:%M} UTC" if view.next_run else ""
        typer.echo(f"{view.id:<32} {state:<8} {view.timetable:<20} {following}")
        if view.problem:
            typer.echo(f"{'':<32} {view.problem}")


@schedule_commands.command("pause")
def pause_schedule(schedule_id: str) -> None:
    """Pause a schedule until you resume it."""
    from pressbox.core.temporal.schedules import pause

    asyncio.run(_control(pause, schedule_id))
    typer.echo(f"{schedule_id} is paused.")


@schedule_commands.command("resume")
def resume_schedule(schedule_id: str) -> None:
    """Let a paused schedule run again."""
    from pressbox.core.temporal.schedules import resume

    asyncio.run(_control(resume, schedule_id))
    typer.echo(f"{schedule_id} runs again.")


@schedule_commands.command("run")
def run_schedule(schedule_id: str) -> None:
    """Run a schedule's workflow now, unless it is running."""
    from pressbox.core.temporal.schedules import run_now

    asyncio.run(_control(run_now, schedule_id))
    typer.echo(f"{schedule_id} was started.")


async def _views() -> tuple[ScheduleView, ...]:
    from pressbox.core.temporal.schedules import list_schedules
    from pressbox.entry.manifests import manifests
    from pressbox.entry.wiring import open_resources

    settings = prepare_settings()
    async with open_resources(settings) as resources:
        return await list_schedules(resources, manifests(settings))


async def _control(act: Callable[[Client, str], Awaitable[None]], schedule_id: str) -> None:
    from pressbox.entry.wiring import open_resources

    async with open_resources(prepare_settings()) as resources:
        await act(resources.temporal, schedule_id)
