"""`pressbox schedule`: when feeds are read, the graph grows, old entries go. What is changed here stays changed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, TypeVar
from zoneinfo import available_timezones

import typer

from pressbox.core.commands import Json, print_json, run_with_resources
from pressbox.core.errors import InvalidInputError, NotFoundError
from pressbox.curator.names import CLEANUP_SCHEDULE, GRAPH_SCHEDULE, INGEST_SCHEDULE

if TYPE_CHECKING:
    from pressbox.core.app import Resources, ScheduleDeclaration
    from pressbox.core.config import Settings
    from pressbox.core.temporal.schedules import ScheduleView, Times

Result = TypeVar("Result")
Declared = Callable[["Settings"], Sequence["ScheduleDeclaration"]]
Interval = Annotated[str | None, typer.Option(help="From one run to the next, such as 30m, 1h or 1d12h.")]
Cron = Annotated[str | None, typer.Option(help='A cron expression, such as "0 3 * * *".')]
Timezone = Annotated[str | None, typer.Option(help="For --cron, such as Asia/Tokyo; otherwise UTC.")]

_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
SHORTEST = timedelta(seconds=10)


class ScheduleCommands:
    """The commands on one declared schedule."""

    def __init__(self, name: str, schedule_id: str, declared: Declared) -> None:
        self._name = name
        self._schedule_id = schedule_id
        self._declared = declared

    def set_times(
        self, context: typer.Context, interval: Interval = None, cron: Cron = None, timezone: Timezone = None
    ) -> None:
        """Choose when it runs, for good; without an option the times of the program and its settings again."""
        self._set(context, times_of(interval, cron, timezone))

    def set_times_and_days(
        self,
        context: typer.Context,
        interval: Interval = None,
        cron: Cron = None,
        timezone: Timezone = None,
        days: Annotated[int | None, typer.Option(min=1, help="Only what is older than this many days.")] = None,
    ) -> None:
        """Choose when it runs, for good; without an option the times of the program and its settings again."""
        self._set(context, times_of(interval, cron, timezone), older_than_days=days)

    def set_times_and_size(
        self,
        context: typer.Context,
        interval: Interval = None,
        cron: Cron = None,
        timezone: Timezone = None,
        batch_size: Annotated[int | None, typer.Option(min=1, max=100, help="Entries at a time.")] = None,
    ) -> None:
        """Choose when it runs, for good; without an option the times of the program and its settings again."""
        self._set(context, times_of(interval, cron, timezone), batch_size=batch_size)

    def show(self, context: typer.Context, as_json: Json = False) -> None:
        """Show when it runs, ran last and runs next."""
        from pressbox.core.temporal import schedules

        view = self._run(context, schedules.view)
        if as_json:
            print_json(view.model_dump(mode="json"))
            return
        for line in _lines(view):
            typer.echo(line)

    def pause(self, context: typer.Context) -> None:
        """Pause it until you resume it."""
        from pressbox.core.temporal import schedules

        self._run(context, lambda resources, item: schedules.pause(resources.temporal, item.id))
        typer.echo(f"{self._schedule_id} is paused.")

    def resume(self, context: typer.Context) -> None:
        """Let it run again."""
        from pressbox.core.temporal import schedules

        self._run(context, lambda resources, item: schedules.resume(resources.temporal, item.id))
        typer.echo(f"{self._schedule_id} runs again.")

    def delete(self, context: typer.Context) -> None:
        """Delete it for good; `set` makes it anew."""
        from pressbox.core.temporal import schedules

        self._run(context, schedules.remove)
        typer.echo(f"{self._schedule_id} is deleted. `pressbox schedule {self._name} set` makes it anew.")

    def trigger(self, context: typer.Context) -> None:
        """Run it now, unless it is running."""
        from pressbox.core.temporal import schedules

        self._run(context, lambda resources, item: schedules.run_now(resources.temporal, item.id))
        typer.echo(f"{self._schedule_id} was started.")

    def _set(self, context: typer.Context, times: Times | None, **changes: int | None) -> None:
        from pressbox.core.temporal import schedules

        chosen = {name: value for name, value in changes.items() if value is not None}

        async def act(resources: Resources, item: ScheduleDeclaration) -> ScheduleView:
            # The rest stays as the settings say.
            await schedules.set_times(resources, item, times, item.input.model_copy(update=chosen) if chosen else None)
            return await schedules.view(resources, item)

        for line in _lines(self._run(context, act)):
            typer.echo(line)

    def _run(
        self, context: typer.Context, act: Callable[[Resources, ScheduleDeclaration], Awaitable[Result]]
    ) -> Result:
        async def run(resources: Resources) -> Result:
            declared = self._declared(resources.settings)
            item = next(found for found in declared if found.id == self._schedule_id)
            try:
                return await act(resources, item)
            except NotFoundError as error:
                advice = f"Make it with: pressbox schedule {self._name} set"
                raise NotFoundError(f"There is no schedule {self._schedule_id}. {advice}") from error

        return run_with_resources(context, run)


def build_commands(declared: Declared) -> typer.Typer:
    """On what the manifest declares for the settings."""
    commands = typer.Typer(help="When the reader works by itself.", no_args_is_help=True)
    for name, schedule_id, help in (
        ("ingest", INGEST_SCHEDULE, "Reading the feeds that are due."),
        ("graph", GRAPH_SCHEDULE, "Adding what new articles say to the graph of entities."),
        ("cleanup", CLEANUP_SCHEDULE, "Deleting old entries that everybody has read and nobody kept."),
    ):
        group = typer.Typer(help=help, no_args_is_help=True)
        acts = ScheduleCommands(name, schedule_id, declared)
        setting = {"cleanup": acts.set_times_and_days, "graph": acts.set_times_and_size}
        group.command("set")(setting.get(name, acts.set_times))
        for act in (acts.show, acts.pause, acts.resume, acts.delete, acts.trigger):
            group.command()(act)
        commands.add_typer(group, name=name)
    return commands


def times_of(interval: str | None, cron: str | None, timezone: str | None) -> Times | None:
    from pressbox.core.temporal.schedules import Times

    if interval and cron:
        raise InvalidInputError("Choose --interval or --cron, not both.", field="interval")
    if timezone and not cron:
        raise InvalidInputError("--timezone belongs to --cron: an interval is the same everywhere.", field="timezone")
    if timezone and timezone not in available_timezones():
        raise InvalidInputError("--timezone is the name of a zone, such as Europe/Berlin.", field="timezone")
    if interval:
        return Times(every=interval_of(interval))
    return Times(cron=cron, timezone=timezone) if cron else None


def interval_of(text: str) -> timedelta:
    """1h, 30m, 1d12h."""
    if not re.fullmatch(r"(\d{1,6}[dhms])+", text):
        raise InvalidInputError("--interval is written as 30m, 1h or 1d12h.", field="interval")
    parts = re.findall(r"(\d{1,6})([dhms])", text)
    interval = sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in parts), timedelta())
    if interval < SHORTEST:
        raise InvalidInputError("--interval is at least 10s.", field="interval")
    return interval


def _lines(view: ScheduleView) -> list[str]:
    state = "missing" if not view.exists else "paused" if view.paused else "on"
    lines = [f"{view.id}: {state}, {view.timetable}"]
    if view.last_run:
        lines.append(f"  last {view.last_run:%Y-%m-%d %H:%M} UTC")
    if view.next_run:
        lines.append(f"  next {view.next_run:%Y-%m-%d %H:%M} UTC")
    if view.problem:
        lines.append(f"  {view.problem}")
    return lines
