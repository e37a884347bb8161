"""Watching one part: when it died or went silent, start it again, each time a little later."""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from pressbox.core.errors import PressboxError
from pressbox.core.logs import get_logger
from pressbox.embedded.part import Part

CHECK_EVERY = timedelta(seconds=5)
# One slow answer on a busy machine is no reason to restart.
SILENT_CHECKS = 3
STEADY_AFTER = timedelta(seconds=10)
FIRST_GRACE = timedelta(seconds=45)
LONGEST_GRACE = timedelta(minutes=6)
# One that is busy for so long does not come up any more, whatever it works on.
LONGEST_START = timedelta(minutes=15)
# In the time between two checks, on a busy machine; one that only waits uses less.
WORK_SECONDS = 0.05
FIRST_DELAY = timedelta(milliseconds=200)
LONGEST_DELAY = timedelta(seconds=30)

log = get_logger(__name__)


def delay_before(restart: int) -> timedelta:
    """At once for the first, then doubling, then every half minute."""
    if restart <= 1:
        return timedelta(0)
    doublings = min(restart - 1, 12)
    return min(FIRST_DELAY * float(2**doublings), LONGEST_DELAY)


def start_grace(failed_starts: int) -> timedelta:
    """How long a silent start is not judged: twice as long after each one that never answered."""
    return min(FIRST_GRACE * float(2 ** min(failed_starts, 12)), LONGEST_GRACE)


def may_be_starting(age: timedelta, failed_starts: int, worked_seconds: float) -> bool:
    """Whether silence since the start is no fault yet. `worked_seconds` of a processor went into the last interval."""
    if age < start_grace(failed_starts):
        return True
    return worked_seconds >= WORK_SECONDS and age < LONGEST_START


class Start:
    """A start of a part that has not answered yet. Ask it once per check: it looks at the work since the last time."""

    def __init__(self, part: Part, failed_starts: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._part = part
        self._failed_starts = failed_starts
        self._clock = clock
        self._began = clock()
        self._worked = 0.0

    def goes_on(self) -> bool:
        worked = self._part.process.processor_seconds() if self._part.process else 0.0
        before, self._worked = self._worked, worked
        return may_be_starting(timedelta(seconds=self._clock() - self._began), self._failed_starts, worked - before)


class Watch:
    """The state of one watched part. `tick` is called often and returns quickly when all is well."""

    def __init__(
        self,
        part: Part,
        *,
        needs: Sequence["Watch"] = (),
        restarted: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.part = part
        self.restarts = 0
        self._needs = needs
        self._restarted = restarted
        self._clock = clock
        self._started_at = clock()
        self._checked_at = clock()
        # None once it has answered, as everything has when watching begins.
        self._start: Start | None = None
        self._silent = 0
        self._failures = 0
        self._failed_starts = 0
        self._retry_at: float | None = None

    def steady(self) -> bool:
        """Well for a while, so that parts which need it have no excuse."""
        return (
            self._retry_at is None
            and self._silent == 0
            and self._clock() - self._started_at >= STEADY_AFTER.total_seconds()
        )

    def tick(self) -> None:
        now = self._clock()
        if self._retry_at is not None:
            if now >= self._retry_at:
                self._restart()
            return
        process = self.part.process
        if process is None or not process.alive():
            code = process.exit_code if process else None
            self._note_loss(f"ended{'' if code is None else f' with exit code {code}'}")
        elif now - self._checked_at >= CHECK_EVERY.total_seconds():
            self._check(now)

    def _check(self, now: float) -> None:
        self._checked_at = now
        if self.part.answers():
            self._start, self._silent, self._failed_starts = None, 0, 0
            if now - self._started_at >= LONGEST_DELAY.total_seconds():
                self._failures = 0
            return
        if self._start and self._start.goes_on():
            self._silent = 0
            return
        # A worker that cannot reach Temporal is not well, but restarting it would not help.
        if not all(need.steady() for need in self._needs):
            return
        self._silent += 1
        if self._silent >= SILENT_CHECKS:
            self._note_loss("does not answer any more")

    def _note_loss(self, what: str) -> None:
        self._failures += 1
        self._failed_starts += self._start is not None
        delay = delay_before(self._failures)
        self._retry_at = self._clock() + delay.total_seconds()
        log.warning("part_lost", msg=f"{self.part.name} {what}; it is started again", part=self.part.name)

    def _restart(self) -> None:
        try:
            self.part.stop()
            self.part.start()
        except PressboxError as error:
            self._failures += 1
            delay = delay_before(self._failures)
            self._retry_at = self._clock() + delay.total_seconds()
            log.error("part_not_restarted", msg=error.message, part=self.part.name, again_in=delay.total_seconds())
            return
        self.restarts += 1
        self._retry_at, self._silent = None, 0
        self._start = Start(self.part, self._failed_starts, self._clock)
        self._started_at = self._checked_at = self._clock()
        log.info("part_restarted", msg=f"{self.part.name} runs again", part=self.part.name, restarts=self.restarts)
        self._restarted()
