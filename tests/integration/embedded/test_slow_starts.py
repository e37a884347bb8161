"""The watch over a real process: one that works on its start is left alone, one that is frozen is not."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pressbox.embedded.processes import ManagedProcess, start_process, wait_until
from pressbox.embedded.watch import CHECK_EVERY, LONGEST_GRACE, SILENT_CHECKS, WORK_SECONDS, Watch

BUSY = "while True: pass"
PATIENCE = 30.0


class SlowPart:
    """Works on its start for ever."""

    name = "web"

    def __init__(self, log: Path) -> None:
        self.process: ManagedProcess | None = None
        self.starts = 0
        self._log = log

    def start(self) -> None:
        self.starts += 1
        self.process = start_process((sys.executable, "-c", BUSY), log=self._log)

    def stop(self) -> None:
        if self.process:
            self.process.stop(((signal.SIGKILL, PATIENCE),))

    def answers(self) -> bool:
        return False


@pytest.fixture
def part(tmp_path: Path) -> Iterator[SlowPart]:
    part = SlowPart(tmp_path / "web.log")
    part.start()
    yield part
    part.stop()


def working(part: SlowPart) -> ManagedProcess:
    assert part.process is not None
    return part.process


def test_a_slow_start_is_left_alone_while_it_works_and_ended_when_it_is_frozen(part: SlowPart) -> None:
    now = 0.0
    watch = Watch(part, clock=lambda: now)
    working(part).stop(((signal.SIGKILL, PATIENCE),))
    watch.tick()
    watch.tick()
    assert part.starts == 2

    now += LONGEST_GRACE.total_seconds()
    for _ in range(2 * SILENT_CHECKS):
        before = working(part).processor_seconds()
        assert wait_until(lambda: working(part).processor_seconds() - before > 2 * WORK_SECONDS, PATIENCE)  # noqa: B023
        now += CHECK_EVERY.total_seconds()
        watch.tick()
    assert part.starts == 2

    frozen = psutil.Process(working(part).pid)
    frozen.suspend()
    assert wait_until(lambda: frozen.status() == psutil.STATUS_STOPPED, PATIENCE)
    # What it did between the last check and its end counts for the first.
    for _ in range(SILENT_CHECKS + 2):
        now += CHECK_EVERY.total_seconds()
        watch.tick()
    assert part.starts == 3


def test_the_work_of_children_counts(tmp_path: Path) -> None:
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
    parent = start_process((sys.executable, "-c", program), log=tmp_path / "log")
    try:
        own = psutil.Process(parent.pid)
        assert wait_until(lambda: parent.processor_seconds() > sum(own.cpu_times()[:2]) + 0.2, PATIENCE)
    finally:
        for child in own.children(recursive=True):
            child.kill()
        parent.stop(())
