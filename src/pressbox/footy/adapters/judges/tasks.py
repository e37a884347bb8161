"""Tasks of the offline judge's child process, whose memory is freed when it ends.

Libraries are imported inside the functions, so that the worker itself stays light.
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
