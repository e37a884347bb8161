"""Parts of a file as HTTP asks for them (RFC 9110, section 14): one range, or the whole. Pure."""

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.IGNORECASE)
# No file of ours is larger; more digits are not worth a number.
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Span:
    """The bytes from `start` up to but without `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def content_range(self, size: int) -> str:
        return f"bytes {self.start}-{self.end - 1}/{size}"


class UnsatisfiableRange(Exception):
    """The range lies behind the last byte."""


def parse_range(header: str | None, size: int) -> Span | None:
    """What a Range header asks for; None means the whole file.

    A header that is not understood is ignored, as is one with several ranges: no player sends those, and the standard
    lets a server answer with everything.
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
    """Whether a range may be cut from this version. A date or a weak tag cannot promise the same bytes."""
    return if_range is None or if_range.strip() == etag


def is_cached(if_none_match: str | None, etag: str) -> bool:
    if if_none_match is None:
        return False
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in tags or etag in tags
