"""A whole day of the demo, while its worker, its database and its Temporal are killed, one after the other."""

import json
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
import pytest

from pressbox.core.environment import child_environment
from pressbox.embedded.home import Home
from pressbox.embedded.leftovers import load_parts
from pressbox.embedded.ports import free_port

# Each is killed as soon as there is something of this kind.
KILLED = {
    "footy": {
        "worker": "SELECT count(*) FROM footy.goals",
        "postgres": "SELECT count(*) FROM footy.clip_candidates",
        "temporal": "SELECT count(*) FROM footy.clips",
    },
    "curator": {
        "worker": "SELECT count(*) FROM curator.entries WHERE fetch_state = 'fetched'",
        "postgres": "SELECT count(*) FROM curator.entries WHERE distil_state = 'distilled'",
        "temporal": "SELECT count(*) FROM curator.entries WHERE guid LIKE '%:night-ferry-timetable'",
    },
}
PARTS = {"worker", "postgres", "temporal"}
LONGEST = 480.0


@contextmanager
def playing(folder: Path, day: str) -> Iterator["subprocess.Popen[str]"]:
    """The demo makes its home in the folder for temporary files, which is ours."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pressbox", "demo", "--headless", "--json", "--only", day, "--speed", "1"],
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
        process.wait(60)


def parts(home: Home) -> dict[str, int]:
    return {record.name: record.process.pid for record in load_parts(home).parts if record.process.find()}


def the_home(folder: Path) -> Home:
    """As soon as all parts of the instance run in it."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for path in folder.glob("pressbox-demo-*"):
            if path.is_dir() and set(parts(Home(path))) >= PARTS:
                return Home(path)
        time.sleep(0.5)
    raise AssertionError("The instance of the demo does not run.")


def killed(home: Home, name: str) -> None:
    """Dead for certain, and back with another process."""
    before = parts(home)[name]
    os.kill(before, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        after = parts(home).get(name)
        if after not in (None, before) and psutil.pid_exists(after):
            return
        time.sleep(0.3)
    raise AssertionError(f"{name} did not come back.")


def there_is(home: Home, question: str, demo: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + LONGEST
    while demo.poll() is None and time.monotonic() < deadline:
        endpoints = home.load_endpoints()
        assert endpoints is not None
        with suppress(psycopg.OperationalError), psycopg.connect(endpoints.database_url) as connection:
            found = connection.execute(question.encode()).fetchone()
            if found and found[0]:
                return
        time.sleep(0.3)
    raise AssertionError(f"Not before the end of the day: {question}")


@pytest.mark.slow
@pytest.mark.timeout(LONGEST + 120)
@pytest.mark.parametrize("day", KILLED)
def test_a_day_ends_as_its_script_says_although_its_parts_are_killed(reachable_folder: Path, day: str) -> None:
    folder = reachable_folder / f"day-{day}"
    folder.mkdir()
    folder.chmod(0o711)
    with playing(folder, day) as demo:
        home = the_home(folder)
        for name, question in KILLED[day].items():
            there_is(home, question, demo)
            killed(home, name)
        output, _ = demo.communicate(timeout=LONGEST)
    findings = json.loads(output)["findings"]
    assert [finding for finding in findings if finding["expected"] != finding["found"]] == []
    assert demo.returncode == 0
