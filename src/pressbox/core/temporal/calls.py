"""How workflows call activities.

Timeouts, retries and the queue of an activity stand beside the activity, in `@call_with`; a workflow only says which
activity it calls and what happens when that fails:

    call                 fails when the attempts are used up
    call_until_success   starts the attempts again after a pause: giving up would lose something
    call_best_effort     gives None: the next run finds the same work by state
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar, cast

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    RetryState,
    TimeoutError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)
from temporalio.workflow import ActivityConfig, ChildWorkflowHandle, ParentClosePolicy

from pressbox.core.contracts import Contract
from pressbox.core.progress.interceptor import reason
from pressbox.core.temporal.options import BEST_EFFORT

InputT = TypeVar("InputT", bound=Contract)
ResultT = TypeVar("ResultT")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])
# An activity as a workflow names it: the method of its class.
Method = Callable[[Any, InputT], Awaitable[ResultT]]

_ATTRIBUTE = "__call_options__"


@dataclass(frozen=True)
class CallOptions:
    """`queue` gives the task queue from the workflow's own; None means the same queue."""

    config: ActivityConfig
    queue: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Pauses:
    """Between two rounds of attempts: doubled each time, up to the longest."""

    first: timedelta = timedelta(seconds=2)
    longest: timedelta = timedelta(minutes=1)


PAUSES = Pauses()


def call_with(config: ActivityConfig, *, queue: Callable[[str], str] | None = None) -> Callable[[FunctionT], FunctionT]:
    """Declare how an activity is called. Stands below `@activity.defn`."""

    def declare(function: FunctionT) -> FunctionT:
        setattr(function, _ATTRIBUTE, CallOptions(config, queue))
        return function

    return declare


def call_options(activity: Callable[..., Any]) -> CallOptions:
    """What `@call_with` declared."""
    options: CallOptions | None = getattr(activity, _ATTRIBUTE, None)
    if options is None:
        raise LookupError(f"{activity.__qualname__} has no @call_with: nobody says how long it may take.")
    return options


def activity_methods(*holders: object) -> list[Callable[..., Any]]:
    """The activities of these objects, for a worker: every method that `@call_with` declares."""
    return [
        getattr(holder, name)
        for holder in holders
        for name, member in vars(type(holder)).items()
        if hasattr(member, _ATTRIBUTE)
    ]


async def call(method: "Method[InputT, ResultT]", input: InputT, config: ActivityConfig | None = None) -> ResultT:
    """Call an activity with its own options, or with others where somebody waits for this one call."""
    return await _call(method, input, config or call_options(method).config)


async def call_locally(method: Callable[[Any], Awaitable[ResultT]]) -> ResultT:
    """Call an activity without input inside the workflow task: for a moment's work, such as reading settings."""
    timeout = call_options(method).config["start_to_close_timeout"]
    # The SDK's own type of a method without input does not accept a plain Callable.
    result: ResultT = await workflow.execute_local_activity_method(cast(Any, method), start_to_close_timeout=timeout)
    return result


async def call_until_success(
    method: "Method[InputT, ResultT]", input: InputT, *, rounds: int | None = None, pauses: Pauses = PAUSES
) -> ResultT:
    """Start the attempts again when they are used up, at most `rounds` times.

    A permanent error or a cancellation ends it at once.
    """
    pause, round = pauses.first, 1
    while True:
        try:
            return await call(method, input)
        except ActivityError as error:
            if error.retry_state is not RetryState.MAXIMUM_ATTEMPTS_REACHED or round == rounds:
                raise
        await workflow.sleep(pause)
        pause, round = min(pause * 2, pauses.longest), round + 1


async def call_best_effort(method: "Method[InputT, ResultT]", input: InputT) -> ResultT | None:
    """Give up soon and return None: only for work that the next run finds again by state."""
    try:
        return await _call(method, input, BEST_EFFORT)
    except ActivityError as error:
        if is_cancelled_exception(error):
            raise
        workflow.logger.warning("%s is left for the next run: %s", method.__name__, failure_reason(error))
        return None


async def start_detached(
    kind: type | str, input: Contract, workflow_id: str, result_type: type[Contract] | None = None
) -> ChildWorkflowHandle[Any, Any] | None:
    """Start a child that outlives its parent, by its class or name. None when its id is already running."""
    try:
        return await workflow.start_child_workflow(
            kind if isinstance(kind, str) else kind.__name__,
            input,
            id=workflow_id,
            result_type=result_type,
            parent_close_policy=ParentClosePolicy.ABANDON,
        )
    except WorkflowAlreadyStartedError:
        workflow.logger.info("%s is already running", workflow_id)
        return None


async def finish_despite_cancellation(ending: Coroutine[Any, Any, None]) -> None:
    """Run `ending` to its end; a cancellation that arrives meanwhile is raised afterwards."""
    task = asyncio.create_task(ending)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        if workflow.cancellation_reason() is not None:
            await task
        raise


def is_evicted(error: BaseException) -> bool:
    """True when the worker drops the workflow from its cache: tasks are cancelled, but the workflow is not."""
    return isinstance(error, asyncio.CancelledError) and workflow.cancellation_reason() is None


def timed_out(error: ActivityError) -> bool:
    """True when the worker died or hung in every attempt: most likely this input does it."""
    return isinstance(error.cause, TimeoutError)


def failure_reason(error: BaseException) -> str:
    return "it was cancelled" if is_cancelled_exception(error) else reason(error)


async def _call(method: "Method[InputT, ResultT]", input: InputT, config: ActivityConfig) -> ResultT:
    options = ActivityConfig(**config)
    if "task_queue" not in options and (queue := call_options(method).queue):
        options["task_queue"] = queue(workflow.info().task_queue)
    result: ResultT = await workflow.execute_activity_method(method, input, **options)
    return result
