"""Runs a simulator in a child process, so that its cost is not measured."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pressbox.core.processes.parents import end_with_parent


@contextmanager
def run_simulator(module: str, *arguments: str) -> Iterator[str]:
    """Run this module, which prints its port on standard output; yields its address and ends it afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=end_with_parent(signal.SIGKILL),
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.communicate()
