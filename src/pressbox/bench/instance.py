"""A whole instance on a home of its own, started as people start it: `pressbox up` in a process."""

import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pressbox.core.config import child_environment
from pressbox.core.errors import PermanentError
from pressbox.core.logs import redact
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.ports import free_port
from pressbox.embedded.processes import log_tail

START_SECONDS = 180.0
STOP_SECONDS = 60.0
OPEN_FILES = 8192


@dataclass(frozen=True)
class Instance:
    """`seconds` is the time from the start of the process until everything answered."""

    home: Home
    endpoints: Endpoints
    process: subprocess.Popen[bytes]
    seconds: float


@contextmanager
def temporary_home() -> Iterator[Home]:
    """A home that is gone afterwards. Root's PostgreSQL must be able to pass through to it."""
    folder = Path(tempfile.mkdtemp(prefix="pressbox-bench-"))
    folder.chmod(0o711)
    try:
        yield Home(folder / "home")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_instance(home: Home) -> Iterator[Instance]:
    """Start on this home, and stop at the end. What the user's own settings name is not touched."""
    log = home.path.parent / "up.log"
    began = time.monotonic()
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "pressbox", "up", "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # A session of its own: Ctrl-C reaches us, and we stop it in order.
            start_new_session=True,
            env=child_environment(
                PRESSBOX_HOME=str(home.path),
                PRESSBOX_OPEN="1",
                PRESSBOX_WEB_HOST="127.0.0.1",
                PRESSBOX_WEB_PORT=str(free_port()),
                PRESSBOX_WEB_PUBLIC_URL="",
                PRESSBOX_DATABASE_URL="",
                PRESSBOX_DATABASE_PORT="",
                PRESSBOX_TEMPORAL_ADDRESS="",
                PRESSBOX_TEMPORAL_PORT="",
                PRESSBOX_TEMPORAL_UI_PORT="",
                PRESSBOX_OBJECTS_BUCKET="",
                PRESSBOX_TESTING_FAULTS_DIRECTORY="",
            ),
        )
    try:
        _wait_until_ready(process, log, began + START_SECONDS)
        seconds = time.monotonic() - began
        endpoints = home.load_endpoints()
        if endpoints is None:
            raise PermanentError(f"The instance runs, but left no addresses in {home.run}.")
        yield Instance(home, endpoints, process, seconds)
    finally:
        _stop(process)


def allow_many_connections() -> None:
    """Hundreds of clients are hundreds of open files, here and in the web process that inherits our limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _wait_until_ready(process: subprocess.Popen[bytes], log: Path, deadline: float) -> None:
    assert process.stdout is not None
    # `up --json` prints one line, once everything answers.
    ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    if not ready or not process.stdout.readline():
        raise PermanentError(f"The instance did not start. Its log ends with:\n{redact(log_tail(log, lines=15))}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    finally:
        if process.stdout is not None:
            process.stdout.close()
