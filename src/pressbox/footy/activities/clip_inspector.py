"""Inspects one clip: has frames judged, and compares its match clock with the minute of the goal."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pressbox.core.errors import PermanentError, PressboxError, UnusableAnswerError
from pressbox.footy.domain.candidates import CandidateOutcome
from pressbox.footy.domain.clock import TimestampCheck, expected_minute, validate_timestamp
from pressbox.footy.domain.judgements import (
    DECIDING_FRAME,
    FIRST_FRAMES,
    Decision,
    FrameJudgement,
    RejectReason,
    judge_clip,
)
from pressbox.footy.ports.outside import Judge, Media

_OUTCOMES = {
    RejectReason.NOT_FOOTBALL: CandidateOutcome.NOT_FOOTBALL,
    RejectReason.FILMED_SCREEN: CandidateOutcome.FILMED_SCREEN,
}


class JudgeUnavailableError(PressboxError):
    """The judge did not answer. This says nothing about the clip."""


class JudgeRefusesError(JudgeUnavailableError):
    """The judge has no opinion on this clip and will not have one soon; it answers for others."""


@dataclass(frozen=True)
class Inspection:
    """Either why the clip is rejected (`outcome`, `reason`), or what its clock says (`check`)."""

    outcome: CandidateOutcome | None = None
    reason: str = ""
    check: TimestampCheck | None = None


class ClipInspector:
    def __init__(self, media: Media, judge: Judge) -> None:
        self._media = media
        self._judge = judge

    async def inspect(self, path: Path, duration: float, minute: tuple[int, int], tolerance: int) -> Inspection:
        """Judge two frames, and a third when they disagree. A file without frames is a PermanentError."""
        shares = list(FIRST_FRAMES)
        judgements = await self._ask(await self._media.take_frames(path, shares))
        verdict = judge_clip(judgements, [share * duration for share in shares])
        if verdict.decision is Decision.ANOTHER_FRAME:
            shares.append(DECIDING_FRAME)
            judgements += await self._ask(await self._media.take_frames(path, [DECIDING_FRAME]))
            verdict = judge_clip(judgements, [share * duration for share in shares])
        if verdict.decision is Decision.REJECTED and verdict.reason is not None:
            return Inspection(_OUTCOMES[verdict.reason], f"{self._judge.name}: {verdict.reason}")
        elapsed, extra = minute
        check = validate_timestamp(verdict.readings, elapsed, extra, tolerance)
        if check.rejected:
            expected = expected_minute(elapsed, extra)
            return Inspection(
                CandidateOutcome.WRONG_MINUTE, f"its clock shows minute {check.extracted_minute}, not {expected}"
            )
        return Inspection(check=check)

    async def _ask(self, frames: Sequence[bytes]) -> list[FrameJudgement]:
        if not frames:
            raise PermanentError("No frame could be read from it.")
        try:
            return list(await self._judge.judge(frames))
        except UnusableAnswerError as error:
            raise JudgeRefusesError(f"{self._judge.name}: {error.message}") from error
        except PressboxError as error:
            # Also for permanent errors such as a wrong key: they say nothing about the clip.
            raise JudgeUnavailableError(f"{self._judge.name}: {error.message}") from error
