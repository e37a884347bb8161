"""Help is shown at once: it imports typer, words and nothing else."""

import inspect
import json
import subprocess
import sys

import pytest
import typer

from pressbox.core.app import CommandWord
from pressbox.entry.cli import WORDS

# Typer and what it needs to print; `_sysconfigdata…` belongs to Python itself.
ALLOWED = {"typer", "shellingham", "annotated_doc", "typing_extensions", "pressbox"}
# Of ours: manifests, names, enumerations that options offer, and the commands themselves.
OUR_LIBRARIES = (
    "pressbox.core.config",
    "pressbox.core.environment",
    "pressbox.core.logs",
    "pressbox.core.db",
    "pressbox.core.web",
    "pressbox.core.http",
)

PROGRAM = """
import json, sys
before = set(sys.modules)
from pressbox.entry.cli import cli
try:
    cli(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
json.dump(sorted(set(sys.modules) - before), sys.stderr)
"""


def imported_by(*arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout
    return list(json.loads(done.stderr))


def too_much(modules: list[str]) -> list[str]:
    outside = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - ALLOWED
    return sorted(name for name in outside if not name.startswith("_")) + [
        name for name in modules if name.startswith(OUR_LIBRARIES)
    ]


def test_help_of_the_program_imports_no_library() -> None:
    assert too_much(imported_by("--help")) == []


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_help_of_a_command_imports_no_library(word: CommandWord) -> None:
    assert too_much(imported_by(word.name, "--help")) == []


@pytest.mark.parametrize("word", WORDS, ids=lambda word: word.name)
def test_the_summary_of_a_word_begins_its_own_help(word: CommandWord) -> None:
    command = word.load()
    help = command.info.help if isinstance(command, typer.Typer) else inspect.getdoc(command)
    assert isinstance(help, str)
    assert help.startswith(word.summary)
