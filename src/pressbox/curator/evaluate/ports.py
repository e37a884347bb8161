"""What evaluation needs: texts, somebody who judges them, and places that keep scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.evaluate.domain import Judged, Measure


class Evaluator(Protocol):
    """Judges one text. A model that is down raises a TransientError, a missing extra a ConfigurationError."""

    @property
    def name(self) -> str: ...

    async def judge(self, judged: Judged) -> Sequence[Measure]:
        """Leaves out a measure that says nothing about this text."""
        ...


class Subjects(Protocol):
    """One kind of text that can be judged. The feature that writes such texts offers them."""

    async def load(self, subject_id: int) -> Judged | None:
        """None when the text is gone, unfinished, or not written by a model."""
        ...


@dataclass(frozen=True)
class Evaluation:
    """The scores of one text, as they are stored and sent."""

    judged: Judged
    evaluator: str
    trace_id: str
    measures: tuple[Measure, ...]
    at: datetime


class Evaluations(Protocol):
    async def find(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        """What was stored before for exactly this."""
        ...

    async def add(self, evaluation: Evaluation) -> None:
        """Each metric is stored once: the first score stays."""
        ...


class ScoreBoard(Protocol):
    """An outside service that keeps scores, such as Langfuse. The same evaluation sent twice is kept once."""

    async def send(self, evaluation: Evaluation) -> None: ...
