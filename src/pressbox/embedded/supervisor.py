"""The engine of `pressbox up`: starts all parts on one home, watches them, and stops them in order."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType

from pressbox.core.config import Settings
from pressbox.core.environment import child_environment
from pressbox.core.errors import ConfigurationError, PermanentError
from pressbox.core.logs import get_logger, redact
from pressbox.embedded import ports
from pressbox.embedded.home import Endpoints, Home
from pressbox.embedded.instance_lock import InstanceLock, LockHolder
from pressbox.embedded.leftovers import PartRecord, PartRecords, forget_parts, save_parts, stop_leftovers
from pressbox.embedded.log_follower import LogFollower
from pressbox.embedded.log_rotation import LogRotation
from pressbox.embedded.part import Part, Program, ProgramSettings
from pressbox.embedded.postgres import EmbeddedPostgres
from pressbox.embedded.processes import log_tail
from pressbox.embedded.swap import undo_interrupted
from pressbox.embedded.temporal_gate import UI_PATH
from pressbox.embedded.temporal_server import NOT_PRIVATE, EmbeddedTemporal
from pressbox.embedded.watch import CHECK_EVERY, Start, Watch

LEAST_FREE_BYTES = 200_000_000
PROGRAM_START_SECONDS = 60.0
_TICK_SECONDS = 0.2
_STOP_ORDER = ("web", "worker", "temporal", "postgres")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

log = get_logger(__name__)


class ForcedStop(Exception):
    """A person asked a second time: end everything now."""


@dataclass(frozen=True)
class Steps:
    """What `up` does between the servers and the programs; given from above, since this layer knows no application."""

    migrate: Callable[[Endpoints], None]
    prepare: Callable[[Endpoints], None]
    ready: Callable[["Running"], None]


@dataclass(frozen=True)
class ProgramCommands:
    """How to start our own processes; the supervisor adds what only it knows, such as the worker's health port."""

    worker: tuple[str, ...] = (sys.executable, "-m", "pressbox", "worker")
    web: tuple[str, ...] = (sys.executable, "-m", "pressbox", "web")


@dataclass(frozen=True)
class Running:
    """Told to `ready` once everything answers."""

    endpoints: Endpoints
    home: Home
    pids: Mapping[str, int]
    versions: Mapping[str, str]
    seconds: float


class Supervisor:
    """One instance, from start to stop. `run` blocks in the main thread, to which its children are bound."""

    def __init__(
        self,
        settings: Settings,
        steps: Steps,
        commands: ProgramCommands | None = None,
        *,
        follower: LogFollower | None = None,
        least_free_bytes: int = LEAST_FREE_BYTES,
    ) -> None:
        self.home = Home(settings.home)
        self._settings = settings
        self._steps = steps
        self._follower = follower
        self._commands = commands or ProgramCommands()
        self._least_free_bytes = least_free_bytes
        # A plain flag: the handler runs in the thread that waits, and would wait for an Event's lock for ever.
        self._asked_to_stop = False
        self._started: list[Part] = []
        self._postgres = EmbeddedPostgres(self.home, settings.database.port) if not settings.database.url else None
        self._temporal = (
            EmbeddedTemporal(self.home, settings.temporal.namespace) if not settings.temporal.address else None
        )
        self._worker_health_port = 0

    def run(self) -> None:
        """Serve until a signal asks to stop. Raises a PressboxError when it cannot start; then nothing is left."""
        began = time.monotonic()
        self.home.create()
        self._check_space()
        # Under nohup, the end of the terminal is to be ignored.
        heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        handlers = {number: signal.signal(number, self._on_signal) for number in heeded}
        try:
            with InstanceLock(self.home) as lock:
                self._serve(lock, began)
        except ForcedStop:
            log.warning("stop_forced", msg="Stopped without waiting")
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _serve(self, lock: InstanceLock, began: float) -> None:
        try:
            self._start(lock, began)
            self._watch()
            self._stop_all()
        except ForcedStop:
            self._kill_all()
            raise
        # Whatever went wrong, nothing may be left running.
        except BaseException:
            self._stop_all()
            raise
        finally:
            self.home.forget_endpoints()
            forget_parts(self.home)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if self._asked_to_stop and number == signal.SIGINT:
            raise ForcedStop
        self._asked_to_stop = True

    def _check_space(self) -> None:
        free = shutil.disk_usage(self.home.path).free
        if free < self._least_free_bytes:
            raise ConfigurationError(
                f"The disk of the home folder {self.home.path} is full: {free // 1_000_000} MB are left and at least "
                f"{self._least_free_bytes // 1_000_000} MB are needed. Free some space, or set PRESSBOX_HOME to a "
                "folder on another disk."
            )

    def _start(self, lock: InstanceLock, began: float) -> None:
        stop_leftovers(self.home, frozenset({"worker", "web"}))
        undo_interrupted(self.home.path)
        self._check_web_port()
        redact.add(self.home.secret_key())
        # Temporal needs a second before it answers; PostgreSQL, migrations and our programs' start use that time.
        if self._temporal:
            self._started.append(self._temporal)
            self._temporal.begin()
        if self._postgres:
            self._started.append(self._postgres)
            self._postgres.start(adopt=False)
        endpoints = self._endpoints()
        self.home.save_endpoints(endpoints)
        self._steps.migrate(endpoints)
        programs = self._programs(endpoints)
        for program in programs:
            self._begin(program)
        endpoints = self._await_temporal()
        self._steps.prepare(endpoints)
        # Asked while our programs start, since Temporal's takes a while to say it.
        versions = {part.name: part.version for part in (self._postgres, self._temporal) if part}
        self._await_programs(programs)
        if self._asked_to_stop:
            return
        lock.describe(LockHolder(pid=os.getpid(), web_url=endpoints.web_url))
        self._steps.ready(self._describe(endpoints, versions, time.monotonic() - began))

    def _await_temporal(self) -> Endpoints:
        if self._temporal:
            self._temporal.start()
            if not self._temporal.is_private:
                log.warning("temporal_exposed", msg=f"{NOT_PRIVATE} `pressbox doctor` says what helps")
            self._publish_endpoints()
        return self._endpoints()

    def _begin(self, part: Part) -> None:
        self._started.append(part)
        part.start()
        self._save_parts()

    def _endpoints(self) -> Endpoints:
        settings = self._settings
        external = settings.database.url.get_secret_value() if settings.database.url else ""
        if not self._worker_health_port:
            self._worker_health_port = self._choose_health_port()
        return Endpoints(
            database_url=self._postgres.url if self._postgres else external,
            temporal_address=self._temporal.address if self._temporal else settings.temporal.address or "",
            temporal_ui_url=settings.temporal.ui_url or (UI_PATH if self._temporal else None),
            web_url=settings.web.public_url or self._local_web_url(),
            worker_health_url=f"http://{ports.LOOPBACK}:{self._worker_health_port}",
        )

    def _choose_health_port(self) -> int:
        wanted = self._settings.worker.health_port
        if "health_port" in self._settings.worker.model_fields_set and wanted:
            ports.require_free(wanted, "PRESSBOX_WORKER_HEALTH_PORT", self._settings.worker.health_host)
            return wanted
        port = ports.free_port(self.home.load_ports().worker_health)
        self.home.remember_port("worker_health", port)
        return port

    def _local_web_url(self) -> str:
        web = self._settings.web
        # An address that means "all interfaces" is no address to call.
        host = {"0.0.0.0": ports.LOOPBACK, "::": "::1"}.get(web.host, web.host)  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{web.port}"

    def _check_web_port(self) -> None:
        web = self._settings.web
        ports.require_free(web.port, "PRESSBOX_WEB_PORT", web.host, "PRESSBOX_WEB_HOST")

    def _programs(self, endpoints: Endpoints) -> tuple[Program, ...]:
        environment = child_environment(
            PRESSBOX_HOME=str(self.home.path),
            PRESSBOX_WORKER_HEALTH_PORT=str(self._worker_health_port),
            PRESSBOX_DEMO="1" if self._settings.demo else "0",
            # glibc otherwise keeps an arena per thread, which our thread pools would pay for in idle memory.
            MALLOC_ARENA_MAX="2",
        )
        worker = ProgramSettings(
            name="worker",
            command=self._commands.worker,
            environment=environment,
            # It reaches Temporal, and it polls.
            health_urls=(f"{endpoints.worker_health_url}/health", f"{endpoints.worker_health_url}/ready"),
            stop_seconds=self._settings.worker.graceful_shutdown_seconds + 20,
        )
        web = ProgramSettings(
            name="web",
            command=self._commands.web,
            environment=environment,
            health_urls=(f"{self._local_web_url()}/healthz",),
            stop_seconds=10,
        )
        return Program(self.home, worker), Program(self.home, web)

    def _await_programs(self, programs: Sequence[Program]) -> None:
        began = time.monotonic()
        judged_at = began + PROGRAM_START_SECONDS
        waiting, starts = list(programs), {program.name: Start(program) for program in programs}
        while waiting and not self._asked_to_stop:
            for program in waiting:
                if program.process is None or not program.process.alive():
                    raise _did_not_start(program, "ended at once")
            waiting = [program for program in waiting if not program.answers()]
            now = time.monotonic()
            if waiting and now > judged_at:
                judged_at = now + CHECK_EVERY.total_seconds()
                if not starts[waiting[0].name].goes_on():
                    raise _did_not_start(waiting[0], f"did not answer within {now - began:.0f} s")
            if waiting:
                time.sleep(0.05)

    def _watch(self) -> None:
        servers = [Watch(part, restarted=self._server_restarted) for part in self._started if not is_program(part)]
        programs = [
            Watch(part, needs=servers, restarted=self._save_parts) for part in self._started if is_program(part)
        ]
        limits = self._settings.log
        rotation = LogRotation(self.home.logs, _STOP_ORDER, max_bytes=limits.max_bytes, kept=limits.kept_files)
        while not self._asked_to_stop:
            for watch in (*servers, *programs):
                watch.tick()
            if self._follower:
                self._follower.poll()
            rotation.poll()
            time.sleep(_TICK_SECONDS)

    def _server_restarted(self) -> None:
        self._save_parts()
        self._publish_endpoints()

    def _publish_endpoints(self) -> None:
        """A server whose port was taken meanwhile has another one. Our programs read the addresses when they start."""
        endpoints = self._endpoints()
        if endpoints == self.home.load_endpoints():
            return
        self.home.save_endpoints(endpoints)
        log.warning("endpoints_changed", msg="A server got another port; worker and web are started again")
        for part in self._started:
            if is_program(part):
                part.stop()
                part.start()
        self._save_parts()

    def _in_stop_order(self) -> list[Part]:
        """Nobody may ask a part that is gone."""
        return sorted(self._started, key=lambda part: _STOP_ORDER.index(part.name))

    def _stop_all(self) -> None:
        self._asked_to_stop = True
        log.info("stopping", msg="Stopping. Ctrl-C again stops without waiting")
        for part in self._in_stop_order():
            part.stop()

    def _kill_all(self) -> None:
        for part in self._in_stop_order():
            if part.process:
                # An immediate shutdown of PostgreSQL loses nothing, and unlike SIGKILL takes its children along.
                part.process.stop(((signal.SIGQUIT if part.name == "postgres" else signal.SIGKILL, 5.0),))

    def _save_parts(self) -> None:
        records = tuple(
            PartRecord(name=part.name, process=part.process.record, log=str(self.home.logs / f"{part.name}.log"))
            for part in self._started
            if part.process and part.process.alive()
        )
        save_parts(self.home, PartRecords(parts=records))

    def _describe(self, endpoints: Endpoints, versions: Mapping[str, str], seconds: float) -> Running:
        pids = {part.name: part.process.pid for part in self._started if part.process}
        return Running(endpoints=endpoints, home=self.home, pids=pids, versions=versions, seconds=seconds)


def is_program(part: Part) -> bool:
    return isinstance(part, Program)


def _did_not_start(program: Program, what: str) -> PermanentError:
    tail = redact(log_tail(program.log))
    return PermanentError(f"The {program.name} {what}. Its log {program.log} ends with:\n{tail}")
