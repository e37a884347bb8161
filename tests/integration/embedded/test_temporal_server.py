"""The embedded Temporal against its real binary: state survives a crash, nobody else reaches it, no orphan."""

import json
import os
import pwd
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from temporalio.client import Client

from pressbox.core.config import TemporalSettings
from pressbox.core.temporal.client import connect, socket_of
from pressbox.embedded import temporal_gate
from pressbox.embedded.home import Home
from pressbox.embedded.http_probe import socket_answers_well
from pressbox.embedded.processes import SystemAccount, reachable
from pressbox.embedded.temporal_server import EmbeddedTemporal, installed_binary
from tests.other_user import as_another_user, needs_reachable_checkout, open_to_others
from tests.patience import patience


@pytest.fixture
def temporal(home: Home) -> Iterator[EmbeddedTemporal]:
    server = EmbeddedTemporal(home)
    server.start()
    yield server
    server.stop()


async def test_workflows_survive_kill_minus_nine_on_the_same_address(temporal: EmbeddedTemporal) -> None:
    address = temporal.address
    client = await client_of(temporal)
    started = await client.start_workflow("NobodyRunsThis", id="kept", task_queue="nobody")
    assert temporal.pid is not None
    os.kill(temporal.pid, signal.SIGKILL)
    temporal.start()
    assert temporal.address == address
    described = await (await client_of(temporal)).get_workflow_handle("kept").describe()
    assert described.run_id == started.result_run_id


def test_a_second_handle_takes_over_the_running_server(temporal: EmbeddedTemporal, home: Home) -> None:
    second = EmbeddedTemporal(home)
    second.start()
    assert (second.pid, second.address) == (temporal.pid, temporal.address)


async def test_a_namespace_of_our_own_is_made(home: Home) -> None:
    server = EmbeddedTemporal(home, namespace="newsroom")
    server.start()
    try:
        client = await connect(TemporalSettings(namespace="newsroom"), server.address, lazy=False)
        assert [run async for run in client.list_workflows()] == []
    finally:
        server.stop()


def test_stopping_leaves_no_record_and_no_answer(home: Home) -> None:
    server = EmbeddedTemporal(home)
    server.start()
    assert server.answers()
    assert server.version[0].isdigit()
    server.stop()
    assert not server.answers()
    assert list(home.run.iterdir()) == []


def test_it_listens_on_no_address_of_this_machine(temporal: EmbeddedTemporal) -> None:
    """Neither the frontend nor the inner services, its metrics or its UI: none of them asks who calls."""
    assert temporal.is_private
    assert listening_ports(temporal) == []


def test_another_user_cannot_list_or_start_workflows(temporal: EmbeddedTemporal) -> None:
    needs_reachable_checkout()

    def list_workflows() -> tuple[int, str]:
        command = [
            str(installed_binary()),
            "workflow",
            "list",
            "--address",
            temporal.address,
            "--command-timeout",
            "5s",
        ]
        environment = {"PATH": os.defpath, "HOME": "/nowhere", "TEMPORAL_VERSION_CHECK_DISABLED": "1"}
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, cwd="/")
        return done.returncode, done.stderr

    def enter() -> str:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(socket_of(temporal.address)))
            except OSError as error:
                return type(error).__name__
            return "connected"

    assert list_workflows()[0] == 0, "we ourselves can"
    code, said = as_another_user(list_workflows)
    assert code == 1, said
    assert as_another_user(enter) == "PermissionError"


def test_its_http_interface_answers_to_no_name_that_a_browser_could_use(temporal: EmbeddedTemporal) -> None:
    door = socket_of(temporal.address)
    assert door
    assert stat.S_IMODE(door.stat().st_mode) & 0o077 == 0
    path = "/api/v1/namespaces/default"
    assert socket_answers_well(door, path, host=temporal_gate.HOST)
    assert not socket_answers_well(door, path, host="rebound.example")


def test_without_a_network_of_its_own_it_runs_without_its_ui_and_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    gate = folder / "gate.py"
    gate.write_text(
        Path(temporal_gate.__file__)
        .read_text()
        .replace('sys.platform != "linux":\n        raise', "True:\n        raise")
    )
    monkeypatch.setattr(temporal_gate, "__file__", str(gate))
    server = EmbeddedTemporal(home)
    server.start()
    try:
        assert not server.is_private
        assert temporal_gate.OPEN_MESSAGE in (home.logs / "temporal.log").read_text()
        door = socket_of(server.address)
        assert door
        assert not socket_answers_well(door, f"{temporal_gate.UI_PATH}/", host=temporal_gate.HOST)
    finally:
        server.stop()


async def test_a_home_with_a_long_path_has_its_socket_elsewhere(folder: Path) -> None:
    home = Home(folder / ("long" * 30))
    home.create()
    server = EmbeddedTemporal(home)
    server.start()
    door = socket_of(server.address)
    assert door
    assert stat.S_IMODE(door.parent.stat().st_mode) == 0o700
    assert (await client_of(server)).namespace == "default"
    server.stop()
    assert not door.parent.exists()


def test_a_killed_gate_takes_the_server_along(temporal: EmbeddedTemporal) -> None:
    assert temporal.pid is not None
    gate = psutil.Process(temporal.pid)
    (server,) = gate.children()
    gate.kill()
    assert psutil.wait_procs([server], timeout=patience(60))[1] == []


NORMAL_USER = """
import json, sys
from pathlib import Path
from pressbox.embedded.home import Home
from pressbox.embedded.temporal_server import EmbeddedTemporal
home = Home(Path(sys.argv[1]))
home.create()
server = EmbeddedTemporal(home)
server.start()
print(json.dumps([server.is_private, server.address]), flush=True)
sys.stdin.read()
server.stop()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to change accounts")
def test_a_normal_user_has_a_private_server_too(folder: Path) -> None:
    """Root makes a network by itself; anybody else inside a user namespace."""
    needs_reachable_checkout()
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    # The interpreter of root's virtualenv may lie below root's private folder.
    interpreter = next(
        path
        for path in (sys.executable, "/usr/bin/python3")
        if reachable(Path(path).resolve(), SystemAccount(nobody.pw_uid, nobody.pw_gid))
    )
    with subprocess.Popen(
        [interpreter, "-c", NORMAL_USER, str(folder / "home")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PATH": str(installed_binary().parent)},
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        cwd=folder,
    ) as owner:
        assert owner.stdin
        assert owner.stdout
        is_private, address = json.loads(owner.stdout.readline())
        assert is_private
        door = socket_of(address)
        assert door
        assert door.stat().st_uid == nobody.pw_uid
        assert open_to_others(folder / "home") == []
        owner.stdin.close()
        assert owner.wait(patience(30)) == 0


async def client_of(server: EmbeddedTemporal) -> Client:
    return await connect(TemporalSettings(), server.address, lazy=False)


def listening_ports(server: EmbeddedTemporal) -> list[int]:
    assert server.pid is not None
    gate = psutil.Process(server.pid)
    held = {target for process in (gate, *gate.children()) for target in _held_by(process.pid)}
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    listening = "0A"
    return [int(row[1].rsplit(":", 1)[1], 16) for row in rows if row[3] == listening and f"socket:[{row[9]}]" in held]


def _held_by(pid: int) -> Iterator[str]:
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # It may have been closed since it was listed.
        with suppress(FileNotFoundError):
            yield os.readlink(link)
