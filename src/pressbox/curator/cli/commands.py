"""All commands of the curator: `feeds`, `apps`, `trigger` and `schedule`, which the program offers as its own words."""

import typer

from pressbox.curator.cli import apps, feeds, schedules, triggers
from pressbox.curator.cli.running import MakeService


def build_commands(make: MakeService, declared: schedules.Declared) -> typer.Typer:
    """On the service that `make` gives for the connected parts, and on what is declared for the settings."""
    commands = typer.Typer(help="Feeds, articles and their summaries.", no_args_is_help=True)
    commands.add_typer(feeds.build_commands(make), name="feeds")
    commands.add_typer(apps.build_commands(make), name="apps")
    commands.add_typer(triggers.build_commands(make), name="trigger")
    commands.add_typer(schedules.build_commands(declared), name="schedule")
    return commands
