"""Announces the start and the end of every workflow, so that none is missing on the activity page."""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception
from temporalio.worker import (
    ExecuteWorkflowInput,
    HandleQueryInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from pressbox.core.errors import PressboxError, shorten
from pressbox.core.progress.contracts import Progress, ProgressState, ProgressUpdate
from pressbox.core.progress.report import EXTERN, current_progress, publish


class ProgressInterceptor(Interceptor):
    def __init__(self, offer: Callable[[ProgressUpdate], None]) -> None:
        self._offer = offer

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        input.unsafe_extern_functions[EXTERN] = self._offer
        return _Announcements


class _Announcements(WorkflowInboundInterceptor):
    # How it ended; a workflow that failed cannot say so itself.
    _end: tuple[ProgressState, str] | None = None

    async def handle_query(self, input: HandleQueryInput) -> Any:
        answer = await self.next.handle_query(input)
        if self._end is not None and isinstance(answer, Progress):
            return answer.ended(*self._end)
        return answer

    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        publish(current_progress(), ProgressState.RUNNING)
        try:
            result = await self.next.execute_workflow(input)
        except workflow.ContinueAsNewError:
            raise
        except asyncio.CancelledError:
            # An eviction from the cache cancels tasks too, but gives no reason: then the workflow goes on elsewhere.
            if workflow.cancellation_reason() is not None:
                self._publish_end(ProgressState.CANCELLED)
            raise
        except (FailureError, PressboxError) as error:
            cancelled = is_cancelled_exception(error)
            state = ProgressState.CANCELLED if cancelled else ProgressState.FAILED
            self._publish_end(state, "" if cancelled else reason(error))
            raise
        # Any other exception fails the workflow task and Temporal tries it again: still running, and people see why.
        except Exception as error:
            publish(current_progress(), ProgressState.RUNNING, f"Its code fails and is tried again: {reason(error)}")
            raise
        publish(current_progress(), ProgressState.COMPLETED)
        return result

    def _publish_end(self, state: ProgressState, error: str = "") -> None:
        self._end = (state, shorten(error))
        publish(current_progress().ended(*self._end), state, error)


def reason(error: BaseException) -> str:
    """The innermost cause in one line: "Activity task failed" helps nobody."""
    while isinstance(error, FailureError) and error.cause is not None:
        error = error.cause
    text = (error.message if isinstance(error, FailureError) else str(error)).strip()
    return text.splitlines()[0] if text else type(error).__name__
