"""All commands of the curator: `feeds`, `apps`, `ask`, `trigger` and `schedule`, which are words of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pressbox.curator.apps import commands as apps
from pressbox.curator.ask import commands as asking
from pressbox.curator.operations import schedule_commands as schedules
from pressbox.curator.operations import trigger_commands as triggers
from pressbox.curator.sources import commands as feeds

if TYPE_CHECKING:
    from pressbox.core.app import Command
    from pressbox.curator.operations.command_context import MakeService


def build_commands(make: MakeService, declared: schedules.Declared) -> dict[str, Command]:
    """Return the commands by name, on the service that `make` gives and on what is declared for the settings."""
    return {
        "feeds": feeds.build_commands(make),
        "apps": apps.build_commands(make),
        "ask": asking.AskCommand(make).ask,
        "trigger": triggers.build_commands(make),
        "schedule": schedules.build_commands(declared),
    }
