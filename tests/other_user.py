"""Somebody else on the same machine, who wants to look at what is ours."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from pressbox.embedded.processes import SystemAccount, reachable

Answer = TypeVar("Answer")
# Nobody's, and not that of the account which runs root's PostgreSQL.
UID = 54_321


def needs_reachable_checkout() -> None:
    """Skip the test where other accounts cannot enter the folder of this checkout; in CI the gate opens it."""
    if not reachable(Path(__file__).parent, SystemAccount(UID, UID)):
        pytest.skip("other accounts cannot enter the folder of this checkout")


def open_to_others(top: Path) -> list[str]:
    """What another user could read or write at or below a place, even one who knows every name there."""
    paths = [top, *top.rglob("*")]
    return as_another_user(lambda: [str(path) for path in paths if _is_open(path)])


def _is_open(path: Path) -> bool:
    return os.access(path, os.R_OK) or os.access(path, os.W_OK)


def as_another_user(attempt: Callable[[], Answer]) -> Answer:
    """Run it in a process of another uid and give what it gives. Only root can become somebody else."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(UID)
            os.setuid(UID)
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump(attempt(), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the attempt itself failed"
    answer: Answer = pickle.loads(said)
    return answer
