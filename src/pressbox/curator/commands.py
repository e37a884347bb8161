"""All commands of the curator: `feeds`, `apps`, `ask`, `trigger` and `schedule`, which are words of the program."""

import typer

from pressbox.curator.apps import commands as apps
from pressbox.curator.ask import commands as asking
from pressbox.curator.operations import schedule_commands as schedules
from pressbox.curator.operations import trigger_commands as triggers
from pressbox.curator.operations.command_context import MakeService
from pressbox.curator.sources import commands as feeds


def build_commands(make: MakeService, declared: schedules.Declared) -> typer.Typer:
    """On the service that `make` gives for the connected parts, and on what is declared for the settings."""
    commands = typer.Typer(help="Feeds, articles and their summaries.", no_args_is_help=True)
    commands.add_typer(feeds.build_commands(make), name="feeds")
    commands.add_typer(apps.build_commands(make), name="apps")
    commands.command("ask")(asking.AskCommand(make).ask)
    commands.add_typer(triggers.build_commands(make), name="trigger")
    commands.add_typer(schedules.build_commands(declared), name="schedule")
    return commands
