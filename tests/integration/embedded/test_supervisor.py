"""The engine of `pressbox up`, as a real process on real servers: recovery, second start, taken ports, no orphans."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from pressbox.core.config import Settings
from pressbox.core.errors import ConfigurationError, ConflictError
from pressbox.embedded.backup import write_backup
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.leftovers import load_parts
from pressbox.embedded.ports import free_port
from pressbox.embedded.processes import ProcessRecord, wait_until
from pressbox.embedded.restore import restore_backup
from pressbox.embedded.supervisor import Steps, Supervisor
from tests.folders import reachable_folder
from tests.patience import patience
from tests.waiting import PATIENCE_SECONDS

TOY_UP = Path(__file__).with_name("toy_up.py")


class Instance:
    """One home and the supervisors started on it."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.web_port = free_port()
        self.errors = folder / "errors.txt"
        self.up: subprocess.Popen[str] | None = None

    def popen(self, **more: str) -> subprocess.Popen[str]:
        environment = {
            "PATH": os.defpath,
            "PRESSBOX_HOME": str(self.home.path),
            "PRESSBOX_WEB_PORT": str(self.web_port),
            **more,
        }
        with self.errors.open("a") as errors:
            return subprocess.Popen(
                [sys.executable, str(TOY_UP)], stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            )

    def start(self, **more: str) -> str:
        """Start and wait until it is ready; gives the printed block."""
        self.up = self.popen(**more)
        assert self.up.stdout is not None
        lines: list[str] = []
        for line in self.up.stdout:
            if line == "READY\n":
                return "".join(lines)
            lines.append(line)
        raise AssertionError(f"It did not become ready:\n{self.errors.read_text()}")

    def fail(self, **more: str) -> str:
        """Start where it must not start; gives what it said."""
        self.errors.write_text("")
        process = self.popen(**more)
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == 1, output + self.errors.read_text()
        return self.errors.read_text()

    def stop(self) -> int:
        assert self.up is not None
        self.up.send_signal(signal.SIGTERM)
        self.up.communicate(timeout=PATIENCE_SECONDS)
        return self.up.returncode

    def parts(self) -> dict[str, ProcessRecord]:
        return {record.name: record.process for record in load_parts(self.home).parts}

    def serves(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.web_port}/healthz", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def database_answers(self) -> bool:
        endpoints = self.home.load_endpoints()
        assert endpoints is not None
        try:
            with psycopg.connect(endpoints.database_url, connect_timeout=2):
                return True
        except psycopg.OperationalError:
            return False

    def processes(self) -> list[psutil.Process]:
        """Everything that runs for this home."""
        found = []
        for process in psutil.process_iter():
            try:
                text = " ".join([*process.cmdline(), process.cwd(), process.environ().get("PRESSBOX_HOME", "")])
            except psutil.Error:
                continue
            if str(self.home.path) in text and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    def close(self) -> None:
        if self.up is not None and self.up.poll() is None:
            self.stop()
        if self.up is not None and self.up.stdout is not None:
            self.up.stdout.close()
        for process in self.processes():
            process.kill()


@pytest.fixture(scope="module")
def running() -> Iterator[Instance]:
    """One instance that the tests of recovery share; each leaves it well."""
    with reachable_folder() as folder:
        instance = Instance(folder)
        instance.start()
        yield instance
        instance.close()


@pytest.fixture
def instance(folder: Path) -> Iterator[Instance]:
    instance = Instance(folder)
    yield instance
    instance.close()


@pytest.mark.parametrize("name", ["postgres", "temporal", "worker", "web"])
def test_a_killed_part_comes_back_by_itself(running: Instance, name: str) -> None:
    before = running.parts()
    os.kill(before[name].pid, signal.SIGKILL)
    assert wait_until(lambda: running.parts().get(name) not in (None, before[name]), patience(25))
    assert wait_until(lambda: running.serves() and running.database_answers(), patience(15))
    assert {key for key in before if running.parts()[key] != before[key]} == {name}


def test_a_second_start_on_the_same_home_says_who_runs_where(running: Instance) -> None:
    assert running.up is not None
    said = running.fail()
    assert f"pid {running.up.pid}" in said
    assert f"http://127.0.0.1:{running.web_port}" in said
    assert running.serves()


def test_a_backup_can_be_made_and_a_restore_is_refused_while_it_runs(running: Instance, folder: Path) -> None:
    settings = Settings(home=running.home.path)
    manifest = write_backup(settings, folder / "backup.tar.gz", product_version="0.1.0")
    assert {"database.dump", "temporal.db", "secret-key"} <= {member.name for member in manifest.members}
    with pytest.raises(ConflictError, match="already runs"):
        restore_backup(settings, folder / "backup.tar.gz", product_version="0.1.0", force=True)
    assert running.serves()


def test_start_prints_one_block_and_stop_leaves_nothing(instance: Instance) -> None:
    block = instance.start()
    assert f"http://127.0.0.1:{instance.web_port}" in block
    assert "Ctrl-C" in block
    assert instance.home.database_password() not in block
    assert set(instance.parts()) == {"postgres", "temporal", "worker", "web"}
    assert instance.stop() == 0
    assert instance.processes() == []
    assert instance.home.load_endpoints() is None
    assert instance.parts() == {}


def test_servers_that_the_settings_name_are_not_started_here(instance: Instance) -> None:
    block = instance.start(
        PRESSBOX_DATABASE_URL="postgresql://pressbox:planted-secret@db.example.org/pressbox",
        PRESSBOX_TEMPORAL_ADDRESS="temporal.example.org:7233",
    )
    assert set(instance.parts()) == {"worker", "web"}
    assert "PostgreSQL (external) on db.example.org:5432" in block
    assert "planted-secret" not in block + instance.errors.read_text()
    endpoints = instance.home.load_endpoints()
    assert endpoints is not None
    assert endpoints.temporal_address == "temporal.example.org:7233"
    assert instance.stop() == 0


def test_a_second_ctrl_c_stops_without_waiting(instance: Instance) -> None:
    instance.home.create()
    (instance.home.path / "worker-stubborn").touch()
    instance.start()
    assert instance.up is not None
    instance.up.send_signal(signal.SIGINT)
    # Two signals before the first is handled would be one.
    while "Stopping." not in instance.errors.read_text():
        time.sleep(0.1)
    assert instance.up.poll() is None
    instance.up.send_signal(signal.SIGINT)
    instance.up.communicate(timeout=patience(120))
    assert "Stopped without waiting" in instance.errors.read_text()
    assert instance.processes() == []


def test_killed_supervisor_leaves_no_orphan_and_the_next_start_keeps_the_rows(instance: Instance) -> None:
    instance.start()
    endpoints = instance.home.load_endpoints()
    assert endpoints is not None
    assert instance.up is not None
    with psycopg.connect(endpoints.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    instance.up.kill()
    instance.up.communicate()
    instance.start()
    again = instance.home.load_endpoints()
    assert again is not None
    assert (again.database_url, again.temporal_address) == (endpoints.database_url, endpoints.temporal_address)
    with psycopg.connect(again.database_url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert instance.stop() == 0
    assert instance.processes() == []


def test_a_taken_web_port_is_named_with_its_holder_and_the_setting_and_nothing_is_left(instance: Instance) -> None:
    with socket.create_server(("127.0.0.1", instance.web_port)):
        said = instance.fail()
    assert f"Port {instance.web_port} is already taken by" in said
    assert f"pid {os.getpid()}" in said
    assert "PRESSBOX_WEB_PORT=" in said
    assert instance.processes() == []


def test_an_address_that_is_not_ours_is_named_with_its_setting(instance: Instance) -> None:
    assert "PRESSBOX_WEB_HOST" in instance.fail(PRESSBOX_WEB_HOST="192.0.2.1")


def test_a_program_that_cannot_start_ends_everything_with_its_last_words(instance: Instance) -> None:
    instance.home.create()
    (instance.home.path / "worker-broken").touch()
    assert "because the test says so" in instance.fail()
    assert instance.processes() == []


def no_step(_: Endpoints) -> None:
    raise AssertionError("Nothing may start on a full disk.")


def test_a_full_disk_is_said_before_anything_starts(folder: Path) -> None:
    settings = Settings(home=folder / "home")
    steps = Steps(migrate=no_step, prepare=no_step, ready=lambda _: None)
    with pytest.raises(ConfigurationError, match="is full"):
        Supervisor(settings, steps, least_free_bytes=2**62).run()
