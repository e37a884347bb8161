"""Messages about scoring answers, reports and summaries. Texts stay in the database: messages carry ids."""

from enum import StrEnum

from pressbox.core.contracts import CamelContract, Contract
from pressbox.curator.library.contracts import CuratorProgress, DeferrableResult

EVALUATION = "EvaluationWorkflow"


def evaluation_workflow_id(trace_id: str) -> str:
    return f"evaluate-{trace_id}"


class EvaluationMode(StrEnum):
    DIALOGUE = "dialogue"
    RESEARCH = "research"


class EvaluationInput(CamelContract):
    """`subject_id` is the answer, or in research mode the run."""

    trace_id: str
    mode: EvaluationMode
    subject_id: int


class Score(Contract):
    metric: str
    score: float


class EvaluationResult(DeferrableResult):
    """Of the activity; without scores there was nothing to judge, or it comes back at `retry_at`."""

    scores: tuple[Score, ...] = ()


class SummarizationEvaluationResult(DeferrableResult):
    """`scores` are averages over the `evaluated` items; those that are gone or say nothing do not count."""

    scores: tuple[Score, ...] = ()
    evaluated: int = 0


class EvaluationOutput(CamelContract):
    trace_id: str
    scores: tuple[Score, ...] = ()


class SummarizationEvaluationOutput(CamelContract):
    trace_id: str
    scores: tuple[Score, ...] = ()
    evaluated_count: int = 0


class EvaluationProgress(CuratorProgress):
    scores: tuple[Score, ...] = ()
