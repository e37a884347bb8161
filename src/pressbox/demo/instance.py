"""Runs a whole Pressbox in a child process, for the demo, for tests and for benchmarks."""

import contextlib
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pressbox.core.environment import child_environment
from pressbox.core.errors import PermanentError
from pressbox.core.logs import redact
from pressbox.core.processes.parents import end_with_parent
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.processes import log_tail

START_SECONDS = 180.0
STOP_SECONDS = 60.0

# A demo, a test or a benchmark must not touch what the user's own settings name.
OWN_PARTS = {
    "PRESSBOX_WEB_HOST": "127.0.0.1",
    "PRESSBOX_WEB_PUBLIC_URL": "",
    "PRESSBOX_DATABASE_URL": "",
    "PRESSBOX_DATABASE_PORT": "",
    "PRESSBOX_TEMPORAL_ADDRESS": "",
    "PRESSBOX_OBJECTS_BUCKET": "",
    "PRESSBOX_CURATOR_INDEX_PATH": "",
    "PRESSBOX_TESTING_FAULTS_DIRECTORY": "",
}


@dataclass(frozen=True)
class Instance:
    """A running `pressbox up`: its home, its endpoints, and how many seconds it took to start."""

    home: Home
    endpoints: Endpoints
    process: subprocess.Popen[str]
    seconds: float

    @property
    def web_url(self) -> str:
        assert self.endpoints.web_url is not None
        return self.endpoints.web_url


@contextlib.contextmanager
def running_instance(home: Path, *, log: Path | None = None, **environment: str) -> Iterator[Instance]:
    """Start `pressbox up` on this home with further settings, and stop it at the end of the block.

    Its messages are written to the file `log`, or to our standard error.
    """
    began = time.monotonic()
    with log.open("a") if log else contextlib.nullcontext() as messages:
        process = subprocess.Popen(
            [sys.executable, "-m", "pressbox", "up", "--json"],
            env=child_environment(**{**OWN_PARTS, "PRESSBOX_HOME": str(home), **environment}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            # In its own session, so that Ctrl-C reaches only us, and we stop it. If we are killed, it stops by itself.
            start_new_session=True,
            preexec_fn=end_with_parent(signal.SIGTERM),
        )
    try:
        _await_ready(process, log, began + START_SECONDS)
        seconds = time.monotonic() - began
        endpoints = Home(home).load_endpoints()
        if endpoints is None:
            raise PermanentError(f"`pressbox up` runs, but wrote no endpoints to {home}.")
        yield Instance(Home(home), endpoints, process, seconds)
    finally:
        stop(process)


def stop(process: subprocess.Popen[str]) -> None:
    """Ask it to stop and wait. Only one that hangs is killed; the next start cleans up after it."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()


def _await_ready(process: subprocess.Popen[str], log: Path | None, deadline: float) -> None:
    assert process.stdout is not None
    # `up --json` prints one line when everything answers; if it ends without one, its message says why.
    readable, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    if not readable or not process.stdout.readline():
        reason = f"Its log ends with:\n{redact(log_tail(log))}" if log else "Its message is above."
        raise PermanentError(f"`pressbox up` did not start. {reason}")
