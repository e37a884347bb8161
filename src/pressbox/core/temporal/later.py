"""Activities that come back by themselves: they wait on the server, not inside a slot of a worker."""

from datetime import timedelta

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

TRY_LATER = "TryLater"


def try_later(after: timedelta, reason: str) -> ApplicationError:
    """End this attempt; the next one begins `after` a while, with what the last heartbeat said.

    The wait costs neither a slot nor an event: an attempt that is to be retried leaves no trace in the history.
    """
    return ApplicationError(reason, type=TRY_LATER, next_retry_delay=after, category=ApplicationErrorCategory.BENIGN)
