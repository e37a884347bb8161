"""Hand-written doubles of what judging needs: texts, a judge, a table of scores, and somebody who is told."""

from collections.abc import Callable, Sequence
from typing import Any

from pressbox.core.errors import PressboxError, TransientError
from pressbox.curator.evaluate.activities import Evaluation, EvaluationActivities
from pressbox.curator.evaluate.domain import Judged, Measure, Metric, SubjectKind
from pressbox.curator.library.domain import CuratorPolicy


def judged(subject_id: int = 1, kind: SubjectKind = SubjectKind.ANSWER, **changes: Any) -> Judged:
    values: dict[str, Any] = {
        "kind": kind,
        "subject_id": subject_id,
        "question": "When was the bridge opened?",
        "text": "The bridge was opened in 1931 [1].",
        "contexts": ("The bridge was opened to traffic in October 1931.",),
        "model": "writer",
        "prompt_version": "1",
    }
    return Judged(**(values | changes))


class FakeSubjects:
    """Texts of one kind. Every text is there; those in `gone` are not."""

    def __init__(self, kind: SubjectKind) -> None:
        self.kind = kind
        self.gone: set[int] = set()
        self.loaded: list[int] = []

    async def load(self, subject_id: int) -> Judged | None:
        self.loaded.append(subject_id)
        return None if subject_id in self.gone else judged(subject_id, self.kind)


class FakeEvaluator:
    """`trouble` is raised, one for each call, before it judges again; `refused` has the subjects it never judges."""

    name = "fake-judge"

    def __init__(self) -> None:
        self.trouble: list[PressboxError] = []
        self.refused: set[int] = set()
        self.judged: list[int] = []

    async def judge(self, judged: Judged) -> Sequence[Measure]:
        if self.trouble:
            raise self.trouble.pop(0)
        if judged.subject_id in self.refused:
            raise TransientError("The model does not answer.")
        self.judged.append(judged.subject_id)
        return (Measure(Metric.FAITHFULNESS, 0.75), Measure(Metric.ANSWER_RELEVANCY, 0.5))


class FakeEvaluations:
    def __init__(self) -> None:
        self.rows: dict[tuple[str, int, str, str, str], float] = {}

    async def find(self, judged: Judged, evaluator: str, trace_id: str) -> Sequence[Measure]:
        wanted = (judged.kind, judged.subject_id, evaluator, trace_id)
        return [Measure(Metric(key[4]), score) for key, score in self.rows.items() if key[:4] == wanted]

    async def add(self, evaluation: Evaluation) -> None:
        judged = evaluation.judged
        for measure in evaluation.measures:
            key = (str(judged.kind), judged.subject_id, evaluation.evaluator, evaluation.trace_id, str(measure.metric))
            self.rows.setdefault(key, measure.score)


class FakeBoard:
    def __init__(self) -> None:
        self.trouble: list[PressboxError] = []
        self.sent: list[Evaluation] = []

    async def send(self, evaluation: Evaluation) -> None:
        if self.trouble:
            raise self.trouble.pop(0)
        self.sent.append(evaluation)


class FakeBench:
    """A judge with all that he needs, and the activities on them."""

    def __init__(self) -> None:
        self.subjects = {kind: FakeSubjects(kind) for kind in SubjectKind}
        self.evaluator = FakeEvaluator()
        self.evaluations = FakeEvaluations()
        self.board = FakeBoard()

    @property
    def judging(self) -> EvaluationActivities:
        return EvaluationActivities(
            self.subjects, self.evaluator, self.evaluations, self.board, CuratorPolicy().at_speed(1000)
        )

    def activities(self) -> list[Callable[..., Any]]:
        return [self.judging.evaluate_ragas, self.judging.evaluate_summarization]
