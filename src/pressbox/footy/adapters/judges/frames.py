"""Judges the frames of one clip offline. Runs in the judge's child process only."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from pressbox.core.errors import InvalidInputError
from pressbox.footy.adapters.judges.pitch import is_mostly_grass, pitch_vote
from pressbox.footy.adapters.judges.scorebug_reader import ScorebugReader
from pressbox.footy.adapters.judges.screen import screen_vote
from pressbox.footy.domain.judgements import FrameJudgement, Vote
from pressbox.footy.domain.scorebug import ScorebugTexts


def judge_frames(frames: Sequence[bytes], reader: ScorebugReader) -> list[FrameJudgement]:
    """Return one judgement for each frame of one clip."""
    pictures = [_decode(frame) for frame in frames]
    votes = [pitch_vote(picture) for picture in pictures]
    texts = reader.read(pictures)
    # Close-ups and crowds show no grass: a pitch or a clock in one frame counts for the whole clip.
    football = Vote.YES in votes or any(found.clock for found in texts) or any(map(is_mostly_grass, pictures))
    return [
        _judgement(Vote.UNKNOWN if vote is Vote.NO and football else vote, screen_vote(picture), found)
        for picture, vote, found in zip(pictures, votes, texts, strict=True)
    ]


def _judgement(soccer: Vote, screen: Vote, found: ScorebugTexts) -> FrameJudgement:
    return FrameJudgement(
        soccer=soccer,
        screen=screen,
        clock=found.clock,
        added=found.added,
        stoppage_clock=found.stoppage_clock,
    )


def _decode(frame: bytes) -> NDArray[np.uint8]:
    decoded = cv2.imdecode(np.frombuffer(frame, np.uint8), cv2.IMREAD_COLOR) if frame else None
    if decoded is None:
        raise InvalidInputError("A frame is not a picture.", field="clip")
    return np.asarray(decoded, dtype=np.uint8)
