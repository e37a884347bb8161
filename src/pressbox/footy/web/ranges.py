"""Range requests of HTTP (RFC 9110, section 14): one range, or the whole file. Pure."""

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"\s*+bytes\s*+=\s*+(\d*+)\s*+-\s*+(\d*+)\s*+", re.IGNORECASE)
# No file is larger than this many digits.
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Span:
    """The bytes from `start` up to, but not including, `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.end - 1}/{size}"


class UnsatisfiableRange(Exception):
    """The range begins after the last byte."""


def parse_range(header: str | None, size: int) -> Span | None:
    """The requested range, or None for the whole file.

    An invalid header is ignored, as is one with several ranges: players do not send those, and the standard lets a
    server answer with the whole file.
    """
    match = _ONE_RANGE.fullmatch(header or "")
    if match is None or match.group(1, 2) == ("", "") or max(map(len, match.groups())) > _MOST_DIGITS:
        return None
    first, last = match.groups()
    if not first:
        return _last_bytes(int(last), size)
    start, end = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return None
    if start >= size:
        raise UnsatisfiableRange
    return Span(start, end)


def _last_bytes(count: int, size: int) -> Span:
    if not count or not size:
        raise UnsatisfiableRange
    return Span(max(0, size - count), size)


def matches_if_range(if_range: str | None, etag: str) -> bool:
    """Whether a range of this version may be sent. Dates and weak tags do not guarantee the same bytes."""
    return if_range is None or if_range.strip() == etag


def is_cached(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags
