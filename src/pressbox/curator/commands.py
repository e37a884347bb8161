"""All commands of the curator: `feeds`, `apps`, `ask`, `trigger` and `schedule`, which are words of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from pressbox.curator import schedule_commands as schedules
from pressbox.curator.apps import commands as apps
from pressbox.curator.ask import commands as ask
from pressbox.curator.cards import commands as cards
from pressbox.curator.cleanup import commands as cleanup
from pressbox.curator.distil import commands as distil
from pressbox.curator.graph import commands as graph
from pressbox.curator.ingest import commands as ingest
from pressbox.curator.research import commands as research
from pressbox.curator.search import commands as search
from pressbox.curator.sources import commands as feeds
from pressbox.curator.translate import commands as translate

if TYPE_CHECKING:
    from pressbox.core.app import Command

# The slices that have commands for `pressbox trigger`.
TRIGGERS = (ingest, translate, distil, cards, search, cleanup, research, graph)


def build_commands(declared: schedules.Declared) -> dict[str, Command]:
    """Return the commands by name; those of `schedule` are about the declared schedules."""
    trigger = typer.Typer(help="Start work of the reader now.", no_args_is_help=True)
    for slice_commands in TRIGGERS:
        trigger.add_typer(slice_commands.trigger)
    return {
        "feeds": feeds.commands,
        "apps": apps.commands,
        "ask": ask.ask,
        "trigger": trigger,
        "schedule": schedules.build_commands(declared),
    }
