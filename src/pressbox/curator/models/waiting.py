"""When a model or a provider cannot be had now, and when to come back: the same for every feature that needs one."""

from datetime import datetime

from pressbox.core.errors import ConfigurationError, PressboxError, RateLimitedError, TransientError
from pressbox.curator.library.domain.policy import CuratorPolicy
from pressbox.curator.text.bounds import shortened

LONGEST_REASON = 300
# What an activity turns into a result that waits, instead of failing: `except CANNOT_NOW as error`.
# A wrong key is for a person to mend; meanwhile nothing is lost, and the reason is seen.
CANNOT_NOW = (TransientError, ConfigurationError)


def come_back(error: PressboxError, policy: CuratorPolicy, now: datetime) -> tuple[datetime, str]:
    """`retry_at` and `reason` of a result that waits."""
    pause = error.retry_after if isinstance(error, RateLimitedError) else None
    return now + (pause or policy.model_pause), shortened(error.message, LONGEST_REASON)
