"""What one application may fail with while the others go on, and how people read of it."""

from sqlalchemy.exc import SQLAlchemyError

from pressbox.core.errors import PressboxError

FAILURES = (PressboxError, SQLAlchemyError, TimeoutError)


def say_failure(error: BaseException) -> str:
    """A sentence for people; what is not ours to explain stays in the log."""
    if isinstance(error, PressboxError):
        return error.message
    if isinstance(error, TimeoutError):
        return "It did not answer in time."
    return "Something went wrong here; the log says what."
