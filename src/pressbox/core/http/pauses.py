"""How long a service asks to wait, from any of the headers in use."""

from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx

_RESETS = ("x-rate-limit-reset", "ratelimit-reset", "x-ratelimit-reset")
# Larger numbers are points in time, smaller ones seconds from now: services differ under the same name.
_FIRST_EPOCH = 1_000_000_000


def pause(headers: httpx.Headers, now: datetime) -> timedelta | None:
    """None when it does not say."""
    value = headers.get("retry-after", "").strip()
    if value:
        seconds = number(value)
        if seconds is not None:
            return timedelta(seconds=max(0.0, seconds))
        try:
            return max(timedelta(), parsedate_to_datetime(value) - now)
        except (ValueError, TypeError):
            return None
    for name in _RESETS:
        seconds = number(headers.get(name, ""))
        if seconds is not None:
            from_now = seconds - now.timestamp() if seconds >= _FIRST_EPOCH else seconds
            return timedelta(seconds=max(0.0, from_now))
    return None


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
