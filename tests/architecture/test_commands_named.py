"""Command lines that pages, messages and the documentation name can be typed: the command and its options exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer._click import Context
from typer.core import TyperGroup
from typer.main import get_command

from pressbox.entry.cli import cli
from tests.architecture.source import ROOT, SOURCE

# An ADR tells what was decided at its time.
TEXTS = sorted(
    file
    for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *SOURCE.rglob("*.py"), *SOURCE.rglob("*.html"))
    if file.name not in {"CHANGELOG.md", "commands.md"}
)
_INLINE = re.compile(r"(?:`|<code>)(?:\.venv/bin/)?pressbox ([^`<\n]+)(?:`|</code>)")
_BLOCK = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?pressbox ([^\n#|>&]+)", re.MULTILINE)


def command_lines(file: Path) -> Iterator[str]:
    text = file.read_text()
    yield from _INLINE.findall(text)
    if file.suffix == ".md":
        for block in re.findall(r"```(?:sh|console|bash)?\n(.*?)```", text, re.DOTALL):
            yield from _BLOCK.findall(block)


def find_fault(line: str) -> str | None:
    command = get_command(cli)
    context = Context(command)
    options = {"--help", *(name for parameter in command.params for name in parameter.opts)}
    words = shlex.split(line)
    while words and isinstance(command, TyperGroup) and re.fullmatch(r"[a-z][a-z-]*", words[0]):
        named = command.get_command(context, words[0])
        if named is None:
            return f"there is no {words[0]}"
        command, context = named, Context(named, parent=context)
        options.update(name for parameter in command.params for name in parameter.opts)
        words = words[1:]
    given = {word.partition("=")[0] for word in words if word.startswith("--")}
    return f"it has no {', '.join(sorted(given - options))}" if given - options else None


@pytest.mark.parametrize(
    "line", ["nonsense", "--nonsense", "feeds nonsense", "up --nonsense", "bench all --nonsense=1"]
)
def test_a_wrong_command_line_is_found(line: str) -> None:
    assert find_fault(line) is not None


def test_command_lines_that_are_named_exist() -> None:
    lines = [(file, line) for file in TEXTS for line in command_lines(file)]
    assert len(lines) > 100
    faults = {f"{file.relative_to(ROOT)}: pressbox {line}": find_fault(line) for file, line in lines}
    assert {line: fault for line, fault in faults.items() if fault} == {}
