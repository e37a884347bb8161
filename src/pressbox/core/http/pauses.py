"""How long a service asks to wait, from any of the headers in use."""

import math
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

_RESETS = ("x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")
# Larger numbers are points in time, smaller ones seconds from now: services differ under the same name.
_FIRST_EPOCH = 1_000_000_000
# Nobody means more, and a pause that is added to a date must stay a date.
LONGEST = timedelta(days=31)


def pause(headers: httpx.Headers, now: datetime) -> timedelta | None:
    """None when it does not say."""
    value = headers.get("retry-after", "").strip()
    if value:
        seconds = number(value)
        return _limit(_seconds_until(value, now) if seconds is None else seconds)
    for name in _RESETS:
        seconds = number(headers.get(name, ""))
        if seconds is not None:
            return _limit(seconds - now.timestamp() if seconds >= _FIRST_EPOCH else seconds)
    return None


def number(text: str) -> float | None:
    """The finite number that a header states; None for anything else, such as `inf` and `nan`."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def _limit(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=min(max(0.0, seconds), LONGEST.total_seconds()))


def _seconds_until(date: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(date)
        return (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now.timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
