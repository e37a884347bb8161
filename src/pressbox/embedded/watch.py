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
START_GRACE = timedelta(seconds=45)
FIRST_DELAY = timedelta(milliseconds=200)
LONGEST_DELAY = timedelta(seconds=30)

log = get_logger(__name__)


def delay_before(restart: int) -> timedelta:
    """At once for the first, then doubling, then every half minute."""
    if restart <= 1:
        return timedelta(0)
    doublings = min(restart - 1, 12)
    return min(FIRST_DELAY * float(2**doublings), LONGEST_DELAY)


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
        # Watching begins once everything answered.
        self._answered = True
        self._silent = 0
        self._failures = 0
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
            self._answered, self._silent = True, 0
            if now - self._started_at >= LONGEST_DELAY.total_seconds():
                self._failures = 0
            return
        starting = not self._answered and now - self._started_at < START_GRACE.total_seconds()
        # A worker that cannot reach Temporal is not well, but restarting it would not help.
        if starting or not all(need.steady() for need in self._needs):
            return
        self._silent += 1
        if self._silent >= SILENT_CHECKS:
            self._note_loss("does not answer any more")

    def _note_loss(self, what: str) -> None:
        self._failures += 1
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
        self._retry_at, self._silent, self._answered = None, 0, False
        self._started_at = self._checked_at = self._clock()
        log.info("part_restarted", msg=f"{self.part.name} runs again", part=self.part.name, restarts=self.restarts)
        self._restarted()
