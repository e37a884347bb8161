"""Announces the start and the end of every workflow, so that none is missing on the activity page."""

import asyncio
from collections.abc import Callable
from typing import Any

from temporalio import workflow
from temporalio.exceptions import FailureError, is_cancelled_exception
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)

from pressbox.core.errors import PressboxError
from pressbox.core.progress.contracts import ProgressState, ProgressUpdate
from pressbox.core.progress.report import EXTERN, current_progress, publish


class ProgressInterceptor(Interceptor):
    def __init__(self, offer: Callable[[ProgressUpdate], None]) -> None:
        self._offer = offer

    def workflow_interceptor_class(self, input: WorkflowInterceptorClassInput) -> type[WorkflowInboundInterceptor]:
        input.unsafe_extern_functions[EXTERN] = self._offer
        return _Announcements


class _Announcements(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:
        publish(current_progress(), ProgressState.RUNNING)
        try:
            result = await self.next.execute_workflow(input)
        except workflow.ContinueAsNewError:
            raise
        except asyncio.CancelledError:
            # An eviction from the cache cancels tasks too, but gives no reason: then the workflow goes on elsewhere.
            if workflow.cancellation_reason() is not None:
                publish(current_progress(), ProgressState.CANCELLED)
            raise
        except (FailureError, PressboxError) as error:
            cancelled = is_cancelled_exception(error)
            state = ProgressState.CANCELLED if cancelled else ProgressState.FAILED
            publish(current_progress(), state, "" if cancelled else reason(error))
            raise
        # Any other exception fails the workflow task and Temporal tries it again: still running, and people see why.
        except Exception as error:
            publish(current_progress(), ProgressState.RUNNING, f"Its code fails and is tried again: {reason(error)}")
            raise
        publish(current_progress(), ProgressState.COMPLETED)
        return result


def reason(error: BaseException) -> str:
    """The innermost cause in one line: "Activity task failed" helps nobody."""
    while isinstance(error, FailureError) and error.cause is not None:
        error = error.cause
    text = (error.message if isinstance(error, FailureError) else str(error)).strip()
    return text.splitlines()[0] if text else type(error).__name__
