"""Child processes that do not outlive us, and recognising processes of an earlier start."""

import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import psutil
from pydantic import BaseModel, ConfigDict

from pressbox.core.processes.parents import end_with_parent

# psutil derives start times from clock ticks and the boot time, which the clock's corrections can move a little.
_SAME_START_SECONDS = 2.0
# What we and our children make is ours alone.
PRIVATE_UMASK = 0o077


@dataclass(frozen=True)
class SystemAccount:
    """The uid and gid that a server runs under when we are root."""

    uid: int
    gid: int


class ProcessRecord(BaseModel):
    """A process in a file: the start time tells it from a stranger that got the same pid later."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    created: float

    @classmethod
    def of(cls, process: psutil.Process) -> "ProcessRecord":
        return cls(pid=process.pid, created=process.create_time())

    def find(self) -> psutil.Process | None:
        """The recorded process, if it still runs."""
        try:
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.created) > _SAME_START_SECONDS:
                return None
            return process if process.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None


class ManagedProcess:
    """A process that we started, or one of an earlier start that we took over."""

    def __init__(self, process: psutil.Process, child: subprocess.Popen[bytes] | None = None) -> None:
        self._process = process
        self._child = child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def record(self) -> ProcessRecord:
        return ProcessRecord.of(self._process)

    @property
    def exit_code(self) -> int | None:
        """Negative for a signal; None while it runs, and when it is not our child."""
        return self._child.poll() if self._child else None

    def alive(self) -> bool:
        if self._child is not None:
            return self._child.poll() is None
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def processor_seconds(self) -> float:
        """What it and its children have worked so far, with what they waited for the disk."""
        worked = 0.0
        with suppress(psutil.NoSuchProcess):
            for process in (self._process, *self._process.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    worked += times.user + times.system + getattr(times, "iowait", 0.0)
        return worked

    def send(self, number: signal.Signals) -> None:
        if self.alive():
            try:
                self._process.send_signal(number)
            except psutil.NoSuchProcess:
                return

    def wait(self, timeout: float) -> bool:
        """True when it has ended."""
        try:
            if self._child is not None:
                self._child.wait(timeout)
            else:
                self._process.wait(timeout)
        except (subprocess.TimeoutExpired, psutil.TimeoutExpired):
            return False
        return True

    def stop(self, steps: Sequence[tuple[signal.Signals, float]]) -> None:
        """Send one signal after another, each with time to obey; the last resort is SIGKILL."""
        for number, patience in steps:
            self.send(number)
            if self.wait(patience):
                return
        self.send(signal.SIGKILL)
        self.wait(10)


def start_process(
    command: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    account: SystemAccount | None = None,
    folder: Path | None = None,
    when_we_die: signal.Signals = signal.SIGTERM,
) -> ManagedProcess:
    """Start a child in a session of its own, so that Ctrl-C reaches only us and we decide the order of stopping.

    Call it from a thread that lives as long as the child may: the kernel sends `when_we_die` at the thread's end.
    """
    with open_log(log) as output:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=None if environment is None else dict(environment),
            start_new_session=True,
            preexec_fn=end_with_parent(when_we_die),
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            umask=PRIVATE_UMASK,
        )
    return ManagedProcess(psutil.Process(child.pid), child)


def run_program(
    command: Sequence[str], *, account: SystemAccount | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and keep what it says."""
    return subprocess.run(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        check=False,
        preexec_fn=end_with_parent(signal.SIGKILL),
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        umask=PRIVATE_UMASK,
    )


def open_log(path: Path) -> BinaryIO:
    """A log file to append to."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "ab")


def log_tail(path: Path, lines: int = 5) -> str:
    """The last lines of a log, for an error message."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4000))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(line for line in text.splitlines()[-lines:] if line.strip())


def reachable(path: Path, account: SystemAccount) -> bool:
    """Can this account pass through every folder above `path`, and read it?"""
    return all(_permits(folder, account, 0o1) for folder in path.resolve().parents) and _permits(path, account, 0o5)


def wait_until(condition: Callable[[], bool], seconds: float, pause: float = 0.03) -> bool:
    """Ask until the answer is yes; False when time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def _permits(path: Path, account: SystemAccount, bits: int) -> bool:
    facts = path.stat()
    mode = stat.S_IMODE(facts.st_mode)
    if facts.st_uid == account.uid:
        mode >>= 6
    elif facts.st_gid == account.gid:
        mode >>= 3
    return mode & bits == bits
