"""Named presets for activity options. An activity declares one by `@call_with`; inner limits are always shorter.

QUICK        one or a few statements, or a call to a part of ours.
NETWORK      one exchange with somebody else's server.
LONG         minutes; the activity heartbeats.
BOUNDED      as LONG, with few attempts: for what one page or one text can break, since it may kill the worker.
PAGES        as LONG, for activities that `try_later`: their waits are attempts too, so the pause must not grow.
BEST_EFFORT  used by `call_best_effort`: a part that is broken or has no worker delays nobody.
"""

from datetime import timedelta

from temporalio.common import RetryPolicy
from temporalio.workflow import ActivityConfig

# No limit on attempts: while the database restarts, work waits. A permanent error ends the tries by itself.
QUICK = ActivityConfig(
    start_to_close_timeout=timedelta(seconds=20),
    retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=500), maximum_interval=timedelta(seconds=10)),
)

NETWORK = ActivityConfig(
    start_to_close_timeout=timedelta(seconds=60),
    schedule_to_close_timeout=timedelta(minutes=10),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=5
    ),
)

LONG = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1)),
)

PAGES = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=30),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=5)),
)

BOUNDED = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1), maximum_attempts=8
    ),
)

BEST_EFFORT = ActivityConfig(
    start_to_close_timeout=timedelta(minutes=5),
    schedule_to_close_timeout=timedelta(minutes=15),
    heartbeat_timeout=timedelta(seconds=30),
    retry_policy=RetryPolicy(
        initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30), maximum_attempts=4
    ),
)
