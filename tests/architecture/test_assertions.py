"""A test that asserts nothing tells nothing."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.architecture.source import ROOT

# Calls that fail by themselves when something is not as expected.
TELLING = ("raises", "warns", "fail", "expect", "until", "replay", "assert_", "expect_", "check_", "wait_for")


@dataclass(frozen=True)
class Function:
    name: str
    place: str
    called: frozenset[str]
    tells: bool


def functions() -> Iterator[Function]:
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield look_at(node, f"{file.relative_to(ROOT)}:{node.lineno}")


def look_at(function: ast.FunctionDef | ast.AsyncFunctionDef, place: str) -> Function:
    nodes = list(ast.walk(function))
    calls = (node.func for node in nodes if isinstance(node, ast.Call))
    called = {
        call.attr if isinstance(call, ast.Attribute) else call.id
        for call in calls
        if isinstance(call, ast.Attribute | ast.Name)
    }
    asserts = any(isinstance(node, ast.Assert | ast.Raise) for node in nodes)
    tells = asserts or any(name.startswith(TELLING) for name in called)
    return Function(function.name, place, frozenset(called), tells)


def test_every_test_asserts_something_itself_or_by_a_helper() -> None:
    known = list(functions())
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in known:
        by_name[function.name].append(function)
    telling = {name for name, found in by_name.items() if any(function.tells for function in found)}
    while found := {
        name
        for name, found in by_name.items()
        if name not in telling and any(function.called & telling for function in found)
    }:
        telling |= found
    silent = [
        function.place
        for function in known
        if function.name.startswith("test_") and not function.tells and not function.called & telling
    ]
    assert silent == []
