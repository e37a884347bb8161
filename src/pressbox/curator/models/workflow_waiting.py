"""Workflows that need a model or a provider wait for it by a timer: visible, and without an end to their patience."""

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from temporalio import workflow

from pressbox.core.contracts import Contract
from pressbox.core.temporal.calls import Method, call
from pressbox.curator.library.contracts import Waits

InputT = TypeVar("InputT", bound=Contract)
WaitsT = TypeVar("WaitsT", bound=Waits)
SHORTEST = timedelta(seconds=1)
WAITING = "waiting"


def always() -> bool:
    return True


async def patiently(
    method: "Method[InputT, WaitsT]",
    input: InputT,
    show: Callable[..., None],
    *,
    more: Callable[[], bool] = lambda: True,
) -> WaitsT:
    """The activity again and again until its result does not wait any more, or nobody wants `more`."""
    while True:
        result = await call(method, input)
        if result.retry_at is None or not more():
            return result
        show(current_step=WAITING, message=result.reason)
        await workflow.sleep(max(result.retry_at - workflow.now(), SHORTEST))
