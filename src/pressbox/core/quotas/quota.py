"""How much one person may have or do: declared by the core and by manifests, enforced where the thing is made."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from pressbox.core.errors import ConfigurationError, ForbiddenError, NotFoundError, RateLimitedError

# Of a person, how many there are now.
CountOf = Callable[[AsyncSession, int], Awaitable[int]]

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

# More is no limit any more.
LARGEST_LIMIT = 1_000_000_000


@dataclass(frozen=True)
class Quota:
    """A limit per person: with `window` on what is done in that time, with `count` on what there is.

    What is kept in memory is counted by the process that keeps it, and not shown.
    """

    key: str
    title: str
    default: int
    window: timedelta | None = None
    count: CountOf | None = None
    in_memory: bool = False


@dataclass(frozen=True)
class QuotaUse:
    """A quota as its person sees it. `granted` when an administrator gave this person a limit of their own."""

    key: str
    title: str
    used: int | None
    most: int
    window: timedelta | None
    granted: bool

    @property
    def is_near(self) -> bool:
        """Whether more than half of it is used."""
        return self.used is not None and self.used * 2 > self.most

    @property
    def is_reached(self) -> bool:
        return self.used is not None and self.used >= self.most


class QuotaExceededError(ForbiddenError):
    """As many as one person may have. Waiting does not help; removing some, or an administrator, does."""

    code = "quota_exceeded"


class QuotaSpentError(RateLimitedError):
    """As much as one person may do in the time that is not over yet."""

    code = "quota_exceeded"


def exceeded(quota: Quota, most: int) -> QuotaExceededError:
    return QuotaExceededError(
        f"{quota.title}: {most:,} is the most one person may have. Remove some, or ask an administrator for more.",
        quota=quota.key,
        most=most,
    )


def spent(quota: Quota, most: int, rest: timedelta) -> QuotaSpentError:
    return QuotaSpentError(
        f"{quota.title}: {most:,} is the most one person may do {_per(quota.window or DAY)}. "
        f"Try again in {_wait(rest)}, or ask an administrator for more.",
        retry_after=rest,
        quota=quota.key,
        most=most,
    )


def find_quota(quotas: Sequence[Quota], key: str) -> Quota:
    for quota in quotas:
        if quota.key == key:
            return quota
    raise NotFoundError(f"There is no quota {key!r}. Known: {', '.join(quota.key for quota in quotas)}.")


def check_limits(limits: Mapping[str, int], quotas: Sequence[Quota]) -> None:
    """Refuse limits in the settings for things that do not exist: most likely a typing error."""
    known = {quota.key for quota in quotas}
    unknown = sorted(set(limits) - known)
    if unknown:
        raise ConfigurationError(
            f"PRESSBOX_QUOTAS: there is no quota {', '.join(unknown)}. Known: {', '.join(sorted(known))}."
        )


def _per(window: timedelta) -> str:
    return {MINUTE: "in a minute", HOUR: "in an hour", DAY: "in a day"}.get(window, f"in {window}")


def _wait(rest: timedelta) -> str:
    seconds = max(1, round(rest.total_seconds()))
    if seconds < 90:
        return f"{seconds} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{round(seconds / 3600)} hours"
