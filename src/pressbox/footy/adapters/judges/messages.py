"""What the worker and the judge's child say to each other: one line of JSON; a question's frames follow it as bytes."""

from pydantic import BaseModel, ConfigDict

from pressbox.footy.domain.judging import FrameJudgement


class Question(BaseModel):
    """`lengths` are those of the pictures that follow the line."""

    model_config = ConfigDict(frozen=True)

    lengths: tuple[int, ...]


class Opinion(BaseModel):
    """One judgement for each frame, or why there is none."""

    model_config = ConfigDict(frozen=True)

    judgements: tuple[FrameJudgement, ...] = ()
    unreadable: str = ""
