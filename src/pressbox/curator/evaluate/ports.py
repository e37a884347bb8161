"""What judging needs: who judges, what is judged, where scores are kept, and who else is told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pressbox.curator.evaluate.domain.evaluation import Judged, Measure, SubjectKind
from pressbox.curator.evaluate.domain.scores import ScoreLine, SubjectScore


class Evaluator(Protocol):
    """Judges one text. A model that is down raises a TransientError, a missing extra a ConfigurationError."""

    @property
    def name(self) -> str: ...

    async def judge(self, judged: Judged) -> Sequence[Measure]:
        """A measure that says nothing about this text is left out."""
        ...


class Subjects(Protocol):
    """None: it is gone, or nothing was written."""

    async def answer(self, answer_id: int) -> Judged | None: ...

    async def research(self, run_id: int) -> Judged | None: ...

    async def summary(self, entry_id: int) -> Judged | None: ...


@dataclass(frozen=True)
class Evaluated:
    """The scores of one text, as they are kept and told."""

    judged: Judged
    evaluator: str
    trace_id: str
    measures: tuple[Measure, ...]
    at: datetime


class Evaluations(Protocol):
    async def known(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        """What was kept before for exactly this."""
        ...

    async def keep(self, evaluated: Evaluated) -> None:
        """Each metric once: what is there stays."""
        ...


class ScoreReader(Protocol):
    async def by_day(self, user_id: int | None, since: datetime) -> Sequence[ScoreLine]:
        """Oldest first: of the person's answers, research and feeds; None is everybody."""
        ...

    async def of_subjects(self, kind: SubjectKind, subject_ids: Sequence[int]) -> Sequence[SubjectScore]:
        """The newest of each metric. Whoever asks made sure that the person may see the subjects."""
        ...


class ScoreBoard(Protocol):
    """Somebody else who keeps scores, such as Langfuse. Told twice, they keep one."""

    async def tell(self, evaluated: Evaluated) -> None: ...
