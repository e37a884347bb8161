"""A whole Pressbox in a process of its own: what the demo shows, and what tests and benchmarks measure."""

import contextlib
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pressbox.core.config import child_environment
from pressbox.core.errors import PermanentError
from pressbox.embedded.home import Endpoints, Home

START_SECONDS = 90.0
STOP_SECONDS = 40.0


@dataclass(frozen=True)
class Instance:
    """A running `pressbox up`: its home, where its parts answer, and the process that watches them."""

    home: Home
    endpoints: Endpoints
    process: subprocess.Popen[str]

    @property
    def web_url(self) -> str:
        assert self.endpoints.web_url is not None
        return self.endpoints.web_url


@contextlib.contextmanager
def running_instance(home: Path, **environment: str) -> Iterator[Instance]:
    """Start `pressbox up` on this home with further settings, and stop it at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pressbox", "up", "--json"],
        env=child_environment(PRESSBOX_HOME=str(home), **environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _await_ready(process)
        endpoints = Home(home).load_endpoints()
        if endpoints is None:
            raise PermanentError(f"`pressbox up` runs, but left no endpoints in {home}.")
        yield Instance(Home(home), endpoints, process)
    finally:
        stop(process)


def stop(process: subprocess.Popen[str]) -> None:
    """Ask it to stop in order, and wait; only a hanging one is killed, and the next start cleans up after it."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _await_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        readable, _, _ = select.select([process.stdout], [], [], 0.2)
        if readable:
            if process.stdout.readline():
                return
            break
    # What was wrong stands on its standard error, which is ours.
    raise PermanentError("`pressbox up` did not start; its message is above.")
