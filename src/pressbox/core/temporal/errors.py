"""One interceptor that gives every activity failure its place: permanent ones are not retried, no secret leaves.

Temporal matches `non_retryable_error_types` by exact class name and not by ancestor, so the decision cannot be left
to retry policies. Messages become part of the history: they are shorten and redacted here, once.
"""

import asyncio
from typing import Any

from prometheus_client import Counter
from structlog.contextvars import bound_contextvars
from temporalio import activity
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from pressbox.core.errors import PermanentError, RateLimitedError, shorten
from pressbox.core.logs import get_logger, redact

log = get_logger(__name__)

FAILURES = Counter(
    "pressbox_activity_failures_total", "Tries of activities that failed, by the kind of error.", ("activity", "kind")
)


class ErrorInterceptor(Interceptor):
    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        return _ErrorTranslation(next)


class _ErrorTranslation(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        with bound_contextvars(**_fields(input)):
            return await self._execute(input)

    async def _execute(self, input: ExecuteActivityInput) -> Any:
        try:
            return await self.next.execute_activity(input)
        except (asyncio.CancelledError, FailureError):
            raise
        # Whatever else an activity raises ends up in a history: this is the one place that sees all of it.
        except Exception as error:
            info = activity.info()
            FAILURES.labels(info.activity_type, type(error).__name__).inc()
            log.warning(
                "activity_failed",
                msg=str(error),
                attempt=info.attempt,
                error=type(error).__name__,
                exc_info=None if isinstance(error, (PermanentError, RateLimitedError)) else error,
            )
            # Without `from`: the original's own text and traceback could carry what we just blotted out.
            raise translated(error) from None


def _fields(input: ExecuteActivityInput) -> dict[str, object]:
    """What every line that is written during an activity says of it."""
    info = activity.info()
    person = getattr(input.args[0], "user_id", None) if input.args else None
    found = {
        "activity": info.activity_type,
        "workflow_id": info.workflow_id,
        "run_id": info.workflow_run_id,
        "person_id": person,
    }
    return {name: value for name, value in found.items() if value is not None}


def translated(error: Exception) -> ApplicationError:
    """The same failure as Temporal keeps it."""
    return ApplicationError(
        redact(shorten(str(error))) or type(error).__name__,
        type=type(error).__name__,
        non_retryable=isinstance(error, PermanentError),
        next_retry_delay=error.retry_after if isinstance(error, RateLimitedError) else None,
    )
