"""The source tree as the architecture tests see it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "pressbox"
APPLICATIONS = ("delivery", "footy", "soonish", "curator", "maintenance", "demo")


def modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield file.relative_to(SOURCE).as_posix(), file


@cache
def read(file: Path) -> str:
    """What dozens of rules look at is read once."""
    return file.read_text()


def names(file: Path, word: str) -> Iterator[str]:
    """Dotted names that end with this word, of whatever the module calls or reads, as written."""
    # Parsing all modules takes seconds; a name that is used stands in the text.
    if word in read(file):
        for found in ast.walk(ast.parse(read(file))):
            if isinstance(found, ast.Attribute) and found.attr == word:
                yield ast.unparse(found)
            elif isinstance(found, ast.Name) and found.id == word:
                yield word


def decorated(file: Path, decorator: str) -> Iterator[str]:
    """Names of what carries this decorator, with or without arguments."""
    if decorator not in read(file):
        return
    for found in ast.walk(ast.parse(read(file))):
        if isinstance(found, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in found.decorator_list:
                if ast.unparse(mark.func if isinstance(mark, ast.Call) else mark) == decorator:
                    yield found.name
