"""Writes the pages of docs/ that come from the code: settings, commands, workflows. `make docs` runs it."""

import inspect
from collections.abc import Iterator

import typer
from pydantic import SecretStr
from pydantic_core import PydanticUndefined
from temporalio import workflow
from typer._click import Command, Context
from typer.core import TyperGroup

from pressbox.core import config
from pressbox.core.config import Settings
from pressbox.core.environment import Variable, variables
from pressbox.core.temporal.schedules import timetable
from pressbox.entry.cli import cli
from pressbox.entry.manifests import settings_groups
from tests.architecture.source import ROOT
from tests.architecture.test_registration import MANIFESTS, activities

NOTE = "<!-- Written by `make docs` from the code; a test keeps it true. Do not edit by hand. -->\n"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        NOTE,
        "Set them in the environment or in a `.env` file of the folder where you start Pressbox. A secret can also",
        "come from a file: add `_FILE` to its name. Names without our prefix are aliases. Unknown `PRESSBOX_` names",
        "are reported.",
    ]
    group: tuple[str, ...] | None = None
    for variable in variables(settings_groups()):
        if variable.path[:-1] != group:
            group = variable.path[:-1]
            lines += [
                "",
                f"## {_title(group)}",
                "",
                _about(group),
                "",
                "| variable | default | meaning |",
                "|---|---|---|",
            ]
        names = ", ".join(f"`{name}`" for name in variable.names) + (" (secret)" if variable.secret else "")
        lines.append(f"| {names} | {_default(variable)} | {variable.field.description} |")
    return "\n".join(lines) + "\n"


def _title(group: tuple[str, ...]) -> str:
    return group[0].capitalize() if group else "General"


def _about(group: tuple[str, ...]) -> str:
    if not group:
        return "What concerns the whole instance."
    model = settings_groups().get(group[0]) or Settings.model_fields[group[0]].annotation
    return inspect.getdoc(model) or ""


def _default(variable: Variable) -> str:
    if variable.path == ("home",):
        return f"`{config.ROOT_HOME}` for root, else your data folder"
    default = variable.field.get_default()
    if default is PydanticUndefined or default is None or default in ((), "") or isinstance(default, SecretStr):
        return ""
    if isinstance(default, tuple):
        return f"`{','.join(map(str, default))}`"
    return f"`{int(default) if isinstance(default, bool) else default}`"


def commands_page() -> str:
    group = typer.main.get_command(cli)
    lines = ["# Commands", "", NOTE, "Exit codes: 0 done, 1 failed, 2 wrong use.", ""]
    for path, command in _commands("pressbox", group):
        with Context(command, info_name=path, terminal_width=100) as context:
            lines += [f"## {path}", "", "```text", command.get_help(context).rstrip(), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def _commands(path: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield path, command
    if isinstance(command, TyperGroup):
        context = Context(command)
        for name in sorted(command.list_commands(context)):
            child = command.get_command(context, name)
            if child is not None:
                yield from _commands(f"{path} {name}", child)


def workflows_page() -> str:
    lines = ["# Workflows", "", NOTE]
    for manifest in MANIFESTS:
        if not manifest.queues:
            continue
        lines += ["", f"## {manifest.title}", "", manifest.summary]
        for queue, classes in manifest.workflows().items():
            for found in classes:
                definition = workflow._Definition.must_from_class(found)
                lines += ["", f"### {definition.name}", "", f"Task queue `{queue}`.", "", inspect.getdoc(found) or ""]
                messages = [*definition.signals, *definition.updates, *definition.queries]
                named = ", ".join(f"`{name}`" for name in sorted(filter(None, messages)) if not name.startswith("__"))
                lines += ["", f"Signals, updates and queries: {named or 'none'}."]
        names = ", ".join(f"`{name}`" for group in activities(manifest).values() for name in group)
        lines += ["", f"Activities: {names or 'none'}."]
        for item in manifest.schedules(Settings()):
            lines += ["", f"Schedule `{item.id}`: {timetable(item)}, starts `{item.workflow}`. {item.summary}."]
    return "\n".join(lines) + "\n"


PAGES = {"settings.md": settings_page, "commands.md": commands_page, "workflows.md": workflows_page}
DOCS = ROOT / "docs"


if __name__ == "__main__":
    DOCS.mkdir(exist_ok=True)
    for name, write in PAGES.items():
        (DOCS / name).write_text(write())
