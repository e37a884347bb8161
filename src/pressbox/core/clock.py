"""The clock. Whoever decides by the time takes a `Clock`, so that tests can bring their own."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)
