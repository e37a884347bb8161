"""The guard of the event loops (`tests/blocking.py`) finds what would block, and only that."""

import asyncio
from pathlib import Path

import pytest
from blockbuster import BlockingError

import pressbox

SLEEP = "import time; time.sleep(0.001)"
ASK = "import socket; socket.getaddrinfo('localhost', 80)"
LOOK = "import threading; threading.Event().wait(0)"


def runs_as(path: str, code: str) -> bool:
    """Run the code as if it stood in that file."""
    exec(compile(code, str(Path(pressbox.__path__[0], path)), "exec"), {})
    return True


@pytest.mark.parametrize("code", [SLEEP, ASK])
async def test_code_of_pressbox_must_not_block_the_loop_that_runs_it(code: str) -> None:
    with pytest.raises(BlockingError):
        runs_as("core/made_up.py", code)


async def test_threads_launchers_and_short_looks_may() -> None:
    assert await asyncio.to_thread(runs_as, "core/made_up.py", SLEEP)
    assert runs_as("embedded/made_up.py", SLEEP)
    assert runs_as("core/made_up.py", LOOK)
