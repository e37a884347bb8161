"""How footy's workflows call activities: by the table of limits, with patience, and to the end."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, RetryState, is_cancelled_exception

from pressbox.core.contracts import Contract
from pressbox.core.progress.interceptor import reason
from pressbox.footy.ids import media_queue
from pressbox.footy.workflows.options import LIMITS

InputT = TypeVar("InputT", bound=Contract)
ResultT = TypeVar("ResultT")
# An activity as a workflow names it: the method of its class.
Method = Callable[[Any, InputT], Awaitable[ResultT]]

FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(minutes=1)
# About a quarter of an hour, for what depends on one file: it may be the file that kills the worker.
SOME_ROUNDS = 20


async def act(method: "Method[InputT, ResultT]", input: InputT) -> ResultT:
    """One activity with the limits of its name. What reads videos waits for a worker that can."""
    limits = LIMITS[method.__name__]
    options = limits.options()
    if limits.media:
        options["task_queue"] = media_queue(workflow.info().task_queue)
    result: ResultT = await workflow.execute_activity_method(method, input, **options)
    return result


async def patiently(method: "Method[InputT, ResultT]", input: InputT, rounds: int | None = None) -> ResultT:
    """Repeat an activity whose tries were used up: no clip is lost because a database was away for a minute.

    What an activity refuses for good, and a cancellation, end it at once.
    """
    pause, round = FIRST_PAUSE, 1
    while True:
        try:
            return await act(method, input)
        except ActivityError as error:
            if error.retry_state is not RetryState.MAXIMUM_ATTEMPTS_REACHED or round == rounds:
                raise
        await workflow.sleep(pause)
        pause, round = min(pause * 2, LONGEST_PAUSE), round + 1


async def to_the_end(ending: Coroutine[Any, Any, None]) -> None:
    """See this through, also when a cancellation arrives meanwhile, which is felt afterwards."""
    task = asyncio.create_task(ending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        if workflow.cancellation_reason() is not None:
            await task
        raise


def ended_by_us(error: BaseException) -> bool:
    """An eviction from the cache also cancels tasks, but the workflow goes on elsewhere: nothing is to be ended."""
    return not isinstance(error, asyncio.CancelledError) or workflow.cancellation_reason() is not None


def explained(error: BaseException) -> str:
    return "it was cancelled" if is_cancelled_exception(error) else reason(error)
