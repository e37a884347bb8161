"""Functions for child processes of tests: good ones, and the ways in which one can go wrong."""

import os
import signal
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from pressbox.core.errors import ConflictError, InvalidInputError
from pressbox.core.processes.fork_server import after_answer
from pressbox.curator.feeds.domain import ParsedFeed


@dataclass(frozen=True)
class Greeting:
    text: str
    pause: timedelta = timedelta()


def fail_to_load() -> None:
    raise ImportError("A library is missing.")


def greet(name: str, *, pause: timedelta = timedelta(seconds=1)) -> Greeting:
    return Greeting(f"Hello, {name}", pause)


def reverse_all(parts: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return tuple(part[::-1] for part in parts)


def print_and_count(path: Path) -> int:
    # Past every object of Python, as a C library prints.
    os.write(1, b"a library says something\n")
    return len(path.parts)


@cache
def process_number() -> int:
    return os.getpid()


def refuse(field: str) -> None:
    raise InvalidInputError("This cannot be used.", field=field)


def conflict() -> None:
    raise ConflictError("Not now.")


def divide_by_zero() -> float:
    return 1 / 0


def take_memory(count: int) -> int:
    return len(bytes(count))


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def work_for_ever() -> None:
    while True:
        pass


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def say_much(count: int) -> str:
    return "x" * count


def write_file(path: Path, count: int) -> None:
    path.write_bytes(bytes(count))


def environment() -> dict[str, str]:
    return dict(os.environ)


def answer_before_sleeping(seconds: float) -> int:
    after_answer(lambda: time.sleep(seconds))
    return os.getpid()


def parse_by_memory(content: bytes, content_type: str, url: str, *, now: datetime, limit: int | None) -> ParsedFeed:
    """As `parse_feed`, of a document that takes all memory."""
    return ParsedFeed("x" * 2_000_000_000)


def parse_for_ever(content: bytes, content_type: str, url: str, *, now: datetime, limit: int | None) -> ParsedFeed:
    """As `parse_feed`, of a document that takes all time."""
    while True:
        pass


def parse_by_accident(content: bytes, content_type: str, url: str, *, now: datetime, limit: int | None) -> ParsedFeed:
    """As `parse_feed`, of a document that breaks it in a new way."""
    raise ZeroDivisionError


def hold_up_python(started: Path) -> int:
    """A loop of the interpreter itself, during which no other thread runs."""
    started.write_text(str(os.getpid()))
    return sum(range(10**13))
