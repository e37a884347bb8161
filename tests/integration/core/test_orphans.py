"""Children of a process that was killed end too, whatever they are doing."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import until

POOL = "ChildPool('The child').run(functions.hold_up_python, Path(sys.argv[1]))"
FORKS = "ForkServer('The fork').run(functions.hold_up_python, Path(sys.argv[1]))"
PROGRAM = """
import asyncio, sys
from pathlib import Path
from pressbox.core.processes.forks import ForkServer
from pressbox.core.processes.pool import ChildPool
from tests.fakes import child_functions as functions
asyncio.run({call})
"""


@pytest.mark.parametrize("call", [POOL, FORKS])
async def test_a_child_that_holds_up_python_ends_with_a_parent_that_was_killed(call: str, tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = PROGRAM.format(call=call)
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(started))
    descendants: list[psutil.Process] = []
    try:
        await until(lambda: started.exists() and started.read_text())
        descendants = psutil.Process(parent.pid).children(recursive=True)
        assert int(started.read_text()) in [process.pid for process in descendants]
        parent.kill()
        await until(lambda: all(map(is_gone, descendants)), "the end of all children")
    finally:
        if parent.returncode is None:
            parent.kill()
        await parent.wait()
        for process in descendants:
            if not is_gone(process):
                process.kill()


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
