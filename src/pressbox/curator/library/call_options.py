"""Options of the curator's activities that the core has no preset for."""

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

# For what one page or one text can break: the attempts are limited, since it may be this input that kills the worker.
BOUNDED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1), maximum_attempts=8
    ),
)
# For scores: one that cannot be had is no reason to go on for long. The document names these two figures.
JUDGED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=5), maximum_attempts=2),
)
