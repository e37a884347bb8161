"""The demo in a process of its own, and the parts of its instance, which tests kill."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from pressbox.core.environment import child_environment
from pressbox.embedded.home import Home
from pressbox.embedded.leftovers import load_parts
from pressbox.embedded.ports import free_port
from tests.patience import patience

PARTS = {"worker", "web", "postgres", "temporal"}
LONGEST = 480.0


@contextmanager
def playing(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """The demo makes its home in the folder for temporary files, which is ours."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pressbox", "demo", "--headless", "--json", "--speed", "1", *arguments],
        env=child_environment(
            PRESSBOX_HOME=str(folder / "home"), PRESSBOX_WEB_PORT=str(free_port()), TMPDIR=str(folder)
        ),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(patience(60))
        assert process.stdout is not None
        process.stdout.close()


def parts(home: Home) -> dict[str, int]:
    return {record.name: record.process.pid for record in load_parts(home).parts if record.process.find()}


def find_home(folder: Path) -> Home:
    """As soon as all parts of the instance run in it."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for path in folder.glob("pressbox-demo-*"):
            if path.is_dir() and set(parts(Home(path))) >= PARTS:
                return Home(path)
        time.sleep(0.5)
    raise AssertionError("The instance of the demo does not run.")


def kill_part(home: Home, name: str, demo: "subprocess.Popen[str]") -> None:
    """Dead for certain, and back with another process; or not needed any more, because the demo is at its end."""
    before = parts(home).get(name)
    with suppress(ProcessLookupError):
        if before is not None:
            os.kill(before, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and demo.poll() is None:
        after = parts(home).get(name)
        if after not in (None, before) and psutil.pid_exists(after):
            return
        time.sleep(0.3)
    assert demo.poll() is not None, f"{name} did not come back."


def wait_until_there_is(home: Home, question: str, demo: "subprocess.Popen[str]") -> bool:
    """Returns whether it was seen; False when the demo ended first."""
    deadline = time.monotonic() + patience(LONGEST)
    while demo.poll() is None and time.monotonic() < deadline:
        endpoints = home.load_endpoints()
        # There are none while the instance stops.
        if endpoints is not None:
            with suppress(psycopg.OperationalError), psycopg.connect(endpoints.database_url) as connection:
                found = connection.execute(question.encode()).fetchone()
                if found and found[0]:
                    return True
        time.sleep(0.3)
    assert demo.poll() is not None, f"Not before the end of the day: {question}"
    return False
