"""The source tree as the architecture tests see it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pressbox"
APPLICATIONS = ("footy", "soonish", "curator", "maintenance", "demo")


def modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield file.relative_to(SOURCE).as_posix(), file


@cache
def calls(file: Path) -> frozenset[str]:
    """Dotted names of everything that the module calls or reads, as written."""
    names = (found for found in ast.walk(ast.parse(file.read_text())) if isinstance(found, ast.Attribute | ast.Name))
    return frozenset(ast.unparse(found) for found in names)


def decorated(file: Path, decorator: str) -> Iterator[str]:
    """Names of what carries this decorator, with or without arguments."""
    for found in ast.walk(ast.parse(file.read_text())):
        if isinstance(found, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in found.decorator_list:
                if ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) == decorator:
                    yield found.name
