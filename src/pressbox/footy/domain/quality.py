"""Which of two copies of a scene is the better one, and in which order clips are shown. Pure."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Copy(Protocol):
    @property
    def duration_seconds(self) -> float: ...

    @property
    def file_size(self) -> int: ...


class Ranked(Protocol):
    @property
    def timestamp_verified(self) -> bool: ...

    @property
    def popularity(self) -> int: ...

    @property
    def file_size(self) -> int: ...


RankedT = TypeVar("RankedT", bound=Ranked)


def better(new: Copy, kept: Copy, same_duration: float) -> bool:
    """Durations within the share `same_duration`: the larger file; otherwise the one that shows more."""
    longer = max(new.duration_seconds, kept.duration_seconds)
    if abs(new.duration_seconds - kept.duration_seconds) <= same_duration * longer:
        return new.file_size > kept.file_size
    return new.duration_seconds > kept.duration_seconds


def ranked(clips: Iterable[RankedT]) -> list[RankedT]:
    """Best first: verified, then found most often, then the largest file."""
    return sorted(clips, key=lambda clip: (not clip.timestamp_verified, -clip.popularity, -clip.file_size))
