"""Retries of soonish's activities: the few tries that people wait for, and patience with parts of our own."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, RetryState
from temporalio.workflow import ActivityCancellationType, ActivityConfig

ResultT = TypeVar("ResultT")

FIRST_PAUSE = timedelta(seconds=5)
LONGEST_PAUSE = timedelta(minutes=5)
# Short: a cancellation travels on the answer to a heartbeat, and the SDK holds heartbeats back for most of this time.
SILENCE = timedelta(seconds=10)

NOTIFICATIONS = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=SILENCE,
    # What is on its way when somebody stops a broadcast is waited for and recorded.
    cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=10), maximum_attempts=3
    ),
)

REMINDERS = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    heartbeat_timeout=SILENCE,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=3
    ),
)

SCHEDULES = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=SILENCE,
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=2), maximum_interval=timedelta(seconds=30), maximum_attempts=2
    ),
)


async def in_rounds(attempt: Callable[[], Awaitable[ResultT]]) -> ResultT:
    """Repeat an activity whose few tries were used up: nobody may be forgotten because a database was away.

    What an activity refuses for good, and a cancellation, end it at once.
    """
    pause = FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except ActivityError as error:
            if error.retry_state is not RetryState.MAXIMUM_ATTEMPTS_REACHED:
                raise
        await workflow.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
