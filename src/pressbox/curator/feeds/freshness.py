"""What an answer says about when to come back: Cache-Control, Expires, Retry-After."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)
_NEVER_FRESH = re.compile(r"(?:^|[\s,])(?:no-cache|no-store)\b", re.IGNORECASE)
_LONGEST = timedelta(days=366)


def fresh_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Until then the same answer would come again; None when nothing is said."""
    control = headers.get("cache-control", "")
    if _NEVER_FRESH.search(control):
        return None
    found = _MAX_AGE.search(control)
    if found is not None:
        age = _seconds(headers.get("age", "")) or timedelta(0)
        return _later(now, timedelta(seconds=int(found.group(1))) - age)
    expires = _date(headers.get("expires", ""))
    if expires is None:
        return None
    # By their clock, which need not be right.
    return _later(now, expires - (_date(headers.get("date", "")) or now))


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """In seconds or as a date."""
    stated = headers.get("retry-after", "")
    wait = _seconds(stated)
    if wait is not None:
        return _later(now, wait)
    date = _date(stated)
    return None if date is None else _later(now, date - (_date(headers.get("date", "")) or now))


def _later(now: datetime, wait: timedelta) -> datetime | None:
    return now + min(wait, _LONGEST) if wait > timedelta(0) else None


def _seconds(text: str) -> timedelta | None:
    stripped = text.strip()
    return timedelta(seconds=int(stripped[:9])) if stripped.isascii() and stripped.isdigit() else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text.strip())
    except (ValueError, TypeError, OverflowError):
        # "0" and "-1" mean "at once", as anything does that is no date.
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
