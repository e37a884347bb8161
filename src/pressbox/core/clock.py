"""The clock. Whoever decides by the time takes a `Clock`, so that tests can bring their own."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


def machine_seconds() -> float:
    """Seconds that only rise, the same in all processes of this machine; they also pass while it is suspended."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
