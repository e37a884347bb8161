"""What happens while a model or a provider is unavailable: the activity says when to come back, the workflow waits.

An activity returns a result with `retry_at` and `reason` instead of failing:

    except UNAVAILABLE as error:
        retry_at, reason = retry_later(error, policy, now)

Its workflow calls it with `call_until_available`, or waits by itself with `sleep_until`. Timers are visible in the
history, and waiting never gives up.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import workflow

from pressbox.core.contracts import Contract
from pressbox.core.errors import (
    AnswerLostError,
    ConfigurationError,
    PressboxError,
    RateLimitedError,
    TransientError,
)
from pressbox.core.temporal.calls import Method, call
from pressbox.curator.library.contracts import DeferrableResult
from pressbox.curator.library.domain import CuratorPolicy
from pressbox.curator.text.plain_text import shorten

InputT = TypeVar("InputT", bound=Contract)
WaitsT = TypeVar("WaitsT", bound=DeferrableResult)

# A wrong key is among them: a person has to correct it, and until then nothing is lost and the reason is shown.
UNAVAILABLE = (TransientError, ConfigurationError)
LONGEST_REASON = 300
SHORTEST_WAIT = timedelta(seconds=1)
# The pause doubles with each try whose answer was lost, up to this many times the usual one.
LONGEST_PAUSE_FACTOR = 30
# The step that the progress shows meanwhile.
WAITING = "waiting"


def retry_later(error: PressboxError, policy: CuratorPolicy, now: datetime) -> tuple[datetime, str]:
    """Return `retry_at` and `reason` for the result of an activity."""
    pause = policy.model_pause
    if isinstance(error, RateLimitedError):
        pause = error.retry_after or pause
    if isinstance(error, AnswerLostError):
        pause *= min(2 ** (error.tries - 1), LONGEST_PAUSE_FACTOR)
    return now + pause, shorten(error.message, LONGEST_REASON)


async def call_until_available(
    method: "Method[InputT, WaitsT]",
    input: InputT,
    show: Callable[..., None],
    *,
    keep_waiting: Callable[[], bool] = lambda: True,
) -> WaitsT:
    """Call the activity until its result has no `retry_at`, or until `keep_waiting` says no."""
    while True:
        result = await call(method, input)
        if result.retry_at is None or not keep_waiting():
            return result
        show(current_step=WAITING, message=result.reason)
        await sleep_until(result.retry_at)


async def sleep_until(retry_at: datetime) -> None:
    await workflow.sleep(max(retry_at - workflow.now(), SHORTEST_WAIT))
