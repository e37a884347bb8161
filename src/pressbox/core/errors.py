"""Every error that Pressbox raises on purpose.

    PressboxError
    ├── TransientError            worth another try: the other side is slow, busy or away
    │   ├── RateLimitedError      the other side said when to come back
    │   └── AnswerLostError       the response was lost; the request may still be billed
    └── PermanentError            another try changes nothing
        ├── ConfigurationError    a setting is missing or wrong; says which and what to do
        ├── InvalidInputError     what a person or a program sent cannot be used; names the field
        │   └── UnstorableError   the database answers, and cannot hold this value
        ├── NotFoundError         no such thing, or not for you
        ├── UnusableAnswerError   a paid answer is of no use; the same question seldom gets a better one
        ├── GoneError             it was here and will not come back
        ├── ConflictError         true, but not now: something else holds it
        ├── ForbiddenError        you are known, and this is not yours to do
        │   ├── ProofNeededError  it is yours to do, once you have shown again that it is you
        │   └── SecondFactorNeededError  this instance demands a second factor, and you have none yet
        ├── NotSignedInError      nobody is signed in
        └── RefusedAddressError   the outbound guard does not let us go there

An expected outcome ("not modified", "no clip yet") is a value, never one of these.
"""

from collections.abc import Mapping
from datetime import timedelta

MESSAGE_LIMIT = 2000


class PressboxError(Exception):
    """Root of the tree. `code` is stable and machine-readable, `status` is its HTTP answer, `details` carries ids."""

    code = "error"
    status = 500

    def __init__(self, message: str, **details: str | int | None) -> None:
        super().__init__(shorten(message))
        self.details: Mapping[str, str | int | None] = details

    @property
    def message(self) -> str:
        return str(self.args[0])


class TransientError(PressboxError):
    code = "temporarily_unavailable"
    status = 503


class RateLimitedError(TransientError):
    code = "rate_limited"
    status = 429

    def __init__(self, message: str, *, retry_after: timedelta | None = None, **details: str | int | None) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class AnswerLostError(TransientError):
    """`tries` is how often the same was asked in vain: the pause before the next try grows with it."""

    def __init__(self, message: str, *, tries: int = 1, **details: str | int | None) -> None:
        super().__init__(message, **details)
        self.tries = tries


class PermanentError(PressboxError):
    code = "failed"
    status = 500


class ConfigurationError(PermanentError):
    code = "configuration"
    status = 500


class InvalidInputError(PermanentError):
    code = "invalid_input"
    status = 422

    def __init__(self, message: str, *, field: str | None = None, **details: str | int | None) -> None:
        super().__init__(message, **details)
        self.field = field


class UnstorableError(InvalidInputError):
    pass


class NotFoundError(PermanentError):
    code = "not_found"
    status = 404


class UnusableAnswerError(PermanentError):
    code = "unusable_answer"
    status = 502


class GoneError(PermanentError):
    code = "gone"
    status = 410


class ConflictError(PermanentError):
    code = "conflict"
    status = 409


class ForbiddenError(PermanentError):
    code = "forbidden"
    status = 403


class ProofNeededError(ForbiddenError):
    code = "proof_needed"


class SecondFactorNeededError(ForbiddenError):
    code = "second_factor_needed"


class NotSignedInError(PermanentError):
    code = "not_signed_in"
    status = 401


class RefusedAddressError(PermanentError):
    code = "refused_address"
    status = 422


def shorten(message: str, limit: int = MESSAGE_LIMIT) -> str:
    """Limit the length of a message: failures become payloads and pages."""
    return message if len(message) <= limit else message[: limit - 1] + "…"
