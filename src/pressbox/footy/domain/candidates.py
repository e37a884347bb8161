"""Candidates: clips that a search found, and what became of each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pressbox.footy.domain.policy import FootyPolicy

# Sources round what they declare.
_DECLARED_SLACK = 1.0


class CandidateOutcome(StrEnum):
    """What became of a candidate. Everything but FOUND, CHOSEN and READY is final."""

    FOUND = "found"
    CHOSEN = "chosen"  # by a download
    READY = "ready"  # validated, waiting for the upload
    NOT_CHOSEN = "not chosen"  # longer clips were chosen
    DOWNLOAD_FAILED = "download failed"
    REFUSED_ADDRESS = "refused address"
    TOO_LARGE = "too large"
    NOT_A_VIDEO = "not a video"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    WRONG_SHAPE = "wrong shape"
    NOT_FOOTBALL = "not football"
    FILMED_SCREEN = "filmed from a screen"
    WRONG_MINUTE = "wrong minute"
    SAME_FILE = "same file"  # merged by MD5
    DUPLICATE = "duplicate"  # the stored copy is better
    REPLACED = "replaced a worse copy"
    STORED = "stored"
    GOAL_GONE = "goal gone"

    @property
    def final(self) -> bool:
        return self not in (CandidateOutcome.FOUND, CandidateOutcome.CHOSEN, CandidateOutcome.READY)


@dataclass(frozen=True)
class FoundVideo:
    """A clip as a source found it. `media_url` is set when the file can be downloaded without its page."""

    source: str
    video_page_url: str
    post_url: str = ""
    post_text: str = ""
    media_url: str | None = None
    duration_seconds: float | None = None
    posted_at: datetime | None = None


@dataclass(frozen=True)
class Probe:
    """What a file really holds, measured by reading it: its header is not trusted."""

    duration_seconds: float
    width: int
    height: int
    bitrate: int
    file_size: int
    codec: str = ""
    has_audio: bool = False

    @property
    def aspect(self) -> float:
        return self.width / self.height if self.height else 0.0


def longest_first(
    videos: Sequence[FoundVideo], limit: int, policy: FootyPolicy | None = None
) -> tuple[FoundVideo, ...]:
    """The longest videos; those of unknown length come last, in the order found.

    With a policy, videos whose declared length can be no clip of a goal come after all others.
    """

    def order(video: FoundVideo) -> tuple[bool, float]:
        return policy is not None and find_declared_flaw(video, policy) is not None, -(video.duration_seconds or 0.0)

    return tuple(sorted(videos, key=order)[:limit])


def find_declared_flaw(video: FoundVideo, policy: FootyPolicy) -> tuple[CandidateOutcome, str] | None:
    """Say why a video need not be downloaded, from the length that its source declares; None for an unknown one."""
    declared = video.duration_seconds
    if not declared:
        return None
    if declared > policy.longest + _DECLARED_SLACK:
        return CandidateOutcome.TOO_LONG, f"{declared:.1f} s by its source, at most {policy.longest:g}"
    if declared < policy.shortest - _DECLARED_SLACK:
        return CandidateOutcome.TOO_SHORT, f"{declared:.1f} s by its source, at least {policy.shortest:g}"
    return None


def find_flaw(probe: Probe, policy: FootyPolicy) -> tuple[CandidateOutcome, str] | None:
    """Say why a file cannot be a clip of a goal, or None."""
    if probe.width < 2 or probe.height < 2:
        return CandidateOutcome.NOT_A_VIDEO, f"{probe.width}×{probe.height} pixels"
    if probe.duration_seconds < policy.shortest:
        return CandidateOutcome.TOO_SHORT, f"{probe.duration_seconds:.1f} s, at least {policy.shortest:g}"
    if probe.duration_seconds > policy.longest:
        return CandidateOutcome.TOO_LONG, f"{probe.duration_seconds:.1f} s, at most {policy.longest:g}"
    if probe.aspect < policy.narrowest:
        return CandidateOutcome.WRONG_SHAPE, f"{probe.width}×{probe.height}, aspect at least {policy.narrowest:g}"
    return None
