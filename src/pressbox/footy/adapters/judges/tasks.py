"""What the offline judge's child process does: its models take memory, which goes when the process ends.

The libraries are imported inside the functions: the worker, which only names them, stays light.
"""

from functools import cache
from typing import TYPE_CHECKING

from pressbox.footy.domain.judgements import FrameJudgement

if TYPE_CHECKING:
    from pressbox.footy.adapters.judges.scorebug_reader import ScorebugReader


def load_models() -> None:
    import cv2

    cv2.setNumThreads(1)
    _scorebug_reader()


def judge(frames: tuple[bytes, ...]) -> tuple[FrameJudgement, ...]:
    from pressbox.footy.adapters.judges.frames import judge_frames

    return tuple(judge_frames(frames, _scorebug_reader()))


@cache
def _scorebug_reader() -> "ScorebugReader":
    from pressbox.footy.adapters.judges.scorebug_reader import RapidReader, ScorebugReader

    return ScorebugReader(RapidReader())
