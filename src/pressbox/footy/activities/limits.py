"""Timeouts and retries of footy's activities, for the `@call_with` beside each of them."""

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

HOUR = 3600
# About a quarter of an hour for one file: the file itself may be what kills the worker.
ROUNDS_PER_FILE = 20


def limits(
    seconds: float, *, attempts: int, first_pause: float = 1, factor: float = 2, heartbeat: float | None = None
) -> ActivityConfig:
    """Times are in seconds; `seconds` is the start-to-close timeout.

    Set a heartbeat where more than ten seconds are usual, so that a dead worker is noticed sooner. Attempts follow each
    other quickly; `call_until_success` repeats them where giving up would lose something.
    """
    return ActivityConfig(
        start_to_close_timeout=timedelta(seconds=seconds),
        heartbeat_timeout=timedelta(seconds=heartbeat) if heartbeat else None,
        retry_policy=RetryPolicy(
            initial_interval=timedelta(seconds=first_pause), backoff_coefficient=factor, maximum_attempts=attempts
        ),
    )
